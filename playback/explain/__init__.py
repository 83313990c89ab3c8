"""Explanations of ops: formula, derivatives, and the numbers of this run."""

from playback.explain.happened import at_start, happened
from playback.explain.local import factor
from playback.explain.page import Explanation, Row, explain

__all__ = ["Explanation", "Row", "at_start", "explain", "factor", "happened"]
