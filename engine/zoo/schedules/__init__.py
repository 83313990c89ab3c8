"""One file per entry: schedules."""
