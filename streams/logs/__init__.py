LOG_FILE = "log.sqlite"
"""The log in a home without brokers."""
DEFAULT_HOME = "~/.mnemolog"
"""The home of whoever names none."""
