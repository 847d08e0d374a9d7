"""What moves events: the outside facts, the log, the driver, the runtimes, the command line."""
