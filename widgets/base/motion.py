"""Reduced motion: a choice for all views, that each asks for when something is about to move."""


class _Chosen:
    """The choice of this process."""

    is_reduced = False


def is_reduced() -> bool:
    """Return whether views jump to their next picture instead of moving there."""
    return _Chosen.is_reduced


def set_reduced(reduced: bool) -> None:
    """Let all views jump, or move, from now on."""
    _Chosen.is_reduced = reduced
