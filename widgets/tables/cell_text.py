"""Text of table cells in the space that a column has."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics

from gradscribe.playback.text.fitting import fitted, fitted_name


def shown_text(text: str, is_name: bool, metrics: QFontMetrics, width: float) -> str:
    """Return what is painted of a cell's text in so many pixels; its tooltip has all of it."""

    def fits(form: str) -> bool:
        return metrics.horizontalAdvance(form) <= width

    if is_name:
        return fitted_name(text, fits)
    known = fitted(text, fits)
    if known is None:
        return metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(width))
    # Empty: a shape or number that fits in no form. A blank cell would say that there is none.
    return known or ("…" if text else "")
