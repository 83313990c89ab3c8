"""Explanations: an op's formula, how its gradient runs back, with this run's own numbers."""

from playback.explain.local import factor
from playback.explain.page import Explanation, Row, explain

__all__ = ["Explanation", "Row", "explain", "factor"]
