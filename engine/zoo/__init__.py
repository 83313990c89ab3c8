"""Zoo of data sets, models and losses, discovered by module; tables of optimizers and schedules."""
