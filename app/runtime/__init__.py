"""Threads, garbage collection, memory and faults of the window process."""
