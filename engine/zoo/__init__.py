"""Zoo of data sets, models, losses, optimizers and schedules, discovered by module."""
