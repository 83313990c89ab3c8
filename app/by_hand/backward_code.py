"""Opens the window for backward code by hand, and compares its gradients with autograd's."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from gradscribe.app.by_hand.controller import HandController
from gradscribe.app.document.presenter import Presenter
from gradscribe.app.document.session import Session
from gradscribe.app.ui.theming import Theming
from gradscribe.engine.protocol.messages import HandCheck, HandChecked, HandRow
from gradscribe.playback.by_hand import replies, targets
from gradscribe.playback.by_hand.backward_code import outline
from gradscribe.playback.by_hand.targets import HandTarget
from gradscribe.playback.tape.event_text import value_name
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base.open_windows import bring_to_front
from gradscribe.widgets.by_hand.code_window import EMPTY, CodeRow, CodeWindow

STALE = tr("The shown run is not that of the text: run it first, then check again")
LOST = tr("Python ended; run the program and check again")
MAX_CODE = 200_000
"""Most characters of the code."""


class BackwardCode(QObject):
    """Own the window with backward code, made when it is first shown."""

    def __init__(
        self,
        session: Session,
        presenter: Presenter,
        look: Theming,
        hand: HandController,
        owner: QWidget,
    ) -> None:
        super().__init__(owner)
        self._session, self._presenter, self._look = session, presenter, look
        self._hand, self._owner = hand, owner
        self.window: CodeWindow | None = None
        self._rows: tuple[HandRow, ...] = ()
        self._asked = -1
        """The pass whose comparison is awaited; -1 for none."""
        session.hand_checked.connect(self._take)
        session.result_changed.connect(self._notice_engine)
        session.begun.connect(self._forget)
        session.hiding_changed.connect(self._forget_rows)

    def can_show(self) -> bool:
        """Return whether the shown program has a backward pass."""
        return bool(self._session.result.tape.passes)

    def show(self) -> None:
        """Show the window, or raise it; at first with the gradients to assign."""
        if self.window is None:
            window = self.window = CodeWindow(self._owner)
            window.check_pressed.connect(self.check)
            window.outline_pressed.connect(self.start_over)
            window.row_chosen.connect(self._select)
            self._look.add(window)
        if not self.window.code().strip():
            self.window.set_code(self._outline(), fresh=True)
        self.window.show()
        bring_to_front(self.window)
        self.window.editor.setFocus()

    def start_over(self) -> None:
        """Replace the code by a list of the gradients to assign."""
        if self.window is not None:
            self.window.set_code(self._outline())
            self._show((), EMPTY)
            self.window.editor.setFocus()

    def check(self, code: str) -> None:
        """Have the code run in the engine, and its gradients compared."""
        result = self._session.result
        found = self._of_pass()
        if self._asked >= 0:
            return
        if len(code) > MAX_CODE:
            self._show((), tr("This code is too long"))
        elif result.stale or result.shown_id <= 0:
            self._show((), STALE)
        elif not found:
            self._show((), tr("The program has no backward pass to compare with"))
        else:
            number = self._asked = found[0].number
            names = targets.code_names(index_of(result.tape), number, frozenset())
            if self.window is not None:
                self.window.set_waiting(True)
            self._session.check_by_hand(HandCheck(0, number, code, names))

    def _of_pass(self) -> list[HandTarget]:
        """Return the questions of the pass that the pane asks about, else of the last one."""
        every = self._hand.targets
        chosen = self._hand.chosen
        number = chosen.number if chosen is not None else max((t.number for t in every), default=0)
        return [target for target in every if target.number == number]

    def _outline(self) -> str:
        found = self._of_pass()
        if not found:
            return ""
        index = index_of(self._session.result.tape)
        names = targets.code_names(index, found[0].number, frozenset())
        return outline(found, names, found[0].root)

    def _take(self, message: object) -> None:
        if not isinstance(message, HandChecked) or message.value is not None or self._asked < 0:
            return
        self._asked = -1
        if self.window is not None:
            self.window.set_waiting(False)
        if message.problem is not None:
            self._show((), replies.problem_text(message.problem))
            return
        self._show(message.rows, self._words(message))

    def _words(self, message: HandChecked) -> str:
        rows = [row for row in message.rows if row.verdict != "unnamed"]
        equal = sum(row.verdict == "equal" for row in rows)
        text = tr(
            "{equal} of {gradients} equal to the bit",
            equal=equal,
            gradients=ngettext("{count:,} gradient", "{count:,} gradients", len(rows)),
        )
        index = index_of(self._session.result.tape)
        if message.slips and 0 <= message.slip_row < len(message.rows):
            row = message.rows[message.slip_row]
            target = targets.target_of(index, row.value, self._session.view.position)
            if target is not None:
                reply = replies.reply_to(
                    HandChecked(0, 0, row.value, (row,), message.slips, 0), target, index
                )
                text = f"{text}. d{row.name}: {reply.words}"
        return text

    def _show(self, rows: tuple[HandRow, ...], words: str) -> None:
        self._rows = rows
        if self.window is not None:
            self.window.show_rows([self._row(row) for row in rows], words)

    def _row(self, row: HandRow) -> CodeRow:
        mood = {"equal": "good", "close": "good", "unnamed": ""}.get(row.verdict, "bad")
        result = replies.row_text(row)
        if not row.differ:
            return CodeRow(f"d{row.name}", result, mood=mood)
        at = "[" + ", ".join(map(str, row.at)) + "]" if row.at else ""
        is_hidden = mood == "bad" and self._hides(row)
        if is_hidden:
            result = tr("{differ:,} of {entries:,} differ", differ=row.differ, entries=row.entries)
        own, true = (f"{number:.9g}" for number in (row.own, row.true))
        return CodeRow(f"d{row.name}", result, at, own, "?" if is_hidden else true, mood)

    def _hides(self, row: HandRow) -> bool:
        index = index_of(self._session.result.tape)
        known = index.values.get(row.value)
        if known is None or not self._session.hiding.is_on:
            return False
        state = index.snapshot(index.gradient(known.id, len(index.tape.events)).snapshot)
        return state is None or state.is_hidden

    def _select(self, number: int) -> None:
        if 0 <= number < len(self._rows) and self._rows[number].value >= 0:
            self._presenter.select_value(self._rows[number].value)

    def _notice_engine(self) -> None:
        if self._asked >= 0 and self._session.result.engine == "starting":
            self._asked = -1
            if self.window is not None:
                self.window.set_waiting(False)
            self._show((), LOST)

    def _forget(self) -> None:
        """Drop the comparison with another program; the code stays."""
        self._asked = -1
        if self.window is not None:
            self.window.set_waiting(False)
        self._show((), EMPTY)

    def _forget_rows(self) -> None:
        self._show((), EMPTY)

    def name_of(self, value: int) -> str:
        """Return the name of a value of the shown program."""
        return value_name(index_of(self._session.result.tape), value)
