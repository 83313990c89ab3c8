"""Gradients computed by hand, compared with those of a backward pass of the program."""

from gradscribe.engine.inspect.by_hand.compare import hand_check

__all__ = ["hand_check"]
