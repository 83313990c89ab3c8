"""The command line: one module for each sub-command, and what they print."""
