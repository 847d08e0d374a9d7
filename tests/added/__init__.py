"""Mechanisms that tests add to a copy of the project; see test_one_file."""
