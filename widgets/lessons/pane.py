"""The lesson pane: text, a question to answer before its solution is shown, Back and Next."""

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from gradscribe.playback.lessons import markup
from gradscribe.playback.lessons.lesson import MAX_CHOICES
from gradscribe.playback.lessons.page import LessonPage
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import STRETCH, hbox, make_scrollable, push_button, vbox
from gradscribe.widgets.base.labels import Label, sheet
from gradscribe.widgets.base.return_edit import ReturnEdit
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.lessons.parts import AnswerChoice, ProgressDots, RichTextLabel


class LessonPane(QFrame):
    """One page of a lesson; a passive view that is driven by `app.lessons.controller`."""

    next_pressed = Signal()
    back_pressed = Signal()
    leave_pressed = Signal()
    contents_pressed = Signal()
    answered = Signal(str)
    """The typed answer, or the index of the choice."""
    hint_pressed = Signal()
    reveal_pressed = Signal()
    restore_pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Lesson"))
        self._page: LessonPage | None = None
        self._theme = Theme.load("light")
        head, body, foot = self._build_head(), self._build_body(), self._build_foot()
        vbox(self, head, self._rule(), (body, 1), self._rule(), foot, spacing=0)
        self.set_theme(self._theme)

    # Construction

    def _build_head(self) -> QVBoxLayout:
        self.place = Label("caption", "", self)
        self.title = Label("heading", "", self)
        tip = tr("See all lessons and how far you are (Ctrl+Shift+T)")
        self.contents = push_button(tr("All lessons"), self, self.contents_pressed, "link", tip=tip)
        tip = tr("Leave the lesson and return to your own program")
        self.close_button = push_button(tr("Leave"), self, self.leave_pressed, "link", tip=tip)
        row = hbox(None, self.contents, STRETCH, self.close_button, spacing=14)
        return vbox(None, row, 4, self.title, self.place, margins=(16, 12, 14, 10), spacing=3)

    def _build_body(self) -> QScrollArea:
        self.area = QScrollArea(self)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inside = QWidget()
        inside.setObjectName("lesson-body")
        self.heading = Label("formula", "", inside)
        self.words = RichTextLabel(inside)
        self.code = Label("code", "", inside)
        self.code_box = _box("soft", inside, self.code)
        self.restore = push_button(tr("Put its program back"), None, self.restore_pressed, "link")
        vbox(
            inside,
            *(self.heading, self.words, self.code_box, self._build_card(inside)),
            *((self.restore, Qt.AlignmentFlag.AlignLeft), STRETCH),
            margins=(16, 12, 14, 14),
            spacing=8,
        )
        make_scrollable(self.area, inside)
        return self.area

    def _build_card(self, inside: QWidget) -> QFrame:
        self.card = QFrame(inside)
        self.card.setObjectName("lesson-card")
        self.label = Label("section", "", self.card)
        self.asked = RichTextLabel(self.card, strong=True, ground="surface")
        self.choices = [AnswerChoice(at, self.card) for at in range(MAX_CHOICES)]
        for choice in self.choices:
            choice.chosen.connect(self._choose)
            choice.continue_pressed.connect(self._answer)
        self.field = ReturnEdit(self.card)
        self.field.setAccessibleName(tr("Your answer"))
        self.field.returnPressed.connect(self._answer)
        self.check = push_button(tr("Check"), self.card, self._answer, "primary")
        vbox(
            self.card,
            *(self.label, self.asked, *self.choices),
            hbox(None, (self.field, 1), self.check, spacing=8),
            self._build_outcome(self.card),
            margins=(12, 10, 12, 12),
            spacing=8,
        )
        return self.card

    def _build_outcome(self, card: QWidget) -> QWidget:
        part = QWidget(card)
        self.verdict = RichTextLabel(part, strong=True, ground="surface")
        self.hint = RichTextLabel(part, ground="surface")
        self.why = RichTextLabel(part, ground="surface")
        self.hint_button = push_button(tr("Give me a hint"), None, self.hint_pressed, "link")
        self.reveal_button = push_button(tr("Show me"), None, self.reveal_pressed, "link")
        row = hbox(None, self.hint_button, self.reveal_button, STRETCH, spacing=16)
        vbox(part, self.verdict, self.hint, self.why, row, spacing=6)
        return part

    def _build_foot(self) -> QHBoxLayout:
        tip = tr("Previous step (Ctrl+PgUp)")
        self.back = push_button(tr("Back"), self, self.back_pressed, tip=tip)
        tip = tr("Next step (Ctrl+PgDown)")
        self.next = push_button(tr("Next"), self, self.next_pressed, "primary", tip=tip)
        self.dots = ProgressDots(self)
        parts = (self.back, (self.dots, 1), self.next)
        return hbox(None, *parts, margins=(16, 10, 14, 12), spacing=10)

    def _rule(self) -> QFrame:
        line = QFrame(self)
        line.setProperty("row", "line")
        return line

    # Display

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        self._theme = theme
        card = (
            f"#lesson-card {{ background: {theme.selection_soft.name()}; border: 1px solid "
            f"{theme.line.name()}; border-radius: 10px; }}"
            "#lesson-body { background: transparent; }"
        )
        set_sheet(self, sheet(theme) + card)
        for words in self.findChildren(RichTextLabel):
            words.set_theme(theme)
        for choice in self.choices:
            choice.set_theme(theme)
        self.dots.set_theme(theme)

    def page(self) -> LessonPage | None:
        """Return the page shown."""
        return self._page

    def show_page(self, page: LessonPage) -> None:
        """Show a page; typed text stays while the step is the same."""
        old, self._page = self._page, page
        fresh = old is None or (old.title, old.number) != (page.title, page.number)
        self.place.say(page.place)
        self.title.say(page.title)
        self.heading.say(page.heading)
        self.words.say(page.words)
        self.code.setText(page.code.rstrip("\n"))
        self.code_box.setVisible(bool(page.code))
        self.card.setVisible(bool(page.label))
        self._show_card(page, fresh)
        self.restore.setVisible(page.can_restore)
        self.back.setEnabled(page.number > 1)
        self.next.setText(tr("Finish") if page.last else tr("Next"))
        self.dots.show_step(page.number, page.total)
        if fresh:
            self.area.verticalScrollBar().setValue(0)
        elif old is not None and _outcome(old) != _outcome(page):
            # Rich text gets its height during layout; scroll to the newest text after that.
            QTimer.singleShot(0, self, self._show_outcome)

    def _show_outcome(self) -> None:
        """Scroll until the response to the answer is visible."""
        content = self.area.widget()
        if content is not None and (layout := content.layout()) is not None:
            layout.activate()
            # Until it is resized, the area scrolls no further than the old page was long.
            content.resize(content.width(), max(content.height(), content.sizeHint().height()))
        for words in (self.why, self.hint, self.verdict):
            if words.isVisible():
                self.area.ensureWidgetVisible(words, 0, 8)

    def _show_card(self, page: LessonPage, fresh: bool) -> None:
        self.label.say(page.label)
        self.asked.say(page.asked)
        typed = page.label == tr("Predict") and page.kind != "choice"
        for at, choice in enumerate(self.choices):
            choice.setVisible(at < len(page.choices))
            if at < len(page.choices):
                mood = page.mood if page.said == str(at) else ""
                choice.show_choice(page.choices[at], mood, page.asks and not page.waiting)
        self.field.setVisible(typed)
        self.check.setVisible(typed and page.asks)
        self.field.setReadOnly(not page.asks)
        self.check.setEnabled(not page.waiting)
        self.field.setPlaceholderText(_PLACEHOLDERS[page.kind])
        if fresh or not page.asks:
            self.field.setText(page.said)
        blocked = _BLOCKED if page.held and not page.verdict else ""
        running = (
            tr("Running…") if page.waiting and page.label == tr("Predict") and not page.held else ""
        )
        self.verdict.say(blocked or running or page.verdict)
        self.verdict.set_mood(page.mood)
        self.hint.say(page.hint)
        self.why.say(page.why)
        self.hint_button.setVisible(page.can_hint)
        self.reveal_button.setVisible(page.can_reveal and not page.held)
        self.reveal_button.setText(
            tr("Show me") if page.label == tr("Predict") else tr("Show a solution")
        )

    def focus_answer(self) -> None:
        """Focus the answer if one is expected, else the Next button."""
        page = self._page
        if page is not None and page.asks and page.kind != "choice":
            self.field.setFocus()
        elif page is not None and page.asks:
            self.choices[0].setFocus()
        else:
            self.next.setFocus()

    def spoken(self) -> str:
        """Return the page as one text, for screen readers."""
        page = self._page
        if page is None:
            return ""
        parts = (page.heading, self.words.said(), self.asked.said(), self.verdict.said())
        return markup.plain(". ".join(part for part in parts if part))

    # User input

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose an answer by its number; all other keys propagate to the window."""
        page, key = self._page, event.text()
        if page is not None and page.asks and key.isdecimal() and key.isascii():
            at = int(key) - 1
            if 0 <= at < len(page.choices):
                self._choose(at)
                return
        event.ignore()

    def _answer(self) -> None:
        if self._page is not None and self._page.asks and not self._page.waiting:
            self.answered.emit(self.field.text())
        elif self._page is not None and not self._page.asks:
            self.next_pressed.emit()

    def _choose(self, at: int) -> None:
        if self._page is not None and self._page.asks and not self._page.waiting:
            self.answered.emit(str(at))


def _outcome(page: LessonPage) -> tuple[str, str, str]:
    return page.mood, page.hint, page.verdict


_BLOCKED = tr("This lesson came from outside: its questions start once you let its programs run")
_PLACEHOLDERS = {
    "number": tr("a number, or a list: [1, 2]"),
    "shape": tr("a shape, like (3, 4)"),
    "word": tr("your answer"),
    "choice": "",
}


def _box(row: str, parent: QWidget, content: QWidget) -> QFrame:
    box = QFrame(parent)
    box.setProperty("row", row)
    vbox(box, content, margins=(10, 8, 10, 8))
    box.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
    return box
