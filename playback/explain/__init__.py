"""Explanations of ops: formula, derivatives, and the numbers of this run."""

from gradscribe.playback.explain.events import explain_event, explain_position, explain_start
from gradscribe.playback.explain.local_derivative import slope_label
from gradscribe.playback.explain.page import Explanation, ExplanationRow, explain

__all__ = [
    "Explanation",
    "ExplanationRow",
    "explain",
    "explain_event",
    "explain_position",
    "explain_start",
    "slope_label",
]
