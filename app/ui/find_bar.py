"""Find and replace below the program."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent, QKeyEvent, QTextCursor
from PySide6.QtWidgets import QApplication, QFrame, QPushButton, QWidget

from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base.boxes import hbox, push_button, vbox
from gradscribe.widgets.base.labels import plain_label
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.editor.code_edit import CodeEdit
from gradscribe.widgets.editor.find.query import MAX_MATCHES, Query, QueryError
from gradscribe.widgets.editor.find.query_line import QueryLine
from gradscribe.widgets.editor.find.replacing import Replacement, replaced, write
from gradscribe.widgets.editor.source_text import MAX_LENGTH, length_problem

AT_ONCE = 50_000
"""Most characters of a program that is searched at every keystroke in it."""
REST_MS = 150
"""Pause in typing after which a longer program is searched again."""


class FindBar(QFrame):
    """Search line and replacement line of an editor.

    Return finds the next match, Shift+Return the previous one, Esc closes the bar.
    """

    def __init__(self, editor: CodeEdit, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self.setAccessibleName(tr("Find and replace"))
        self.query = QueryLine(tr("Find in the program"))
        self.replacement = QueryLine(tr("Replace by"))
        self.match_case = self._option(tr("Aa"), tr("Match case"))
        self.whole_word = self._option("W", tr("Whole word"))
        self.regex = self._option(".*", tr("Regular expression"))
        self.next_button = self._button("↓", self.go, tr("Next match (F3)"))
        self.back_button = self._button(
            "↑", lambda: self.go(back=True), tr("Previous match (Shift+F3)")
        )
        self.close_button = self._button("✕", self.leave, tr("Close (Esc)"))
        self.replace_button = self._button(tr("Replace"), self.replace, tr("Replace this match"))
        self.all_button = self._button(tr("All"), self.replace_all, tr("Replace all matches"))
        self.count = plain_label(role="caption")
        self.problem = plain_label(role="error")
        self.problem.setWordWrap(True)
        self._problem = ""
        self._again = single_shot(self, self._search, REST_MS)
        self._lay_out()
        self.query.textChanged.connect(self._search_from_here)
        self.replacement.textChanged.connect(self._report)
        for option in self._options():
            option.toggled.connect(self._search_from_here)
        editor.textChanged.connect(self._on_text_changed)
        editor.selectionChanged.connect(self._report)
        self.hide()

    def _lay_out(self) -> None:
        rows = vbox(self, margins=(12, 4, 12, 8), spacing=4)
        self._replace_row = QWidget(self)
        buttons = (self.back_button, self.next_button, self.close_button)
        rows.addLayout(hbox(None, (self.query, 1), *buttons, spacing=2))
        row = self._replace_row
        hbox(row, (self.replacement, 1), self.replace_button, self.all_button, spacing=2)
        rows.addWidget(self._replace_row)
        words = vbox(None, self.count, self.problem, spacing=0)
        rows.addLayout(hbox(None, (words, 1), *self._options(), spacing=2))
        self._replace_row.hide()
        for part in self.findChildren(QWidget):
            part.installEventFilter(self)

    def _options(self) -> tuple[QPushButton, QPushButton, QPushButton]:
        return self.match_case, self.whole_word, self.regex

    def _option(self, text: str, name: str) -> QPushButton:
        button = self._button(text, lambda: None, name)
        button.setCheckable(True)
        return button

    def _button(self, text: str, pressed: Callable[[], object], name: str) -> QPushButton:
        button = push_button(text, self, lambda: pressed(), "quiet", "crumb", tip=name)
        button.setAccessibleName(name.partition(" (")[0])
        return button

    def open(self, replace: bool = False) -> None:
        """Show the bar with the selected text, and focus it; ``replace``: with a replacement."""
        chosen = self._editor.textCursor().selectedText()
        if (
            chosen
            and "\u2029" not in chosen
            and not self.isAncestorOf(QApplication.focusWidget() or self._editor)
        ):
            self.query.setText(chosen)
        # With Find alone a replacement that is open stays.
        self._replace_row.setVisible(replace or (self.isVisible() and self._replaces()))
        self.show()
        target = self.replacement if replace and self.query.text() else self.query
        target.setFocus()
        target.selectAll()
        self._search()

    def _replaces(self) -> bool:
        return not self._replace_row.isHidden()

    def go(self, back: bool = False) -> None:
        """Select the next match, or the previous one, wrapping around."""
        marks, here = self._editor.found, self._editor.textCursor()
        if self._again.isActive() or self.isHidden():
            self._search()
        start, is_match = here.selectionStart(), self._is_match(here)
        number = marks.last_before(start) if back else marks.next_from(start + int(is_match))
        self._choose(number)

    def _is_match(self, here: QTextCursor) -> bool:
        number = self._editor.found.next_from(here.selectionStart())
        span = (here.selectionStart(), here.selectionEnd())
        return number is not None and self._editor.found.spans()[number] == span

    def _choose(self, number: int | None) -> None:
        if number is not None:
            self._editor.set_caret(*self._editor.found.spans()[number])
            self._editor.ensureCursorVisible()
        self._report()

    def asked(self) -> Query:
        """Return the query as it is set."""
        options = (option.isChecked() for option in self._options())
        return Query(self.query.text(), *options)

    def _search_from_here(self) -> None:
        """Search again and go to the first match from the selection on."""
        self._search()
        if self.isVisible():
            self._choose(self._editor.found.next_from(self._editor.textCursor().selectionStart()))

    def _search(self) -> None:
        self._again.stop()
        source, self._problem = self._editor.source(), ""
        self.query.underline(None)
        try:
            self._editor.found.set_matches(self.asked().matches(source), source)
        except QueryError as error:
            self._editor.found.clear()
            self._problem = f"{error}"
            self.query.underline(error)
        self._report()

    def _on_text_changed(self) -> None:
        if self.isHidden() or not self.query.text():
            return
        if self._editor.document().characterCount() < AT_ONCE:
            self._search()
        else:
            self._again.start()

    def _report(self) -> None:
        """Show the number of matches and the current one, or what is wrong with the query."""
        if self.isHidden():
            return
        spans = self._editor.found.spans()
        here = self._editor.textCursor()
        words = self._problem
        if not words and self.query.text() and not self._again.isActive():
            many = "+" if len(spans) == MAX_MATCHES else ""
            words = (
                tr("{spans_count:,}{many} found", spans_count=len(spans), many=many)
                if spans
                else tr("None found")
            )
            number = self._editor.found.next_from(here.selectionStart())
            if number is not None and self._is_match(here):
                words = tr(
                    "{value:,} of {spans_count:,}{many}",
                    value=number + 1,
                    spans_count=len(spans),
                    many=many,
                )
        self._say(words, is_problem=bool(self._problem))

    def _say(self, words: str, *, is_problem: bool = False) -> None:
        self.count.setVisible(not is_problem)
        self.problem.setVisible(is_problem)
        self.problem.setText(words if is_problem else "")
        if words != self.count.text():
            self.count.setText(words)
            self.query.setAccessibleDescription(words)
            QAccessible.updateAccessibility(QAccessibleEvent(self.count, QAccessible.Event.Alert))

    def replace(self) -> None:
        """Replace the selected match and go to the next; without one, only go there."""
        here = self._editor.textCursor()
        if not self._is_match(here):
            self.go()
            return
        number = self._editor.found.next_from(here.selectionStart())
        assert number is not None
        found = self._replacements()
        if found is not None and number < len(found):
            here.insertText(found[number][1])
            self._editor.setTextCursor(here)
            self._search()
            self._choose(self._editor.found.next_from(here.position()))

    def replace_all(self) -> None:
        """Replace all matches, as one step of undo."""
        found = self._replacements()
        if not found:
            return
        source = self._editor.source()
        write(self._editor.document(), source, found)
        self._search()
        self._say(
            tr(
                "{places} changed",
                places=ngettext("{count:,} place", "{count:,} places", len(found)),
            )
        )

    def _replacements(self) -> list[Replacement] | None:
        """Return what every match is replaced by; None after saying what is wrong."""
        source = self._editor.source()
        self.replacement.underline(None)
        try:
            found = self.asked().replacements(source, self.replacement.text(), MAX_LENGTH)
            if why := length_problem(replaced(source, found)):
                raise QueryError(tr("Not replaced: {why}", why=why))
        except QueryError as error:
            self._say(str(error), is_problem=True)
            self.replacement.underline(error)
            return None
        return found

    def leave(self) -> None:
        """Hide the bar and the highlights, and focus the editor."""
        self.hide()
        self._again.stop()
        self._editor.found.clear()
        self._editor.setFocus()

    def focusNextPrevChild(self, ahead: bool) -> bool:
        """Let Tab lead from what is searched to what replaces it, as in other editors.

        Called by Qt. The first and the last are those of the order of reading, which goes on.
        """
        order: list[QWidget] = [self.query, self.replacement, self.replace_button, self.all_button]
        order += [self.back_button, self.next_button, self.close_button, *self._options()]
        order = [part for part in order if part.isVisible()]
        here = self.focusWidget()
        after = order.index(here) + (1 if ahead else -1) if here in order else -1
        if not 0 <= after < len(order):
            return super().focusNextPrevChild(ahead)
        reasons = Qt.FocusReason
        order[after].setFocus(reasons.TabFocusReason if ahead else reasons.BacktabFocusReason)
        return True

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Handle Return and Esc in the bar."""
        if isinstance(watched, QPushButton):
            # Return presses a button.
            if isinstance(happened, QKeyEvent) and happened.key() == Qt.Key.Key_Escape:
                return handle_search_key(happened, self.leave, lambda _: None)
            return False
        go = self._return_in_replacement if watched is self.replacement else self._return_in_query
        if handle_search_key(happened, self.leave, go):
            return True
        return super().eventFilter(watched, happened)

    def _return_in_query(self, back: bool) -> None:
        self.go(back=back)

    def _return_in_replacement(self, back: bool) -> None:
        if back:
            self.go(back=True)
        else:
            self.replace()


def handle_search_key(
    happened: QEvent, leave: Callable[[], object], go: Callable[[bool], object]
) -> bool:
    """Call ``leave`` on Esc, ``go`` on Return (True with Shift); return False for other events."""
    if not isinstance(happened, QKeyEvent) or happened.type() != QEvent.Type.KeyPress:
        return False
    if happened.key() == Qt.Key.Key_Escape:
        leave()
    elif happened.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        go(bool(happened.modifiers() & Qt.KeyboardModifier.ShiftModifier))
    else:
        return False
    return True
