"""Labels by role, headings, and the style sheet that maps roles to fonts and colours."""

import re
import unicodedata
from functools import lru_cache
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from gradscribe.widgets.base.boxes import hbox, vbox
from gradscribe.widgets.base.broken_text import BREAK, BrokenTextLabel
from gradscribe.widgets.base.theme import Theme, mono_families, ui_families

ROLES = (
    "heading",
    "caption",
    "section",
    "words",
    "formula",
    "big",
    "big-gradient",
    "absent",
    "symbol",
    "number",
    "gradient",
    "gradient-number",
    "code",
    "good",
    "warning",
    "error",
)
"""Roles of a `Label`: a role defines size, weight and colour."""
LINES_BELOW = 8
"""Lines of space that a table below a heading needs before the subtitle is shown."""
LONG_NAME = 12
"""Least length of a name that may wrap between its parts."""
_PART_END = re.compile(r"(?<=[\w)\]][._/])(?=[A-Za-z])")
"""Place after a dot, underscore or slash within a name or path, and not within a number."""
_JOINER = "\N{ZERO WIDTH JOINER}"
MAX_CHARACTERS, MAX_LINES = 8_000, 400
"""Maximum text of a `Label`: Qt takes seconds to lay out very long texts."""


class Label(BrokenTextLabel):
    """Plain text that wraps, even inside long words, and can be as narrow as its panel."""

    def __init__(self, role: str, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        assert role in ROLES
        self.setProperty("role", role)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setMinimumWidth(1)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.say(text)

    def say(self, text: str) -> None:
        """Show ``text``, cut at `MAX_CHARACTERS` and `MAX_LINES`."""
        text = truncated(text)
        if self.said() != text:
            self.show_broken(text, breakable(text))

    def fit_text(self, selectable: bool = False) -> "Label":
        """Use the text's natural width on one line; return the label itself."""
        self.setWordWrap(False)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        return self.selectable() if selectable else self

    def selectable(self) -> "Label":
        """Let the mouse select the text; return the label itself."""
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return self


class Heading(QWidget):
    """A title with a subtitle; an empty subtitle is hidden."""

    def __init__(self, title: str, subtitle: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = Label("heading", title, self)
        self._subtitle = Label("caption", subtitle, self)
        self._row = hbox(None, (self._title, 1), spacing=6)
        vbox(self, self._row, self._subtitle, spacing=1)
        self.set_text(title, subtitle)

    def add_button(self, button: QWidget) -> None:
        """Add a button to the row of the title; the subtitle has its full width below it."""
        self._row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)

    def set_text(self, title: str, subtitle: str = "") -> None:
        """Show this title and subtitle."""
        self._title.say(title)
        self._subtitle.say(subtitle)
        self._subtitle.setVisible(bool(subtitle))
        self.setAccessibleName(title)

    def fit_height(self, high: int) -> None:
        """Move the subtitle to the tooltip if a panel ``high`` pixels high is too low for it."""
        words, wide = self._subtitle.said(), max(1, self.width())
        taken = self._title.heightForWidth(wide) + self._subtitle.heightForWidth(wide)
        is_shown = bool(words) and high - taken >= LINES_BELOW * self.fontMetrics().height()
        self._subtitle.setVisible(is_shown)
        self.setToolTip("" if is_shown else words)

    def title_width(self) -> int:
        """Return the width of the title on one line, in pixels."""
        return self._title.fontMetrics().horizontalAdvance(self._title.said())

    def longest_word_width(self) -> int:
        """Return the width of the longest word of the title, in pixels."""
        metrics, words = self._title.fontMetrics(), self._title.said().split()
        return max(map(metrics.horizontalAdvance, words), default=0)

    def text(self) -> tuple[str, str]:
        """Return title and subtitle."""
        return self._title.said(), self._subtitle.said()


class ElidedLabel(QLabel):
    """A plain-text label of one line, which ends in an ellipsis where it is too narrow."""

    def shown_text(self) -> str:
        """Return the text as it is painted."""
        width = self.contentsRect().width()
        return self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, width)

    def paintEvent(self, _happened: QPaintEvent) -> None:
        """Paint the part of the text that fits; called by Qt."""
        with QPainter(self) as painter:
            self.style().drawItemText(
                painter,
                self.contentsRect(),
                int(self.alignment()),
                self.palette(),
                self.isEnabled(),
                self.shown_text(),
                self.foregroundRole(),
            )


def plain_label(text: str = "", role: str = "") -> QLabel:
    """Return a plain-text label, on which markup such as ``<b>`` is shown literally.

    Names of programs, files and modules, and error messages, are untrusted text.
    """
    label = QLabel()
    _set_plain(label, text, role)
    return label


def elided_label(text: str = "", role: str = "") -> ElidedLabel:
    """Return a plain-text label of one line that may be narrower than its text."""
    label = ElidedLabel()
    _set_plain(label, text, role)
    return label


def _set_plain(label: QLabel, text: str, role: str) -> None:
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(text)
    if role:
        label.setProperty("role", role)


def tip(text: str) -> str:
    """Return ``text`` escaped for use as a tooltip."""
    if "<" not in text:
        return text
    lines = escape(text).replace("\n", "<br>")
    return f"<qt>{lines}</qt>"


def _belong_together(left: str, right: str) -> bool:
    """Return whether two characters are drawn as one: a letter and its accent, a joined emoji."""
    return left == _JOINER or right == _JOINER or unicodedata.category(right)[0] == "M"


def truncated(text: str) -> str:
    """Return ``text`` cut at `MAX_CHARACTERS` and `MAX_LINES`, with an ellipsis if cut."""
    cut = text[:MAX_CHARACTERS]
    if cut.count("\n") >= MAX_LINES:
        cut = "\n".join(cut.split("\n", MAX_LINES)[:-1])
    return text if len(cut) == len(text) else f"{cut} …"


def breakable(text: str, run: int = 20) -> str:
    """Insert zero-width spaces, so that names and words of more than ``run`` characters can wrap.

    Names wrap between their parts, ``model.token_|embedding.weight``, and within a part only if
    that is longer than ``run``.
    """
    if len(text) < LONG_NAME:
        return text
    return re.sub(rf"\S{{{LONG_NAME},}}", lambda word: BREAK.join(_name_parts(word[0], run)), text)


def _name_parts(word: str, run: int) -> list[str]:
    return [short for part in _PART_END.split(word) for short in _parts(part, run)]


def _parts(word: str, run: int) -> list[str]:
    """Return a word in parts of ``run`` characters, none of which begins with a combining mark."""
    parts, start = [], 0
    while len(word) - start > run:
        stop = start + run
        while stop < len(word) and _belong_together(word[stop - 1], word[stop]):
            stop += 1
        parts.append(word[start:stop])
        start = stop
    return [*parts, word[start:]] if start < len(word) else parts


@lru_cache(maxsize=4)
def sheet(theme: Theme) -> str:
    """Return the style sheet of the roles for a panel; it overrides the window's."""
    text = rescaled(_SHEET, theme.scale)
    for token in sorted(set(_tokens(text)), key=len, reverse=True):
        text = text.replace(f"@{token}@", theme.color(token).name())
    text = text.replace("%ui%", ", ".join(f'"{family}"' for family in ui_families()))
    text = text.replace("%mono%", ", ".join(f'"{family}"' for family in mono_families()))
    return theme.thicken(text)


def rescaled(text: str, scale: float) -> str:
    """Return a style sheet with all font sizes multiplied by ``scale``."""
    return re.sub(
        r"font-size: (\d+)px", lambda found: f"font-size: {round(int(found[1]) * scale)}px", text
    )


def _tokens(text: str) -> list[str]:
    return text.split("@")[1::2]


_SHEET = """
QLabel { font-family: %ui%; font-size: 13px; color: @ink@; background: transparent; }
QLabel[role="heading"] { font-size: 15px; font-weight: 600; color: @ink@; }
QLabel[role="caption"] { font-size: 13px; color: @ink2@; }
QLabel[role="section"] { font-size: 13px; font-weight: 600; color: @ink@; }
QLabel[role="words"] { font-size: 13px; color: @ink2@; }
QLabel[role="error"] { font-size: 13px; font-weight: 600; color: @error@; }
QLabel[role="formula"] { font-size: 15px; font-weight: 600; color: @ink@; }
QLabel[role="big"] { font-size: 26px; font-weight: 600; color: @ink@; }
QLabel[role="big-gradient"] { font-size: 26px; font-weight: 600; color: @backward@; }
QLabel[role="absent"] { font-size: 14px; font-style: italic; color: @ink3@; }
QLabel[role="symbol"] { font-size: 14px; font-weight: 500; color: @ink@; }
QLabel[role="number"] { font-size: 14px; font-weight: 600; color: @ink@; }
QLabel[role="gradient"] { font-size: 14px; font-weight: 600; color: @backward@; }
QLabel[role="gradient-number"] { font-size: 14px; font-weight: 700; color: @backward@; }
QLabel[role="code"] { font-family: %mono%; font-size: 13px; color: @ink@; }
QLabel[role="good"] { font-size: 13px; font-weight: 600; color: @parameter@;
  background: @parameter_soft@; border-radius: 10px; padding: 2px 12px; }
QLabel[role="warning"] { font-size: 13px; font-weight: 600; color: @data@;
  background: @data_soft@; border-radius: 10px; padding: 2px 12px; }
QFrame[row="pink"] { background: @backward_soft@; border-radius: 8px; border: none; }
QFrame[row="soft"] { background: @panel2@; border-radius: 8px; border: none; }
QFrame[row="soft"]:focus { border: 2px solid @selection@; }
QFrame[row="warning"] { background: @data_soft@; border-radius: 8px; border: none; }
QFrame[row="error"] { background: @error_soft@; border-radius: 8px; border: none; }
QFrame[row="good"] { background: @parameter_soft@; border-radius: 8px; border: none; }
QFrame[row="selection"] { background: @selection_soft@; border-radius: 8px; border: none; }
QFrame[row="selection"] QLabel { font-weight: 600; color: @ink@; }
QFrame[row="line"] { background: @line@; border: none; max-height: 1px; min-height: 1px; }
QPushButton { font-family: %ui%; font-size: 13px; font-weight: 500; background: @panel@;
  color: @ink@; border: 1px solid @line@; border-radius: 8px; padding: 5px 12px; min-height: 18px; }
QPushButton:hover { background: @panel2@; border-color: @line_strong@; }
QPushButton:pressed { background: @line@; }
QPushButton:focus { border: 2px solid @selection@; padding: 4px 11px; }
QPushButton:checked { background: @selection_soft@; border-color: @selection@; }
QPushButton:disabled { color: @ink3@; background: @panel2@; }
QPushButton[primary="true"] { background: @selection@; color: @on_selection@;
  border-color: @selection@; font-weight: 600; }
QPushButton[primary="true"]:hover { background: @forward@; border-color: @forward@; }
QPushButton[primary="true"]:focus { border: 2px solid @ink@; }
QPushButton[primary="true"]:disabled { background: @line@; border-color: @line@; color: @ink3@; }
QPushButton[link="true"] { background: transparent; border: none; padding: 0; min-height: 0;
  color: @selection@; text-align: right; }
QPushButton[link="true"]:hover, QPushButton[link="true"]:focus { text-decoration: underline; }
QPushButton[tab="true"] { background: @panel2@; border-color: @panel2@; color: @ink2@; }
QPushButton[tab="true"]:hover { border-color: @line_strong@; }
QPushButton[tab="true"]:checked { background: @selection_soft@; border-color: @selection@;
  color: @ink@; }
QPushButton[small="true"] { padding: 3px 4px; min-width: 20px; min-height: 16px; }
QPushButton[small="true"]:focus { padding: 2px 3px; }
QSlider { background: transparent; min-height: 20px; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: @line@; }
QSlider::sub-page:horizontal { height: 4px; border-radius: 2px; background: @selection@; }
QSlider::handle:horizontal { width: 14px; height: 14px; margin: -7px 0px; border-radius: 9px;
  background: @panel@; border: 2px solid @selection@; }
QPlainTextEdit { font-family: %mono%; font-size: 13px; background: @panel2@; color: @ink@;
  border: 1px solid @panel2@; border-radius: 8px; padding: 6px; }
QTableView { font-family: %ui%; font-size: 13px; background: transparent; color: @ink@;
  border: none; outline: none; gridline-color: @line@;
  selection-background-color: @selection_soft@; selection-color: @ink@; }
QListView { background: transparent; border: none; outline: none; }
QComboBox QListView { background: @panel@; border: 1px solid @line_strong@; border-radius: 8px;
  padding: 4px; }
QHeaderView { background: transparent; border: none; }
QHeaderView::section { font-family: %ui%; font-size: 12px; font-weight: 400;
  background: transparent; color: @ink2@; border: none; padding: 2px 6px; }
QTableCornerButton::section { background: transparent; border: none; }
QScrollArea { background: transparent; border: none; }
QScrollBar { background: transparent; border: none; }
QScrollBar:vertical { width: 10px; margin: 0px; }
QScrollBar:horizontal { height: 10px; margin: 0px; }
QScrollBar::handle { background: @line@; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: @line_strong@; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0px; height: 0px; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
"""
