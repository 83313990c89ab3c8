"""Controller of the open lesson: it drives the program, the transport and the selection.

The learner's own program is stashed when a lesson begins, and restored when it is left.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.document.presenter import Presenter
from gradscribe.app.document.session import Session
from gradscribe.app.document.state import Doc
from gradscribe.app.files.session_file import SessionData
from gradscribe.app.lessons.progress import LessonProgress
from gradscribe.engine.protocol.structs import replace
from gradscribe.playback.code import places
from gradscribe.playback.lessons import answers, mistakes, typed
from gradscribe.playback.lessons.lesson import Lesson, LessonStep
from gradscribe.playback.lessons.page import LessonPage, StepProgress, build_page, is_goal_reached
from gradscribe.playback.tape.index import Index, index_of
from gradscribe.playback.translation import tr
from gradscribe.widgets.lessons.pane import LessonPane

MAX_PLAYED_EVENTS = 120
"""Most events that are played to show an answer; past that the tape jumps there."""
DIED = tr("Python ended while the program ran. Press F5 to run it again")


class LessonController(QObject):
    """Run one lesson at a time, step by step."""

    changed = Signal()
    """Emitted when a lesson is opened or left, or another step is shown."""
    table_wanted = Signal(str)
    """A table to bring to the front."""
    finished = Signal(str)
    """Carries the name of a lesson whose end was reached."""

    def __init__(
        self,
        session: Session,
        clock: PlaybackClock,
        showing: Presenter,
        pane: LessonPane,
        progress: LessonProgress,
        set_by: Callable[[], SessionData],
        take_up: Callable[[SessionData], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._clock, self._showing, self._pane = session, clock, showing, pane
        self.progress = progress
        """The learner's progress in all lessons."""
        self._set_by, self._take_up = set_by, take_up
        self.lesson: Lesson | None = None
        """The open lesson."""
        self.number = 0
        """Index of the step on the page."""
        self.place = ""
        self._own: SessionData | None = None
        self._said: dict[int, StepProgress] = {}
        self._foreign, self._allowed = False, False
        """True if the lesson is from outside and not trusted; and if it may run its programs."""
        self._answer: str | None = None
        """An answer that waits for its tape."""
        self._unseen: bool = True
        """True until the position of the step has been set."""
        self._select = ""
        self._played = True
        """False if the answer is to be played once its tape is there."""
        self._listen()

    def _listen(self) -> None:
        pane, session = self._pane, self._session
        pane.next_pressed.connect(self.next)
        pane.back_pressed.connect(self.back)
        pane.leave_pressed.connect(self.leave)
        pane.answered.connect(self.answer)
        pane.hint_pressed.connect(self.hint)
        pane.reveal_pressed.connect(self.reveal)
        pane.restore_pressed.connect(self.restore)
        session.tape_changed.connect(self._take_tape)
        session.result_changed.connect(self._refresh)
        session.doc_changed.connect(self._take_leave_to_run)
        session.doc_changed.connect(self._refresh)
        session.source_replaced.connect(self._notice)
        self._showing.picture_shown.connect(self._take_selection)

    # Open and close

    def open(
        self, lesson: Lesson, place: str = "", step: int | None = None, foreign: bool = False
    ) -> None:
        """Open a lesson where the learner left it; ``place`` is its position in the list, as text.

        The programs of a ``foreign`` lesson run only after the learner has run one of them, and
        then under the policy.
        """
        if self.lesson is None:
            self._own = self._set_by()
        self.lesson, self.place, self._said = lesson, place, {}
        self._foreign, self._allowed = foreign, False
        number = self.progress.of(lesson.key).step if step is None else step
        self._go(max(0, min(number, len(lesson.steps) - 1)))

    def leave(self) -> None:
        """Close the lesson and restore the learner's own program."""
        own, self._own = self._own, None
        if self.lesson is None:
            return
        self._close()
        if own is not None:
            self._take_up(own)

    def _close(self) -> None:
        self.lesson, self._said, self._answer, self._select = None, {}, None, ""
        self.changed.emit()

    def _notice(self) -> None:
        """Close the lesson if another program was opened over it."""
        if self.lesson is not None and self._session.doc.lesson != self.lesson.key:
            self._own = None
            self._close()

    def _take_leave_to_run(self) -> None:
        """Record that the learner has run a program of the lesson, or trusts the lesson."""
        doc = self._session.doc
        if self.lesson is not None and doc.lesson == self.lesson.key:
            self._foreign, self._allowed = doc.foreign, doc.seen

    # Steps

    @property
    def step(self) -> LessonStep:
        """The step on the page."""
        assert self.lesson is not None
        return self.lesson.steps[self.number]

    def next(self) -> None:
        """Go to the next step; after the last one the lesson is done."""
        if self.lesson is None:
            return
        if self.number + 1 < len(self.lesson.steps):
            self._go(self.number + 1)
        else:
            self.progress.finish(self.lesson.key)
            self.finished.emit(self.lesson.key)

    def back(self) -> None:
        """Go to the previous step."""
        if self.lesson is not None and self.number:
            self._go(self.number - 1)

    def _go(self, number: int) -> None:
        assert self.lesson is not None
        self.number, self._answer, self._unseen = number, None, True
        self.progress.reach(self.lesson.key, number)
        self._put_program()
        self._refresh()
        self.changed.emit()
        self._pane.focus_answer()
        self._take_tape()

    def restore(self) -> None:
        """Restore the step's program after changes by the learner."""
        if self.lesson is not None:
            self._unseen = True
            self._put_program()
            self._take_tape()

    def _program(self) -> str:
        """Return the program that the editor shows on this step."""
        assert self.lesson is not None
        question, said = self.step.question, self._now()
        if question is None or not question.unseen or said.closed or self._answer is not None:
            return self.step.program
        earlier = self.lesson.steps[self.number - 1].program if self.number else ""
        return "" if earlier == self.step.program else earlier

    def _put_program(self, program: str | None = None) -> None:
        assert self.lesson is not None
        wanted = self._program() if program is None else program
        doc = self._session.doc
        if doc.source != wanted or doc.lesson != self.lesson.key:
            self._session.load(
                Doc(
                    source=wanted,
                    saved=wanted,
                    title=self.lesson.title,
                    lesson=self.lesson.key,
                    foreign=self._foreign,
                    seen=self._allowed,
                )
            )

    # Questions

    def answer(self, said: str) -> None:
        """Accept an answer; run its program first if it has not run yet."""
        question = self.step.question if self.lesson is not None else None
        if question is None or self._now().closed:
            return
        if question.kind != "choice" and not typed.is_readable(question.kind, said):
            remark = typed.unread_remark(question.kind, said)
            self._note(replace(self._now(), answer=said, mood="", remark=remark))
            return
        self._answer = said
        self._note(replace(self._now(), answer=said, remark=""))
        if question.unseen:
            self._put_program()
        self._settle()

    def hint(self) -> None:
        """Show the hint."""
        if self.lesson is not None:
            self._note(replace(self._now(), hinted=True))

    def reveal(self) -> None:
        """Show the answer, or a solution."""
        if self.lesson is None or self._now().closed:
            return
        if self.step.task is not None:
            self._note(replace(self._now(), mood="told", remark=tr("Here is one way")))
            self._put_program(self.step.task.solution)
            return
        self._note(replace(self._now(), mood="told", remark=""))
        if self.step.question is not None and self.step.question.unseen:
            self._put_program()
        self._play()

    def _settle(self) -> None:
        """Judge the pending answer, if its tape has arrived."""
        index = self._index()
        question = self.step.question if self.lesson is not None else None
        if self._answer is None or index is None or question is None:
            return
        if index.tape.status == "died":
            # No lesson's program kills the engine by itself: judge after the next run.
            self._note(replace(self._now(), remark=DIED))
            return
        said, self._answer = self._answer, None
        verdict = answers.check_answer(question, said, index)
        now = replace(self._now(), answer=said, tries=self._now().tries + 1, remark="")
        if verdict == "right":
            now = replace(now, mood="good")
        elif verdict == "unknown":
            now = replace(
                now, remark=tr("This program cannot decide it. Restore the step's program")
            )
        elif question.unseen:
            remark = mistakes.explain_mistake(question, said, index) or tr("Not quite")
            now = replace(now, mood="told", remark=remark)
        else:
            hinted = now.hinted or (now.tries > 1 and bool(question.hint))
            remark = mistakes.explain_mistake(question, said, index) or tr("Not quite. Try again")
            now = replace(now, mood="bad", remark=remark, hinted=hinted)
        self._note(now)
        if now.closed:
            self._play()

    def _play(self) -> None:
        """Show the answer by playing the tape to the event in question."""
        index = self._index()
        if index is None:
            self._played = False
            return
        self._played = True
        question = self.step.question
        stop = _place(index, question.play_to if question else "end")
        self._unseen = False
        if 0 < stop - self._session.view.position <= MAX_PLAYED_EVENTS:
            self._clock.play_to(stop)
        else:
            self._clock.pause()
            self._session.move(stop)

    # The page

    def _now(self) -> StepProgress:
        return self._said.get(self.number, StepProgress())

    def _note(self, said: StepProgress) -> None:
        self._said[self.number] = said
        self._refresh()

    def page(self) -> LessonPage | None:
        """Return the page to show; None without a lesson."""
        if self.lesson is None:
            return None
        index = self._index()
        doc, task = self._session.doc, self.step.task
        waiting = index is None and self._session.result.engine != "ready"
        held = not doc.may_run
        seen = self._failed() if task and index is None else index
        shown = build_page(self.lesson, self.number, self._now(), seen, self.place, waiting, held)
        changed = doc.source != self._program() and not (task and self._solved(seen))
        return replace(shown, can_restore=changed)

    def _solved(self, index: Index | None) -> bool:
        task = self.step.task
        return task is not None and index is not None and is_goal_reached(task, index)

    def _refresh(self) -> None:
        shown = self.page()
        if shown is not None and shown != self._pane.page():
            self._pane.show_page(shown)

    def _index(self) -> Index | None:
        """Return the index of the tape of the text in the editor; None while there is none."""
        result = self._session.result
        if not self._session.doc.may_run:
            return None
        settled = bool(result.shown_id) and not result.stale and result.run_id == 0
        if settled and result.source == self._session.doc.source:
            return index_of(result.tape)
        return None

    def _failed(self) -> Index | None:
        """Return the index of the failed run of the text while the last good graph is shown.

        A task may be to make a mistake.
        """
        result, doc = self._session.result, self._session.doc
        ran = doc.may_run and result.run_id == 0 and result.latest.error is not None
        return index_of(result.latest) if ran and result.latest_source == doc.source else None

    def _take_tape(self) -> None:
        """Go to the place of the step, once its tape has arrived."""
        index = self._index()
        if self.lesson is None or index is None:
            return
        with self._showing.single_page_update():
            self._look(index)
        if self.step.open:
            self.table_wanted.emit(self.step.open)
        self._refresh()

    def _look(self, index: Index) -> None:
        """Go to the place of the step, or play to its answer's, and select its tensor."""
        if self._answer is not None:
            self._session.move(_place(index, self.step.at))
            self._settle()
        elif not self._played:
            self._session.move(_place(index, self.step.at))
            self._play()
        elif self._unseen:
            self._unseen = False
            self._clock.pause()
            self._session.move(_place(index, self.step.at))
        self._select = self.step.select
        self._take_selection()

    def _take_selection(self) -> None:
        """Select the step's tensor, once the picture of this tape is built."""
        if self.lesson is not None and self._select and self._showing.is_drawn:
            self._showing.select_name(self._select)
            self._select = ""


def _place(index: Index, words: str) -> int:
    try:
        return places.position_of(index, words)
    except places.UnknownPlace:
        return len(index.tape.events)
