"""The recorder: what a program does to torch, written down as a tape."""
