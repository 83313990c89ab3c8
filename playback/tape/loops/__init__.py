"""Repetitions of a program: rounds of a loop, its steps, the numbers of every step."""
