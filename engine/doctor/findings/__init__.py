"""What the doctor knows: one file per finding, picked up by itself."""
