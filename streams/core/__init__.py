DEFAULT_SPACE = "default"
"""Whose memory it is, where it is not said."""
