"""The strip under the code that shows the error message, a hint, and the edit that it knows."""

from collections.abc import Sequence

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
    QResizeEvent,
)
from PySide6.QtWidgets import QMenu, QWidget

from gradscribe.engine.protocol.tape import Problem
from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.base.boxes import push_button
from gradscribe.widgets.base.theme import mono_font, ui_font
from gradscribe.widgets.editor.problems.changed_lines import fit_changes
from gradscribe.widgets.editor.style import BAR, EditorStyle

PAD_X, PAD_Y = 14, 9
MESSAGE_LINES, HINT_LINES = 2, 2
EDIT_LINES = 4
"""Maximum number of changed lines shown."""
APPLY = tr("Apply fix")
MAX_TOOLTIP_LINES = 20
_GROUNDS = {"-": "panel", "+": "parameter_soft"}
"""Colours behind lines that an edit removes and adds."""
MAX_TEXT = 2000
"""Maximum length of a message in characters, also in the tooltip."""


class ProblemStrip(QWidget):
    """Type and place, message and hint, elided to fit; the full text is in the tooltip."""

    picked = Signal()
    """The strip was clicked."""
    fix_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._problem: Problem | None = None
        self._style: EditorStyle | None = None
        self._edit: tuple[str, ...] = ()
        self._is_compact = False
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(tr("Error"))
        self.apply = push_button(APPLY, self, self.fix_requested, "crumb")
        self.apply.setCursor(Qt.CursorShape.ArrowCursor)
        self.apply.hide()
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

    def set_edit(self, rows: Sequence[str]) -> None:
        """Offer an edit: the lines that it removes (``- ``) and adds (``+ ``); none: no button."""
        if tuple(rows) == self._edit:
            return
        self._edit = tuple(rows)
        had_focus = self.apply.hasFocus()
        self.apply.setVisible(bool(rows))
        parent = self.parentWidget()
        if had_focus and not rows and parent is not None:
            parent.setFocus()
        text = "\n".join(rows[:MAX_TOOLTIP_LINES])
        self.apply.setToolTip(
            _plain(tr("Change this; can be undone\n{text}", text=text) if rows else "")
        )
        self.apply.setAccessibleDescription(", ".join(map(_spoken, rows[:EDIT_LINES])))
        self.update()

    def edit_rows(self) -> tuple[str, ...]:
        """Return the lines of the edit that is offered."""
        return self._edit

    def height_for(self, width: int, most: int = 0) -> int:
        """Return the height for ``width`` pixels; 0 without a problem.

        If that would be more than ``most`` pixels (0: no limit), message and hint have a line each,
        and an edit takes the hint's place.
        """
        if self._problem is None or self._style is None:
            return 0
        self._is_compact = False
        height = self._height(width)
        if most and height > most:
            self._is_compact = True
            height = self._height(width)
        return height

    def _height(self, width: int) -> int:
        assert self._problem is not None
        assert self._style is not None
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
        beside = self.apply.sizeHint().width() + PAD_X if self._edit else 0
        place = tr(" · line {line}", line=problem.place.line) if problem.place.line > 0 else ""
        title = QFontMetricsF(head).elidedText(
            problem.type + place, Qt.TextElideMode.ElideRight, max(0, room - beside)
        )
        result = [(head, title, "error")]
        most, hints = (1, 1) if self._is_compact else (MESSAGE_LINES, HINT_LINES)
        message = wrap_text(translated(problem.message), QFontMetricsF(body), room, most)
        advice = wrap_text(translated(problem.hint), QFontMetricsF(hint), room, hints)
        result += [(body, text, "ink") for text in message]
        if not (self._is_compact and self._edit):
            result += [(hint, text, "ink2") for text in advice]
        return result + self._edit_lines(body, room)

    def _edit_lines(self, font: QFont, room: float) -> list[tuple[QFont, str, str]]:
        """Return the lines of the edit; what does not fit is counted."""
        most = 2 if self._is_compact else EDIT_LINES
        rows = self._edit if len(self._edit) <= most else self._edit[: most - 1]
        shown = fit_changes(rows, QFontMetricsF(font), room)
        lines = [(font, text, row[0]) for row, text in zip(rows, shown, strict=True)]
        if len(rows) < len(self._edit):
            more = tr("and {value} more lines", value=len(self._edit) - len(rows))
            lines.append((font, more, "ink2"))
        return lines

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
                if token in _GROUNDS:
                    painter.fillRect(place.adjusted(-6, 0, 6, 0), style.theme.panel)
                    ground = style.theme.color(_GROUNDS[token])
                    painter.fillRect(place.adjusted(-6, 0, 6, 0), ground)
                    token = "ink"
                painter.setPen(style.error if token == "error" else style.theme.color(token))
                painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
                top += height

    def resizeEvent(self, _: QResizeEvent) -> None:
        """Place the button at the right of the title; called by Qt."""
        size = self.apply.sizeHint()
        self.apply.setGeometry(self.width() - size.width() - 6, 5, size.width(), size.height())

    def mousePressEvent(self, press: QMouseEvent) -> None:
        """Emit `picked`, or open a menu to copy the message; called by Qt."""
        if press.button() == Qt.MouseButton.LeftButton:
            self.picked.emit()
        elif press.button() == Qt.MouseButton.RightButton and self._problem is not None:
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction(tr("Copy message"), self.copy)
            menu.popup(press.globalPosition().toPoint())

    def mouseReleaseEvent(self, release: QMouseEvent) -> None:
        """Consume the release, so that the editor does not see it; called by Qt."""
        release.accept()

    def copy(self) -> None:
        """Copy type and message to the clipboard."""
        if self._problem is not None:
            text = f"{self._problem.type}: {translated(self._problem.message)}"
            QGuiApplication.clipboard().setText(text)


def problem_text(problem: Problem) -> str:
    """Return a problem as text, for tooltips and screen readers."""
    place = tr("Line {line}, ", line=problem.place.line) if problem.place.line > 0 else ""
    text = f"{place}{problem.type}: {translated(problem.message)}"
    if len(text) > MAX_TEXT:
        text = text[:MAX_TEXT] + "…"
    return f"{text}\n{translated(problem.hint)}" if problem.hint else text


def _spoken(row: str) -> str:
    line = row[2:].strip()
    return tr("remove {line}", line=line) if row[0] == "-" else tr("add {line}", line=line)


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
