"""The findings pane: a card for each finding with its line, its reason and its fix."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtWidgets import QApplication, QFrame, QGridLayout, QPushButton, QVBoxLayout, QWidget

from gradscribe.engine.protocol.tape import Finding
from gradscribe.playback.code.fix_diff import TRIED_IN_PART, FixRow, changed_lines
from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.base import menus
from gradscribe.widgets.base.boxes import STRETCH, hbox, push_button, vbox
from gradscribe.widgets.base.labels import Label, sheet
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor.diff_lines import diff_strip

MAX_LINES = 12
"""Maximum number of diff lines shown."""
MAX_CARDS = 12
"""Maximum number of cards: each takes time to create, and every keystroke starts a run."""

INDENT = 24
"""Indentation of a finding that follows from the one above, in pixels."""
TRYING = tr("This fix is being tried; it can be applied once it has worked.")
NOT_TRIED = tr("Run the program to try this fix; it can be applied once it has worked.")


class FindingCard(QFrame):
    """Card of a finding: title, lines, measurement, explanation, suggested change."""

    line_requested = Signal(int)
    fix_requested = Signal(object)
    demo_requested = Signal(object)
    menu_requested = Signal(object, QPoint)
    """Open the menu of this card at a global point."""

    def __init__(
        self, finding: Finding, source: str, beside: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.finding = finding
        self.setProperty("row", "soft")
        follows = tr("follows from the finding above, ") if finding.follows else ""
        self.setAccessibleName(
            f"{translated(finding.title)}, {follows}{translated(finding.message)}"
        )
        self._source, self._beside = source, beside
        self._current = True
        self._column = vbox(self, margins=(12, 10, 12, 10), spacing=6)
        self._add_head(finding)
        self._message = Label(
            "words", _with_full_stop(translated(finding.message)), self
        ).selectable()
        self._column.addWidget(self._message)
        self._column.addWidget(Label("caption", translated(finding.why), self).selectable())
        self.apply: QPushButton | None = None
        self.show_me: QPushButton | None = None
        self._add_change()
        self._table: QWidget | None = None
        # A selectable text would open a menu of its own, which knows nothing but copying.
        for label in self.findChildren(Label):
            label.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        if not self._lines():
            # There is no button in it that takes the focus.
            self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def _add_change(self) -> None:
        """Add the changed lines with their buttons, or the reason why there are none."""
        finding = self.finding
        self._change = part = QWidget(self)
        self._column_of_change = column = vbox(part, spacing=6)
        self._column.addWidget(part)
        self._note: Label | None = None
        rows = changed_lines(self._source, finding.fix)
        if rows:
            self._add_diff(column, rows)
            self._add_buttons(column)
            if finding.tried == "part":
                self._say(f"{TRIED_IN_PART}.")
        elif finding.why_no_fix:
            beside = self._beside
            words = (
                translated(finding.why_no_fix)
                if beside
                else tr("No automatic fix. {why_no_fix}", why_no_fix=translated(finding.why_no_fix))
            )
            self._say(f"{words}.")
            if beside:
                tip = tr("Train the fixed run too, and see both side by side")
                self._add_demo_button(column, tip)
        part.setVisible(bool(rows or finding.why_no_fix))
        self.set_current(self._current)

    def _say(self, text: str) -> None:
        """Say something about the fix above its lines."""
        if self._note is None:
            self._note = Label("caption", "", self._change)
            self._column_of_change.insertWidget(0, self._note)
        self._note.say(text)

    def settle(self, finding: Finding) -> None:
        """Show the result of the trial of the fix: buttons that work, or the reason for none.

        The message may have what the trial measured.
        """
        had_focus = self._change.isAncestorOf(QApplication.focusWidget() or self)
        self.finding = finding
        if translated(finding.message) != self._message.text():
            self._message.say(_with_full_stop(translated(finding.message)))
        self._column.removeWidget(self._change)
        self._change.hide()
        self._change.deleteLater()
        self.apply = self.show_me = None
        self._add_change()
        if had_focus:
            (self.apply or self).setFocus()

    def set_may_try(self, may_run: bool) -> None:
        """Set whether a fix that was not tried is being tried."""
        if self.finding.fix and self.finding.tried == "no":
            self._say(TRYING if may_run else NOT_TRIED)

    def _add_head(self, finding: Finding) -> None:
        head = hbox(None, spacing=8)
        title = translated(finding.title)
        title = title if finding.severity == "sure" else f"{title}?"
        head.addWidget(Label("section", title, self), 1)
        for line in self._lines():
            head.addWidget(self._link(line, first=line == finding.place.line))
        self._column.addLayout(head)

    def _lines(self) -> list[int]:
        """Return the lines that the card leads to, the finding's own first."""
        places = (self.finding.place, *self.finding.related)
        return list(dict.fromkeys(place.line for place in places if place.line > 0))[:3]

    def said(self) -> str:
        """Return the finding as text: title, measurement, reason, and the change if it has one."""
        finding = self.finding
        line = tr("Line {line}: ", line=finding.place.line) if finding.place.line > 0 else ""
        rows = changed_lines(self._source, finding.fix)
        reason = (
            tr("No automatic fix. {why_no_fix}", why_no_fix=translated(finding.why_no_fix))
            if finding.why_no_fix
            else ""
        )
        told = (translated(finding.message), translated(finding.why), "" if rows else reason)
        sentences = [_with_full_stop(text) for text in told if text]
        return "\n".join([f"{line}{translated(finding.title)}", *sentences, *rows])

    def menu_actions(self, owner: QWidget) -> list[QAction]:
        """Return the actions of the card for a menu; what a button does is enabled with it."""
        found: list[QAction] = []
        for line in self._lines():
            entry = tr("Show line {line}", line=line), partial(self.line_requested.emit, line)
            found += menus.actions(owner, entry)
        for button, signal in (
            (self.apply, self.fix_requested),
            (self.show_me, self.demo_requested),
        ):
            if button is not None:
                made = menus.actions(owner, (button.text(), partial(signal.emit, self.finding)))
                made[0].setEnabled(button.isEnabled())
                found += made
        text = next((x.selected_words() for x in self.findChildren(Label) if x.selectedText()), "")
        if text:
            found += menus.actions(
                owner, (tr("Copy the selection"), partial(menus.copy_text, text))
            )
        return [
            *found,
            *menus.actions(owner, (tr("Copy the text"), lambda: menus.copy_text(self.said()))),
        ]

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Request the menu of the card, also for its buttons and texts; called by Qt."""
        self.menu_requested.emit(self, event.globalPos())
        event.accept()

    def _words(self, line: int) -> str:
        is_one = len(self._lines()) == 1
        return tr("Line {line}", line=line) if is_one else tr("Lines {line}", line=line)

    def _link(self, line: int, first: bool) -> QPushButton:
        text, tip = (
            self._words(line) if first else str(line),
            tr("Go to line {line}", line=line),
        )
        button = push_button(text, self, lambda: self.line_requested.emit(line), "link", tip=tip)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.setAccessibleName(tip)
        return button

    def _add_diff(self, column: QVBoxLayout, rows: list[str]) -> None:
        box = vbox(None, spacing=1)
        lines = [row[2:] for row in rows]
        blank = min((len(x) - len(x.lstrip()) for x in lines if x.strip()), default=0)
        for row, line in zip(rows[:MAX_LINES], lines, strict=False):
            box.addWidget(diff_strip(line[blank:], "−" if row.startswith("-") else "+", self))
        if len(rows) > MAX_LINES:
            box.addWidget(
                Label("caption", tr("and {value} more lines", value=len(rows) - MAX_LINES), self)
            )
        column.addLayout(box)

    def _add_buttons(self, column: QVBoxLayout) -> None:
        tip = tr("Change these lines; can be undone")
        self.apply = push_button(
            tr("Apply fix"), self, lambda: self.fix_requested.emit(self.finding), tip=tip
        )
        tip = tr("Run the fixed program too, and see both side by side")
        self._add_demo_button(column, tip, self.apply)

    def _add_demo_button(self, column: QVBoxLayout, tip: str, *before: QWidget) -> None:
        self.show_me = push_button(
            tr("Show me"), self, lambda: self.demo_requested.emit(self.finding), tip=tip
        )
        column.addLayout(hbox(None, *before, self.show_me, STRETCH, spacing=8))

    @property
    def is_current(self) -> bool:
        """True while the source is the one that was analysed."""
        return self._current

    def set_current(self, current: bool) -> None:
        """Enable the buttons only while the source is the one that was analysed.

        Those of a fix wait until it was tried.
        """
        self._current = current
        waits = bool(self.finding.fix) and self.finding.tried == "no"
        for button in (self.apply, self.show_me):
            if button is not None:
                button.setEnabled(current and not waits)

    def set_running(self, running: bool) -> None:
        """Show that the fixed program is running."""
        if self.show_me is not None:
            self.show_me.setText(tr("Running…") if running else tr("Show me"))
            self.show_me.setEnabled(not running)

    def show_rows(self, rows: Sequence[FixRow]) -> None:
        """Show the results of the program and of its fixed version side by side."""
        if self._table is not None:
            self._table.deleteLater()
        self._table = table = QWidget(self)
        grid = QGridLayout(table)
        grid.setContentsMargins(0, 4, 0, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(3)
        for column, head in enumerate(("", tr("as it is"), tr("fixed"))):
            grid.addWidget(Label("caption", head, table), 0, column)
            grid.setColumnStretch(column, 2 if column else 3)
        for number, row in enumerate(rows, 1):
            grid.addWidget(Label("words", row.name, table), number, 0)
            grid.addWidget(Label("code", row.before, table), number, 1)
            grid.addWidget(Label("code", row.after, table), number, 2)
        self._column.addWidget(table)
        spoken = "; ".join(
            tr("{name}: {before}, fixed {after}", name=r.name, before=r.before, after=r.after)
            for r in rows
        )
        table.setAccessibleName(spoken)


class FindingsPane(QWidget):
    """All findings of a run as a column of cards."""

    line_requested = Signal(int)
    fix_requested = Signal(object)
    demo_requested = Signal(object)
    menu_requested = Signal(object, QPoint)
    """Open the menu of a card at a global point."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = vbox(self, margins=(16, 14, 12, 12), spacing=10)
        self._none = Label("absent", tr("Mistakes that a run finds appear here"), self)
        self._column.addWidget(self._none)
        self._more = Label("caption", "", self)
        self._more.hide()
        self._column.addWidget(self._more)
        self._column.addStretch(1)
        self._cards: list[FindingCard] = []
        self._rows: list[QWidget] = []
        self._shown: tuple[tuple[Finding, ...], str, frozenset[str]] = ((), "", frozenset())
        self.setAccessibleName(tr("Findings"))

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        # No sheet is set earlier: it would still colour cards created before the first show.
        set_sheet(self, sheet(theme))

    def cards(self) -> list[FindingCard]:
        """Return the cards from top to bottom."""
        return list(self._cards)

    def set_findings(
        self, findings: tuple[Finding, ...], source: str, beside: frozenset[str] = frozenset()
    ) -> None:
        """Show the findings of the program ``source``; does nothing if they are shown already.

        ``beside`` are the ids of findings that can be demonstrated without a fixed program.
        """
        if (findings, source, beside) == self._shown:
            return
        self._shown = (findings, source, beside)
        for row in self._rows:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        shown, rest = findings[:MAX_CARDS], len(findings) - MAX_CARDS
        self._cards = [FindingCard(f, source, f.id in beside, self) for f in shown]
        self._more.say(tr("and {rest} more, once some of these are fixed", rest=rest))
        self._more.setVisible(rest > 0)
        self._rows = [
            _indented(card, self) if card.finding.follows else card for card in self._cards
        ]
        for place, (card, row) in enumerate(zip(self._cards, self._rows, strict=True)):
            card.line_requested.connect(self.line_requested)
            card.fix_requested.connect(self.fix_requested)
            card.demo_requested.connect(self.demo_requested)
            card.menu_requested.connect(self.menu_requested)
            self._column.insertWidget(place + 1, row)
        if source:
            self._none.say(tr("Nothing found in the last run"))
        self._none.setVisible(not findings)

    def set_current(self, current: bool) -> None:
        """Set whether the source is still the one that was run."""
        for card in self._cards:
            card.set_current(current)

    def set_may_try(self, may_run: bool) -> None:
        """Set whether the fixes that were not tried are being tried."""
        for card in self._cards:
            card.set_may_try(may_run)

    def settle(self, finding: Finding, result: Finding) -> None:
        """Show the result of the trial of a finding's fix."""
        card = self.card(finding)
        if card is not None:
            card.settle(result)

    def card(self, finding: Finding) -> FindingCard | None:
        """Return the card of a finding, or None if it is not shown."""
        return next((card for card in self._cards if card.finding == finding), None)


def _indented(card: FindingCard, parent: QWidget) -> QWidget:
    """Return a row with a card that is grouped under the one above."""
    row = QWidget(parent)
    hbox(row, card, margins=(INDENT, 0, 0, 0))
    return row


def _with_full_stop(text: str) -> str:
    return text if text.endswith((".", "…", "?", "!")) else f"{text}."
