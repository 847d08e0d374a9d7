"""What is asked: the DuckDB store, its views and named queries, the rendered context."""
