LOG_FILE = "log.sqlite"
"""The log in a home without brokers."""
