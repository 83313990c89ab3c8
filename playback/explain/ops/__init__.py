"""What each op does and how its gradient runs back: one file per family, each with its RULES."""
