"""What drives passes over the log: in a home, in a replay, on Kafka."""

LIVE = "live"
"""The memory that is kept up to date."""
