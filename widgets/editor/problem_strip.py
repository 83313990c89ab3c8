"""The strip under the code that shows the error message and a hint."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QMenu, QWidget

from gradscribe.engine.protocol.tape import Problem
from gradscribe.widgets.base.theme import mono_font, ui_font
from gradscribe.widgets.editor.style import BAR, EditorStyle

PAD_X, PAD_Y = 14, 9
MESSAGE_LINES, HINT_LINES = 2, 2
MAX_TEXT = 2000
"""Maximum length of a message in characters, also in the tooltip."""


class ProblemStrip(QWidget):
    """Type and place, message and hint, elided to fit; the full text is in the tooltip."""

    picked = Signal()
    """The strip was clicked."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._problem: Problem | None = None
        self._style: EditorStyle | None = None
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("Error")
        self.hide()

    @property
    def problem(self) -> Problem | None:
        """The problem shown, or None."""
        return self._problem

    def set_style(self, style: EditorStyle) -> None:
        """Set colours and sizes."""
        self._style = style
        self.update()

    def set_problem(self, problem: Problem | None) -> None:
        """Show ``problem``; the strip hides for None."""
        self._problem = problem
        text = problem_text(problem) if problem else ""
        self.setToolTip(_plain(text))
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)
            if text:
                QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))
        self.setVisible(problem is not None)
        self.update()

    def height_for(self, width: int) -> int:
        """Return the height for ``width`` pixels; 0 without a problem."""
        if self._problem is None or self._style is None:
            return 0
        lines = self._lines(self._problem, self._style, width)
        return round(2 * PAD_Y + sum(_height(font) for font, _, _ in lines))

    def sizeHint(self) -> QSize:
        """Return the size at the current width; called by Qt."""
        return QSize(self.width(), self.height_for(self.width()))

    def _lines(
        self, problem: Problem, style: EditorStyle, width: int
    ) -> list[tuple[QFont, str, str]]:
        """Return font, text and colour name of each line, from the top."""
        scale = style.px / 13
        head, body = ui_font(12 * scale, 650), mono_font(11.5 * scale)
        hint = ui_font(12 * scale)
        room = width - 2 * PAD_X
        place = f" · line {problem.place.line}" if problem.place.line > 0 else ""
        title = QFontMetricsF(head).elidedText(
            problem.type + place, Qt.TextElideMode.ElideRight, room
        )
        result = [(head, title, "error")]
        message = wrap_text(problem.message, QFontMetricsF(body), room, MESSAGE_LINES)
        advice = wrap_text(problem.hint, QFontMetricsF(hint), room, HINT_LINES)
        result += [(body, text, "ink") for text in message]
        return result + [(hint, text, "ink2") for text in advice]

    def paintEvent(self, _: QPaintEvent) -> None:
        """Paint the strip; called by Qt."""
        if self._problem is None or self._style is None:
            return
        style, top = self._style, float(PAD_Y)
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), style.theme.panel)
            painter.fillRect(self.rect(), style.error_soft)
            painter.fillRect(QRectF(0, 0, BAR, self.height()), style.error)
            for font, text, token in self._lines(self._problem, style, self.width()):
                height = _height(font)
                place = QRectF(PAD_X, top, self.width() - 2 * PAD_X, height)
                painter.setFont(font)
                painter.setPen(style.error if token == "error" else style.theme.color(token))
                painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
                top += height

    def mousePressEvent(self, press: QMouseEvent) -> None:
        """Emit `picked`, or open a menu to copy the message; called by Qt."""
        if press.button() == Qt.MouseButton.LeftButton:
            self.picked.emit()
        elif press.button() == Qt.MouseButton.RightButton and self._problem is not None:
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction("Copy message", self.copy)
            menu.popup(press.globalPosition().toPoint())

    def mouseReleaseEvent(self, release: QMouseEvent) -> None:
        """Consume the release, so that the editor does not see it; called by Qt."""
        release.accept()

    def copy(self) -> None:
        """Copy type and message to the clipboard."""
        if self._problem is not None:
            text = f"{self._problem.type}: {self._problem.message}"
            QGuiApplication.clipboard().setText(text)


def problem_text(problem: Problem) -> str:
    """Return a problem as text, for tooltips and screen readers."""
    place = f"Line {problem.place.line}, " if problem.place.line > 0 else ""
    text = f"{place}{problem.type}: {problem.message}"
    if len(text) > MAX_TEXT:
        text = text[:MAX_TEXT] + "…"
    return f"{text}\n{problem.hint}" if problem.hint else text


def _plain(text: str) -> str:
    # Qt would render a message such as "<b>" as rich text.
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f'<div style="white-space: pre-wrap">{escaped}</div>' if text else ""


def wrap_text(text: str, metrics: QFontMetricsF, width: float, most: int) -> list[str]:
    """Wrap ``text`` into at most ``most`` lines of ``width`` pixels, with the last elided.

    Lines break at spaces; a word wider than a line is elided. Line ends of the text stay.
    """
    rest = text.strip()[:MAX_TEXT]
    result: list[str] = []
    while rest:
        line, _, later = rest.partition("\n")
        if metrics.horizontalAdvance(line) > width and len(result) < most - 1:
            at = _break(line, metrics, width)
            line, later = line[:at].rstrip(), line[at:].lstrip() + ("\n" + later if later else "")
        if len(result) == most - 1:
            line = " ".join(rest.split())
            later = ""
        result.append(metrics.elidedText(line, Qt.TextElideMode.ElideRight, width))
        rest = later.strip()
    return result


def _break(line: str, metrics: QFontMetricsF, width: float) -> int:
    """Return the end of the part of ``line`` that fits, at a space if possible."""
    at = 0
    for index, letter in enumerate(line):
        if letter == " ":
            if metrics.horizontalAdvance(line[:index]) > width:
                break
            at = index
    return at or len(line)


def _height(font: QFont) -> float:
    return round(QFontMetricsF(font).height() * 1.18)
