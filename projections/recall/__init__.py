"""Recall: what a memory knows about something, ranked by relevance first and by how alive each memory is second."""
