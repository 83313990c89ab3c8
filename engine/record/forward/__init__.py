"""Forward recording: every torch function that a program calls."""
