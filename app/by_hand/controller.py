"""Controller of gradients by hand: it asks, hides, compares and scores.

The questions are the tensors of the shown program to which its backward pass brings a gradient.
"""

from PySide6.QtCore import QObject, Signal

from gradscribe.app.by_hand.exercise_run import ExerciseRun
from gradscribe.app.document.presenter import Presenter
from gradscribe.app.document.session import Session
from gradscribe.app.files.settings import Settings
from gradscribe.app.ui.theming import Theming
from gradscribe.engine.protocol.messages import HandCheck, HandChecked
from gradscribe.playback.by_hand import exercises, replies, score, targets
from gradscribe.playback.by_hand.hidden import hidden_keys
from gradscribe.playback.by_hand.replies import Reply
from gradscribe.playback.by_hand.targets import GradientKey, HandTarget
from gradscribe.playback.tape.index import Index, index_of
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base.tabs import PanelTabs
from gradscribe.widgets.by_hand.pane import HandPage, HandPane

TITLE = tr("By hand")
SCORE = "by_hand"
NONE = tr("No gradient to find here: call backward() in the program")
MAX_ANSWER = 10_000
"""Most characters of an answer."""


class HandController(QObject):
    """Ask for the gradients of the shown program, and check what the user finds."""

    changed = Signal()
    """The state of the commands may be another one."""
    said = Signal(str)

    def __init__(
        self,
        session: Session,
        presenter: Presenter,
        settings: Settings,
        look: Theming,
        tabs: PanelTabs,
        exercise: ExerciseRun,
    ) -> None:
        super().__init__(tabs)
        self._session, self._presenter, self._settings = session, presenter, settings
        self._tabs = tabs
        self.exercise = exercise
        self.pane = HandPane(exercises.LEVELS, tabs)
        self.pane.setObjectName("by_hand")
        self.pane.hide()
        look.add(self.pane)
        self._targets: list[HandTarget] = []
        self._chosen: HandTarget | None = None
        self._found: set[GradientKey] = set()
        self._tried: set[GradientKey] = set()
        """Gradients for which a wrong answer was given."""
        self._hidden: frozenset[GradientKey] = frozenset()
        """Owners of the gradients that are hidden."""
        self._reply: Reply | None = None
        self._asked: tuple[HandTarget, str] | None = None
        """The question whose answer is being checked, and the answer."""
        self._source = ""
        self._number = 0
        """The pass that is asked about."""
        self._is_due = False
        """True if the questions of the shown tape are not found yet."""
        self._listen()

    def _listen(self) -> None:
        session, pane = self._session, self.pane
        session.tape_changed.connect(self._take_tape)
        session.moved.connect(self._follow_position)
        self._tabs.currentChanged.connect(self._take_due)
        session.result_changed.connect(self._notice_engine)
        session.begun.connect(self._begin)
        session.view_changed.connect(self._follow_selection)
        session.hand_checked.connect(self._take)
        pane.chosen.connect(self.choose)
        pane.answered.connect(self.answer)
        pane.next_pressed.connect(self.go_on)
        pane.show_pressed.connect(self.reveal)
        pane.link_pressed.connect(self.show_link)
        pane.hiding_changed.connect(self.hide)
        pane.exercise_pressed.connect(self.begin_exercise)
        pane.leave_pressed.connect(self.leave_exercise)
        pane.forget_pressed.connect(self.forget_score)

    # State

    @property
    def targets(self) -> list[HandTarget]:
        """The questions of the shown program, from the loss to the leaves."""
        if self._is_due:
            return targets.all_targets(self.index, self._session.view.position)
        return self._targets

    @property
    def chosen(self) -> HandTarget | None:
        """The question on the pane."""
        return self._chosen

    @property
    def level(self) -> int:
        """The level of exercises that is chosen in the pane, from 1."""
        return self.pane.level.currentIndex() + 1

    def can_ask(self) -> bool:
        """Return whether the shown program has a backward pass."""
        return bool(self._session.result.tape.passes)

    def can_hide(self) -> bool:
        """Return whether gradients can be hidden: a lesson asks for them itself."""
        return not self._session.doc.lesson and self._session.result.shown_id != 0

    def can_reveal(self) -> bool:
        """Return whether the chosen gradient is hidden."""
        return self._chosen is not None and self._is_hidden(self._chosen)

    @property
    def index(self) -> Index:
        """Lookups over the shown tape."""
        return index_of(self._session.result.tape)

    def _is_hidden(self, target: HandTarget) -> bool:
        return target.key in self._hidden

    # Actions

    def open(self) -> None:
        """Bring the pane to the front, with the selected tensor as the question."""
        if self._tabs.indexOf(self.pane) < 0:
            self._tabs.addTab(self.pane, TITLE)
        self._tabs.setCurrentWidget(self.pane)
        self._take_due()
        self._follow_selection()
        self._refresh()
        self.pane.field.setFocus()

    def choose(self, number: int) -> None:
        """Ask for the gradient with this number in the list, and select its tensor."""
        if 0 <= number < len(self._targets):
            self._ask(self._targets[number])
            self._presenter.select_value(self._targets[number].value)

    def answer(self, text: str) -> None:
        """Have an answer checked in the engine."""
        target = self._chosen
        if target is None or self._asked is not None:
            return
        if len(text) > MAX_ANSWER:
            self._show_reply(Reply(False, False, tr("This answer is too long")))
            return
        if self._session.result.stale or self._session.result.shown_id <= 0:
            why = tr("The shown run is not that of the text: run it first, then check again")
            self._show_reply(Reply(False, False, why))
            return
        self._asked = (target, text)
        names = targets.code_names(self.index, target.number, self._given(target))
        self._refresh()
        self._session.check_by_hand(HandCheck(0, target.number, text, names, target.value))

    def _given(self, target: HandTarget) -> frozenset[int]:
        """Return the values whose gradients an answer may use: the others that are shown."""
        return frozenset(
            other.value
            for other in self._targets
            if other.value != target.value and not self._is_hidden(other)
        )

    def go_on(self) -> None:
        """Ask for the next gradient that is not found yet."""
        if self._chosen is None or not self._targets:
            return
        here = self._targets.index(self._chosen) if self._chosen in self._targets else -1
        order = [*range(here + 1, len(self._targets)), *range(here + 1)]
        left = [at for at in order if self._targets[at].key not in self._found]
        self.choose(left[0] if left else order[0])
        self.pane.field.setFocus()

    def reveal(self) -> None:
        """Show the chosen gradient; it counts as not found."""
        target = self._chosen
        if target is None or not self.can_reveal():
            return
        key = target.key
        if key not in self._found:
            self._count(target, "shown")
            self._found.add(key)
        self._reply = Reply(False, False, tr("Shown, as autograd computes it"))
        self._session.show_gradients(key)

    def show_link(self) -> None:
        """Select the op at which the chain breaks."""
        reply = self._reply
        if reply is not None and 0 <= reply.op < len(self.index.tape.ops):
            op = self.index.op(reply.op)
            for made in op.outputs:
                if made in self._presenter.picture.value_cards:
                    chosen = self._chosen
                    self._presenter.select_value(made)
                    self._chosen = chosen
                    break
            self.said.emit(
                tr("The link: {link_text}", link_text=replies.link_text(self.index, reply.op))
            )
            self._refresh()

    def hide(self, hidden: bool) -> None:
        """Hide the gradients of the program until they are found, or show them."""
        if hidden and not self.can_hide():
            self._refresh()
            return
        self._found.clear()
        self._tried.clear()
        self._reply = None
        self._session.hide_gradients(hidden)
        self.changed.emit()

    def begin_exercise(self, level: int) -> None:
        """Show a new exercise of a level, with its gradients hidden."""
        asked = self.exercise.begin(level)
        self._session.hide_gradients(True)
        self._source = asked.source
        self.open()
        self.pane.level.setCurrentIndex(level - 1)

    def leave_exercise(self) -> None:
        """Go back to the user's own program, with its gradients shown."""
        self._session.hide_gradients(False)
        self.exercise.leave()
        self._refresh()
        self.changed.emit()

    def forget_score(self) -> None:
        """Set the score back to nothing."""
        self._settings.put(SCORE, "{}")
        self._refresh()

    # Events

    def _begin(self) -> None:
        """Forget the answers to another program; lessons show their gradients."""
        self._found.clear()
        self._tried.clear()
        self._reply = self._asked = None
        self.exercise.notice()
        if self._session.doc.lesson and self._session.hiding.is_on:
            self._session.hide_gradients(False)

    def _is_needed(self) -> bool:
        """Return whether questions are shown, or gradients hidden."""
        return self._tabs.is_open(self.pane) or self._session.hiding.is_on

    def _take_due(self) -> None:
        if self._is_due and self._is_needed():
            self._take_tape()

    def _follow_position(self, position: int) -> None:
        """Ask about the pass at the position."""
        self._take_due()
        if not self._is_due and self._number != targets.current_pass(self.index, position):
            self._take_tape()

    def _take_tape(self) -> None:
        """Find the questions of the shown tape, once they are needed."""
        self._is_due = not self._is_needed()
        if self._is_due:
            self._targets, self._chosen, self._asked, self._reply = [], None, None, None
            self.changed.emit()
            return
        result = self._session.result
        before = self._chosen
        if result.source != self._source:
            self._source = result.source
            self._found.clear()
            self._tried.clear()
            self._reply = None
        self._asked = None
        hiding = self._session.hiding
        self._hidden = hidden_keys(self.index, hiding.shown) if hiding.is_on else frozenset()
        self._number = targets.current_pass(self.index, self._session.view.position)
        self._targets = targets.all_targets(self.index, self._session.view.position)
        self._chosen = self._same_target(before)
        if self._chosen is None and self._targets:
            asked = self.exercise.asked
            named = [target for target in self._targets if target.name == asked]
            self._chosen = named[0] if named else self._targets[-1]
        self._refresh()
        self.changed.emit()

    def _same_target(self, before: HandTarget | None) -> HandTarget | None:
        if before is None:
            return None
        same = [t for t in self._targets if (t.name, t.number) == (before.name, before.number)]
        return same[0] if same else None

    def _follow_selection(self) -> None:
        """Ask for the gradient of the selected card, if a pass brings it any."""
        card = self._presenter.selected_card()
        if card is None or card.value is None or self._asked is not None:
            return
        target = targets.target_of(self.index, card.value, self._session.view.position)
        if target is not None and target != self._chosen:
            self._ask(target)

    def _ask(self, target: HandTarget) -> None:
        if self._chosen is None or target.value != self._chosen.value:
            self.pane.clear_answer()
            self._reply = None
        self._chosen = target
        self._refresh()
        self.changed.emit()

    def _notice_engine(self) -> None:
        """Give up a check whose engine has gone."""
        if self._asked is not None and self._session.result.engine == "starting":
            self._asked = None
            self._show_reply(
                Reply(False, False, tr("Python ended; run the program and check again"))
            )

    def _take(self, message: object) -> None:
        """Show the reply to an answer; drop one to an earlier question."""
        if not isinstance(message, HandChecked) or self._asked is None:
            return
        target, _ = self._asked
        if (message.value, message.number) != (target.value, target.number):
            return
        self._asked = None
        reply = replies.reply_to(message, target, self.index)
        key = target.key
        self._reply = reply
        if not reply.is_read:
            self._refresh()
        elif not reply.is_right:
            self._tried.add(key)
            self._refresh()
        else:
            if key not in self._found:
                self._count(target, "later" if key in self._tried else "first")
                self._found.add(key)
            if self._session.hiding.is_on:
                self._session.show_gradients(key)
            self._refresh()
        self.changed.emit()

    def _count(self, target: HandTarget, outcome: str) -> None:
        known = score.decode(self._settings.text(SCORE))
        self._settings.put(SCORE, score.encode(score.with_result(known, target.kind, outcome)))

    # Display

    def _show_reply(self, reply: Reply) -> None:
        self._reply = reply
        self._refresh()

    def _refresh(self) -> None:
        self.pane.show_page(self._page())

    def _page(self) -> HandPage:
        chosen, reply = self._chosen, self._reply
        listed = list(self._targets)
        if chosen is not None and chosen not in listed:
            listed.append(chosen)
        self._targets = listed
        is_found = chosen is not None and chosen.key in self._found
        mood = "" if reply is None or not (reply.is_read or reply.is_right) else "bad"
        if reply is not None and reply.is_right:
            mood = "good"
        return HandPage(
            questions=tuple(map(self._question, listed)),
            chosen=listed.index(chosen) if chosen is not None else -1,
            about=self._about(chosen),
            reply=reply.words if reply is not None else "",
            mood=mood,
            has_link=reply is not None and not reply.is_right and reply.op >= 0,
            is_waiting=self._asked is not None,
            hides=self._session.hiding.is_on,
            can_hide=self.can_hide(),
            is_found=is_found,
            progress=self._progress(),
            score=_score_lines(score.decode(self._settings.text(SCORE))),
            in_exercise=self.exercise.is_open,
        )

    def _question(self, target: HandTarget) -> str:
        found = "✓ " if target.key in self._found else ""
        return f"{found}{replies.derivative_name(target)}"

    def _about(self, target: HandTarget | None) -> str:
        if target is None:
            return NONE
        passes = len(self.index.tape.passes)
        which = (
            tr(", backward pass {value} of {passes}", value=target.number + 1, passes=passes)
            if passes > 1
            else ""
        )
        uses = tr(", summed over several uses") if target.kind == targets.SEVERAL else ""
        return f"{formatting.shape(target.shape)}{uses}{which}"

    def _progress(self) -> str:
        if not self._session.hiding.is_on:
            return ""
        found = sum(target.key in self._found for target in self._targets)
        return tr(
            "{found} of {gradients} found",
            found=found,
            gradients=ngettext("{count:,} gradient", "{count:,} gradients", len(self._targets)),
        )


def _score_lines(known: score.Score) -> tuple[str, ...]:
    return tuple(
        tr(
            "{kind}: {first} of {total} at the first try",
            kind=kind,
            first=row.first,
            total=row.total,
        )
        + (tr(", {later} later", later=row.later) if row.later else "")
        + (tr(", {shown} shown", shown=row.shown) if row.shown else "")
        for kind, row in score.rows(known)
    )
