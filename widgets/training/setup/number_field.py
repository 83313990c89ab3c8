"""Numeric editor: a text field, with a slider if the range is known."""

import math
import re

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFocusEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QSlider, QStyle, QStyleOptionFrame, QWidget

from gradscribe.playback.text.formatting import MINUS
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox

STEPS = 1000
"""Positions of a slider."""
THOUSANDS = re.compile(r"-?[0-9]{1,3}(,[0-9]{3})+")
WIDEST = 74
"""Most pixels of a field that has a slider."""
TEXT_MARGIN = 2
"""Pixels that Qt leaves free on both sides of a field's text."""
MOST_DIGITS = 10
"""Most significant digits of a number."""
WIDEST_COUNT = 400
"""Largest integer range for which a slider has a position for each number."""


def number_text(number: float | int | None) -> str:
    """Return a number as text for a field: ``0.03``, ``1e-05``, ``250``; empty for None."""
    if number is None:
        return ""
    if isinstance(number, int):
        return str(number)
    return f"{number:.{MOST_DIGITS}g}" if number == 0 or abs(number) >= 1e-3 else f"{number:g}"


class NumberEdit(QLineEdit):
    """A text field that rounds a number that is wider than the field while it has no focus."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._exact = ""
        """The text of the number; what is visible may be rounded."""

    def set_exact(self, text: str) -> None:
        """Show the text of a number."""
        if text != self._exact or self.isModified():
            self._exact = text
            self.fit()

    def fit(self) -> None:
        """Show as many digits as there is space for, all of them with the focus."""
        text = self._exact if self.hasFocus() else self._rounded()
        self.setToolTip(self._exact if text != self._exact else "")
        if text != self.text():
            self.setText(text)
            self.setCursorPosition(0)

    def _rounded(self) -> str:
        option = QStyleOptionFrame()
        self.initStyleOption(option)
        part = QStyle.SubElement.SE_LineEditContents
        room = self.style().subElementRect(part, option, self).width() - 2 * TEXT_MARGIN
        metrics, text = self.fontMetrics(), self._exact
        digits = MOST_DIGITS
        while metrics.horizontalAdvance(text) > room and digits > 1 and not text.isdecimal():
            digits -= 1
            text = f"{float(self._exact):.{digits}g}"
        return text

    def focusInEvent(self, happened: QFocusEvent) -> None:
        """Show all digits; called by Qt."""
        super().focusInEvent(happened)
        if not self.isModified() and self.text() != self._exact:
            self.setText(self._exact)
            self.selectAll()

    def focusOutEvent(self, happened: QFocusEvent) -> None:
        """Round again; called by Qt."""
        super().focusOutEvent(happened)
        if not self.isModified():
            self.fit()

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Round to the new width; called by Qt."""
        super().resizeEvent(happened)
        if not self.isModified():
            self.fit()


def _counted(text: str) -> int:
    """Parse an integer, which may be written as 1e6. Raises ValueError, OverflowError."""
    try:
        return int(text)
    except ValueError:
        number = float(text)
        if "e" not in text.lower() or number != int(number):
            raise
        return int(number)


class NumberField(QWidget):
    """A number in a text field, with a slider if both bounds are known.

    ``low`` and ``high`` are the bounds; ``optional`` allows an empty field (None). ``most`` is the
    bound for typed numbers, if it differs from the slider's ``high``.
    """

    edited = Signal(object)
    """Carries the edited number: int, float or None."""
    refused = Signal(str)
    """Carries why the input is invalid; empty once it is valid again."""

    def __init__(
        self,
        name: str,
        whole: bool,
        low: float | None = None,
        high: float | None = None,
        log: bool = False,
        optional: bool = False,
        most: float | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._whole, self._low, self._high, self._optional = whole, low, high, optional
        self._most = high if most is None else most
        self._log = log and low is not None and high is not None and high > 0
        self.number: float | int | None = None
        self.field = NumberEdit()
        self.field.setAccessibleName(name)
        self.field.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.field.setMinimumWidth(62)
        self.field.editingFinished.connect(self.take_text)
        self.slider: QSlider | None = None
        row = hbox(self, spacing=8)
        if low is not None and high is not None and math.isfinite(high - low) and high > low:
            self.slider = self._make_slider(name)
            self.field.setMaximumWidth(WIDEST)
        row.addWidget(self.field, 0 if self.slider else 1)
        if self.slider is not None:
            # Tab enters at the proxy, the field, and would pass by what was added before it.
            row.insertWidget(0, self.slider, 1)
        self.setFocusProxy(self.field)

    def _make_slider(self, name: str) -> QSlider:
        slider = QSlider(Qt.Orientation.Horizontal)
        slider.setAccessibleName(name)
        slider.setRange(0, self._places())
        slider.setPageStep(max(1, self._places() // 10))
        slider.setSingleStep(max(1, self._places() // 100))
        slider.setMinimumWidth(56)
        slider.valueChanged.connect(self._take_slider)
        return slider

    def _places(self) -> int:
        assert self._low is not None
        assert self._high is not None
        count = round(self._high - self._low)
        return count if self._whole and not self._log and count <= WIDEST_COUNT else STEPS

    def set_number(self, number: float | int | None) -> None:
        """Show ``number``; emits nothing, and does not overwrite a field that is being edited."""
        self.number = number
        if not (self.field.hasFocus() and self.field.isModified()):
            self.field.set_exact(number_text(number))
        if self.slider is not None and number is not None:
            with QSignalBlocker(self.slider):
                if not self.slider.isSliderDown():
                    self.slider.setValue(self._place(float(number)))

    def _least_log(self) -> float:
        """Return the start of a log slider: a range from 0 has five decades, and 0 itself."""
        assert self._low is not None
        assert self._high is not None
        return self._low if self._low > 0 else self._high * 1e-5

    def _place(self, number: float) -> int:
        low, high, places = self._low, self._high, self._places()
        assert low is not None
        assert high is not None
        if not math.isfinite(number) or number <= low:
            return 0
        if self._log:
            least = math.log(self._least_log())
            share = (math.log(max(number, math.exp(least))) - least) / (math.log(high) - least)
        else:
            share = (number - low) / (high - low)
        return round(min(1.0, share) * places)

    def _at(self, place: int) -> float | int:
        low, high = self._low, self._high
        assert low is not None
        assert high is not None
        share = place / self._places()
        if place == 0:
            number = low
        elif self._log:
            least = self._least_log()
            number = float(f"{least * (high / least) ** share:.2g}")
        else:
            number = float(f"{low + share * (high - low):.6g}")
            if not self._whole:
                number = round(number, max(0, 3 - math.floor(math.log10(high - low))))
        return round(number) if self._whole else float(number)

    def _take_slider(self, place: int) -> None:
        number = self._at(place)
        if number != self.number:
            self.number = number
            self.field.set_exact(number_text(number))
            self.refused.emit("")
            self.edited.emit(number)

    def take_text(self) -> None:
        """Commit the text, as Return does."""
        if not self.field.isModified():
            return
        self.field.setModified(False)
        text = self.field.text().strip().replace(MINUS, "-")
        # 1,000,000 is accepted for integers; elsewhere a comma is taken for a decimal point.
        text = text.replace(",", "" if self._whole and THOUSANDS.fullmatch(text) else ".")
        if not text and self._optional:
            self._accept(None)
            return
        try:
            number: float | int = _counted(text) if self._whole else float(text)
        except (ValueError, OverflowError):
            kind = tr("a whole number") if self._whole else tr("a number")
            self.refused.emit(tr("{value} is not {kind}", value=text or tr("Nothing"), kind=kind))
            return
        bounds = self._why_not(number)
        if bounds:
            self.refused.emit(bounds)
        else:
            self._accept(number)

    def _why_not(self, number: float | int) -> str:
        low, high = self._low, self._most
        if not math.isfinite(number):
            return tr("The number has to be finite")
        if (low is None or number >= low) and (high is None or number <= high):
            return ""
        if low is not None and high is not None:
            return tr(
                "From {number_text} to {number_text_2}",
                number_text=number_text(low),
                number_text_2=number_text(high),
            )
        return (
            tr("At least {number_text}", number_text=number_text(low))
            if low is not None
            else tr("At most {number_text}", number_text=number_text(high))
        )

    def _accept(self, number: float | int | None) -> None:
        self.refused.emit("")
        if number != self.number:
            self.number = number
            self.set_number(number)
            self.edited.emit(number)

    def focusOutEvent(self, happened: QFocusEvent) -> None:
        """Commit the text when the focus leaves."""
        self.take_text()
        super().focusOutEvent(happened)
