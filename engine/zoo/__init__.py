"""What a run can be made of: one entry per file, picked up by itself."""
