"""The policy: what a program that came from elsewhere may do."""
