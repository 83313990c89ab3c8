"""Commands that compare two runs."""
