"""A learner who walks lessons in the window with mouse and keyboard, and sees what is on the page.

At each step: what is said is to be read, the step's look is taken, a wrong answer is refused, the
right one explained, a solution typed over the program reaches the goal.
"""

import time

from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradscribe.app.lessons.lesson_list import LESSON, LessonList
from gradscribe.engine.run import run
from gradscribe.playback.code import places
from gradscribe.playback.lessons import answers, markup
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.text import formatting
from gradscribe.widgets.lessons.parts import RichTextLabel

PATIENCE_S = 60
LOOK_MS = 4
"""Time that the event loop turns between two looks; `processEvents` with a limit would spin."""
WRONG = {"number": ("-98765.25", "4321.5"), "shape": ("(9, 8, 7, 6)",), "word": ("wombat",)}
LEFT = Qt.MouseButton.LeftButton


class Learner:
    """Walks lessons in one window; ``look`` is told the name of each thing that can be seen."""

    def __init__(self, window, look=lambda name: None):
        self.window, self.look = window, look
        self.learning, self.pane = window.context.lessons, window.lesson_dock.pane

    @property
    def page(self):
        return self.pane.page()

    def walk(self, lesson):
        """Choose the lesson in the list, go through all its steps, finish it."""
        self.choose(lesson)
        for number, step in enumerate(lesson.steps):
            assert (self.learning.number, self.page.number) == (number, number + 1)
            self.read(step)
            if step.question is not None:
                self.predict(lesson, step)
            elif step.task is not None:
                self.solve(step)
            self.go_on(number)
        self.wait(self.lists)
        assert self.learning.progress.of(lesson.key).done
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
        self.wait(lambda: not self.lists())

    # Coming and going

    def choose(self, lesson):
        """Press the lesson's row in the list of all lessons."""
        self.window.context.show_lessons()
        self.wait(self.lists)
        (shown,) = self.lists()
        found = [item for item in shown.rows.lessons() if item.data(LESSON).name == lesson.name]
        shown.rows.setCurrentItem(found[0])
        QTest.keyClick(shown.rows, Qt.Key.Key_Return)
        assert self.learning.lesson == lesson
        self.wait(lambda: not self.lists())

    def lists(self):
        return [one for one in self.window.findChildren(LessonList) if one.isVisible()]

    def go_on(self, number):
        """Go to the next step: by the keyboard alone, by the command's keys, by the mouse."""
        self.wait(lambda: not self.window.clock.playing)
        if number % 3 == 0:
            self.press_through()
        elif number % 3 == 1:
            QTest.keyClick(self.pane, Qt.Key.Key_PageDown, Qt.KeyboardModifier.ControlModifier)
        else:
            QTest.mouseClick(self.pane.next, LEFT)

    def press_through(self):
        """Press Tab until Next has the keyboard, then Space; Return does where the answer stood."""
        # After a task the keyboard is in the program.
        if not self.pane.isAncestorOf(QApplication.focusWidget()):
            self.pane.focus_answer()
        for _ in range(20):
            if QApplication.focusWidget() in (self.pane.next, self.pane.field):
                break
            QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        key = Qt.Key.Key_Space if self.pane.next.hasFocus() else Qt.Key.Key_Return
        QTest.keyClick(QApplication.focusWidget(), key)

    # One step

    def read(self, step):
        """Check that the words can be read whole, and that the place of the step is shown."""
        self.settle()
        assert self.pane.words.isVisible() == bool(step.text)
        assert self.pane.heading.text() == step.title
        self.check_words()
        shown = self.window.session.doc.source
        if step.program:
            assert shown == step.program or step.question.unseen
        if shown == step.program and shown:
            self.check_look(step)
        self.look("read")

    def check_look(self, step):
        index = index_of(self.window.session.result.tape)
        assert self.window.session.view.position == places.position_of(index, step.at or "end")
        picture, view = self.window.presenter.picture, self.window.session.view
        if step.select:
            named = next(one for one in picture.cards if one.key == view.selection)
            assert step.select in (named.name, index.values[index.first_version(named.value)].name)
        if step.open:
            tabs, page = self.window.lesson_dock._tables[step.open]
            assert tabs.currentWidget() is page

    def check_words(self):
        """No words are cut off, below or at the right."""
        self.rest()
        for words in self.pane.findChildren(RichTextLabel):
            if words.isVisible():
                assert words.height() >= words.heightForWidth(words.width()), words.said()
        inside = self.pane.area.widget()
        assert inside.width() <= self.pane.area.viewport().width(), self.page.heading

    def predict(self, lesson, step):
        """Answer wrongly, which is refused, then rightly, which is explained."""
        question = step.question
        index = index_of(run.record(step.program))
        right = answers.right_choice(question, index)
        right = answers.correct_answer(question, index) if question.kind != "choice" else str(right)
        self.answer(question, self.wrong(question, right))
        if question.unseen:
            assert (self.page.mood, self.page.asks) == ("told", False)
            self.check_explained(question)
            self.look("told")
            # An answer that was shown cannot be given; a lesson opened again asks again.
            self.choose(lesson)
            self.settle()
        else:
            assert (self.page.mood, self.page.asks) == ("bad", True)
            assert not self.page.why
            self.ask_hint(question.hint)
            self.look("refused")
        self.answer(question, right)
        assert self.page.mood == "good", (self.page.verdict, right)
        self.check_explained(question)
        self.wait(lambda: not self.window.clock.playing)
        index = index_of(self.window.session.result.tape)
        stop = places.position_of(index, question.play_to)
        assert self.window.session.view.position == stop
        self.check_words()
        self.look("right")

    def check_explained(self, question):
        assert self.page.why == markup.html(question.why)
        assert not question.why or self.pane.why.isVisible()

    def wrong(self, question, right):
        if question.kind == "choice":
            return str((int(right) + 1) % len(question.choices))
        return next(one for one in WRONG[question.kind] if one != right)

    def answer(self, question, said):
        """Choose it by its number's key or with the mouse, or type it and press Return."""
        if question.kind != "choice":
            field = self.pane.field
            field.setFocus()
            field.selectAll()
            QTest.keyClicks(field, said.replace(formatting.MINUS, "-"))
            QTest.keyClick(field, Qt.Key.Key_Return)
        else:
            choice = self.pane.choices[int(said)]
            self.pane.area.ensureWidgetVisible(choice)
            QTest.mouseMove(choice, choice.rect().center())
            choice.setFocus()
            QTest.keyClick(choice, Qt.Key.Key_Return)
        self.settle()
        self.wait(lambda: not self.page.waiting and self.learning._answer is None)

    def ask_hint(self, hint):
        if self.page.can_hint:
            QTest.mouseClick(self.pane.hint_button, LEFT)
        assert self.page.hint == markup.html(hint)
        assert not hint or self.pane.hint.isVisible()

    def solve(self, step):
        """Paste the solution over the program: not done before, done after."""
        assert not self.page.mood
        self.ask_hint(step.task.hint)
        self.check_words()
        self.look("asked")
        editor = self.window.editor
        editor.setFocus()
        QTest.keyClick(editor, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        QGuiApplication.clipboard().setText(step.task.solution)
        QTest.keyClick(editor, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        self.wait(lambda: self.window.session.doc.source == step.task.solution)
        self.settle()
        self.wait(lambda: self.page.mood == "good")
        assert self.page.why == markup.html(step.task.why)
        assert not self.page.can_restore
        self.check_words()
        self.look("done")

    # Waiting

    def settle(self):
        """Wait for the answer to what stands in the editor, and for its picture."""
        session = self.window.session
        self.wait(
            lambda: (
                session.result.run_id == 0
                and not session._waiting
                and not session._rest.isActive()
                and session.doc.source in ("", session.result.latest_source)
            )
        )
        self.wait(lambda: not self.window.presenter.scene_builder.busy)
        self.rest()

    def wait(self, until):
        """Let the event loop turn until something holds."""
        deadline = time.monotonic() + PATIENCE_S
        while not until():
            where = self.learning.lesson and (self.learning.lesson.name, self.learning.number)
            assert time.monotonic() < deadline, (
                where,
                self.page,
                self.window.session.result.problem,
            )
            QTest.qWait(LOOK_MS)

    def rest(self):
        """Let what waits for the event loop have its turn."""
        loop = QEventLoop()
        QTimer.singleShot(0, loop.quit)
        loop.exec()
        QApplication.sendPostedEvents()
        QApplication.processEvents()
