"""The pane for gradients by hand: a question, the answer and its reply, exercises, the score."""

from collections.abc import Sequence
from html import escape

from msgspec import Struct
from PySide6.QtCore import QSignalBlocker, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QScrollArea, QVBoxLayout, QWidget

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import STRETCH, hbox, make_scrollable, push_button, vbox
from gradscribe.widgets.base.flow_layout import FlowLayout
from gradscribe.widgets.base.labels import Label, sheet
from gradscribe.widgets.base.return_edit import ReturnEdit
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.lessons.parts import RichTextLabel

LEAST_CHARACTERS = 10
"""Characters for which a box reserves width; it grows with the pane."""


class HandPage(Struct, frozen=True):
    """Content of the pane. ``questions`` are titles with the sign of the found ones."""

    questions: tuple[str, ...] = ()
    chosen: int = -1
    about: str = ""
    """Shape and pass of the chosen question, or the reason why there is none."""
    reply: str = ""
    mood: str = ""
    """``good`` or ``bad``, empty for a neutral reply."""
    has_link: bool = False
    """True if the reply names an op that can be shown."""
    is_waiting: bool = False
    hides: bool = False
    can_hide: bool = False
    is_found: bool = False
    progress: str = ""
    score: tuple[str, ...] = ()
    in_exercise: bool = False


class HandPane(QWidget):
    """Ask for the gradient of a tensor, and reply to what is typed."""

    chosen = Signal(int)
    answered = Signal(str)
    next_pressed = Signal()
    show_pressed = Signal()
    link_pressed = Signal()
    hiding_changed = Signal(bool)
    exercise_pressed = Signal(int)
    """Carries the level, from 1."""
    leave_pressed = Signal()
    code_pressed = Signal()
    forget_pressed = Signal()

    def __init__(self, levels: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page = HandPage()
        self.questions = QComboBox(self)
        self.questions.setAccessibleName(tr("Gradient to find"))
        self.questions.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.questions.setMinimumContentsLength(LEAST_CHARACTERS)
        self.questions.activated.connect(self.chosen)
        self.about = Label("caption", "", self)
        self.field = ReturnEdit(self)
        self.field.setPlaceholderText(tr("a number, [1, 2], or 2 * x"))
        self.field.setAccessibleName(tr("The gradient, as a number or an expression"))
        self.field.setMinimumWidth(60)
        self.field.returnPressed.connect(self._answer)
        tip = tr("Compare with autograd's gradient (Return)")
        self.check = push_button(tr("Check"), self, self._answer, "primary", tip=tip)
        self.reply = RichTextLabel(self)
        body = QWidget(self)
        body.setObjectName("by-hand-body")
        question = hbox(None, (self.questions, 1))
        answer = hbox(None, (self.field, 1), self.check, spacing=8)
        parts = (question, self.about, answer, self.reply)
        column = vbox(body, *parts, margins=(14, 10, 10, 10), spacing=6)
        column.addLayout(self._build_actions())
        column.addWidget(self._build_hiding())
        column.addLayout(self._build_exercises(levels))
        self.score_title = Label("section", tr("Score"), self)
        self.score = Label("caption", "", self)
        tip = tr("Set the score back to nothing")
        self.forget = push_button(tr("Reset score"), self, self.forget_pressed, tip=tip)
        for part in (self.score_title, self.score):
            column.addWidget(part)
        column.addLayout(FlowLayout(self.forget))
        column.addWidget(self._stretch())
        self.area = QScrollArea(self)
        self.area.setAccessibleName(tr("Gradients by hand"))
        make_scrollable(self.area, body)
        vbox(self, self.area)
        self.setFocusProxy(self.field)
        self.set_theme(Theme.load("light"))
        self.show_page(self._page)

    def _stretch(self) -> QWidget:
        filler = QWidget(self)
        vbox(filler, STRETCH)
        return filler

    def _build_actions(self) -> FlowLayout:
        tip = tr("Go to the op at which the chain breaks")
        self.link = push_button(tr("Show the link"), self, self.link_pressed, tip=tip)
        tip = tr("Show autograd's gradient; it counts as not found")
        self.reveal = push_button(tr("Show the answer"), self, self.show_pressed, tip=tip)
        self.next = push_button(tr("Next gradient"), self, self.next_pressed)
        return FlowLayout(self.link, self.reveal, self.next)

    def _build_hiding(self) -> QWidget:
        self.hiding = QCheckBox(tr("Hide gradients until found"), self)
        self.hiding.setToolTip(tr("No view shows a gradient before you have found it"))
        self.hiding.toggled.connect(self.hiding_changed)
        self.progress = Label("caption", "", self)
        box = QWidget(self)
        vbox(box, self.hiding, self.progress, margins=(0, 4, 0, 0), spacing=2)
        return box

    def _build_exercises(self, levels: Sequence[str]) -> QVBoxLayout:
        self.level = QComboBox(self)
        self.level.setAccessibleName(tr("Level of the exercises"))
        self.level.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.level.setMinimumContentsLength(LEAST_CHARACTERS)
        self.level.addItems([f"{number}. {title}" for number, title in enumerate(levels, 1)])
        tip = tr("A new program of this level, with its gradients hidden")
        self.exercise = push_button(tr("New exercise"), self, self._new_exercise, tip=tip)
        self.leave = push_button(tr("Back to my program"), self, self.leave_pressed)
        tip = tr("Write the backward pass in Python, compared with autograd's")
        self.code = push_button(tr("Backward code…"), self, self.code_pressed, tip=tip)
        rows = vbox(None, self.level, spacing=6)
        rows.addLayout(FlowLayout(self.exercise, self.leave, self.code))
        return rows

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        set_sheet(self, sheet(theme) + "#by-hand-body { background: transparent; }")
        self.reply.set_theme(theme)

    def page(self) -> HandPage:
        """Return the page shown."""
        return self._page

    def show_page(self, page: HandPage) -> None:
        """Show a page; what is typed stays while the question is the same."""
        old, self._page = self._page, page
        if page.questions != old.questions or self.questions.count() != len(page.questions):
            with QSignalBlocker(self.questions):
                self.questions.clear()
                self.questions.addItems(list(page.questions))
        self.questions.setCurrentIndex(page.chosen)
        self.questions.setEnabled(bool(page.questions))
        self.about.say(page.about)
        self.field.setEnabled(page.chosen >= 0)
        self.check.setEnabled(page.chosen >= 0 and not page.is_waiting)
        self.check.setText(tr("Checking…") if page.is_waiting else tr("Check"))
        self.reply.set_mood(page.mood)
        self.reply.say(escape(page.reply))
        self.link.setVisible(page.has_link)
        self.reveal.setVisible(page.hides and page.chosen >= 0 and not page.is_found)
        self.next.setVisible(page.is_found and len(page.questions) > 1)
        with QSignalBlocker(self.hiding):
            self.hiding.setChecked(page.hides)
        self.hiding.setEnabled(page.can_hide)
        self.progress.say(page.progress)
        self.progress.setVisible(bool(page.progress))
        self.leave.setVisible(page.in_exercise)
        self.score.say("\n".join(page.score))
        for part in (self.score_title, self.score, self.forget):
            part.setVisible(bool(page.score))
        if page.reply and page.reply != old.reply:
            # The reply gets its height during layout.
            QTimer.singleShot(0, self, self._show_reply)

    def _show_reply(self) -> None:
        """Scroll until the reply is visible, and the answer above it if there is room."""
        for part in (self.reply, self.field):
            self.area.ensureWidgetVisible(part, 0, 8)
        self.area.ensureWidgetVisible(self.reply, 0, 8)

    def clear_answer(self) -> None:
        """Empty the answer, for another question."""
        self.field.clear()

    def _answer(self) -> None:
        page = self._page
        if page.is_waiting or page.chosen < 0:
            return
        if page.mood == "good" and self.next.isVisibleTo(self):
            self.next_pressed.emit()
        elif self.field.text().strip():
            self.answered.emit(self.field.text().strip())

    def _new_exercise(self) -> None:
        self.exercise_pressed.emit(self.level.currentIndex() + 1)
