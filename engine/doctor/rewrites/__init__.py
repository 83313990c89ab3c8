"""Fixed programs of which the text takes more than a line to find."""
