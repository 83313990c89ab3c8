"""The panel with the slides of a lecture: their list, and title and note of the current slide."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from gradscribe.engine.protocol.lecture.slides import MAX_TITLE, Slide
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import make_scrollable, push_button, vbox
from gradscribe.widgets.base.flow_layout import FlowLayout
from gradscribe.widgets.base.labels import Label, tip
from gradscribe.widgets.base.return_edit import ReturnEdit

EMPTY = tr("A slide is what the window shows now. Make one at each place that you talk about.")
NOTE_LINES = 2
LEAST_ROWS = 3


class _Rows(QListWidget):
    """A list that takes what is left, and asks for its least height alone."""

    def sizeHint(self) -> QSize:
        """Return the preferred size; called by Qt, whose list asks for ten rows."""
        return QSize(super().sizeHint().width(), self.minimumHeight())


class SlidePanel(QWidget):
    """A list of slides; a click or Return shows one."""

    chosen = Signal(int)
    add_pressed = Signal()
    replace_pressed = Signal()
    remove_pressed = Signal()
    moved = Signal(int)
    """Carries 1 for later and -1 for earlier."""
    written = Signal(str, str, bool)
    """Title, note, and whether blank gradients are revealed at once."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("slides")
        self.about = Label("caption", EMPTY, self)
        self.rows = _Rows(self)
        self.rows.setAccessibleName(tr("Slides"))
        self.rows.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.rows.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.rows.itemClicked.connect(lambda item: self.chosen.emit(self.rows.row(item)))
        self.rows.itemActivated.connect(lambda item: self.chosen.emit(self.rows.row(item)))
        self.title = ReturnEdit(self)
        self.title.setPlaceholderText(tr("Title of the slide"))
        self.title.setAccessibleName(tr("Title of the slide"))
        self.title.setMaxLength(MAX_TITLE)
        self.title.setMinimumWidth(60)
        self.title.textEdited.connect(self._write)
        self.note = QPlainTextEdit(self)
        self.note.setPlaceholderText(tr("Note, for you alone"))
        self.note.setAccessibleName(tr("Note on the slide"))
        self.note.setTabChangesFocus(True)
        self.note.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.note.textChanged.connect(self._write)
        self.at_once = QCheckBox(tr("Reveal all at once"), self)
        self.at_once.setToolTip(
            tr("Page Down reveals all blank gradients of this slide at once, not one at a time")
        )
        self.at_once.clicked.connect(self._write)
        body = QWidget(self)
        parts = (self._build_buttons(), self.about, (self.rows, 1), self.title, self.note)
        vbox(body, *parts, self.at_once, margins=(12, 8, 10, 8), spacing=6)
        self.area = QScrollArea(self)
        self.area.setAccessibleName(tr("Slides"))
        make_scrollable(self.area, body)
        body.setAutoFillBackground(False)
        vbox(self, self.area)
        self.setFocusProxy(self.rows)
        self._fit_heights()
        self.show_slides((), -1, lambda _: True)

    def _build_buttons(self) -> FlowLayout:
        words = tr("Make a slide of what is shown, after the current slide")
        self.add = push_button(tr("Add"), self, self.add_pressed, "primary", tip=words)
        words = tr("Let the current slide show what is shown now")
        self.replace = push_button(tr("Replace"), self, self.replace_pressed, tip=words)
        words = tr("Remove the current slide")
        self.remove = push_button(tr("Remove"), self, self.remove_pressed, tip=words)
        words = tr("Show the current slide earlier in the lecture")
        self.earlier = push_button("↑", self, lambda: self.moved.emit(-1), tip=words)
        self.earlier.setAccessibleName(tr("Move the slide up"))
        words = tr("Show the current slide later in the lecture")
        self.later = push_button("↓", self, lambda: self.moved.emit(1), tip=words)
        self.later.setAccessibleName(tr("Move the slide down"))
        return FlowLayout(self.add, self.replace, self.earlier, self.later, self.remove)

    def show_slides(
        self, slides: tuple[Slide, ...], at: int, is_fresh: Callable[[Slide], bool]
    ) -> None:
        """Show the list with the current slide, -1 for none.

        ``is_fresh`` returns whether a slide was made for the program whose run is shown.
        """
        self.about.setVisible(not slides)
        self.rows.setVisible(bool(slides))
        with QSignalBlocker(self.rows):
            self._fill(slides, is_fresh)
            self.rows.setCurrentRow(at)
        current = slides[at] if at >= 0 else None
        for part in (self.title, self.note, self.at_once):
            part.setVisible(current is not None)
        for button in (self.replace, self.remove):
            button.setEnabled(current is not None)
        self.earlier.setEnabled(at > 0)
        self.later.setEnabled(0 <= at < len(slides) - 1)
        shown = current or Slide()
        # What is being typed stays as it is, with its cursor.
        if self.title.text() != shown.title:
            self.title.setText(shown.title)
        if self.note.toPlainText() != shown.note:
            with QSignalBlocker(self.note):
                self.note.setPlainText(shown.note)
        self.at_once.setChecked(shown.at_once)
        self.at_once.setVisible(shown.blank)

    def _fill(self, slides: tuple[Slide, ...], is_fresh: Callable[[Slide], bool]) -> None:
        while self.rows.count() > len(slides):
            self.rows.takeItem(self.rows.count() - 1)
        while self.rows.count() < len(slides):
            self.rows.addItem(QListWidgetItem())
        for number, slide in enumerate(slides, 1):
            item, words = self.rows.item(number - 1), describe(slide)
            if not is_fresh(slide):
                words = tr("{slide} (the program has changed)", slide=words)
            item.setText(f"{number}  {words}")
            item.setToolTip(tip(words))

    def _write(self) -> None:
        self.written.emit(self.title.text(), self.note.toPlainText(), self.at_once.isChecked())

    def changeEvent(self, happened: QEvent) -> None:
        """Fit note and list to another size of text; called by Qt."""
        super().changeEvent(happened)
        if happened.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self._fit_heights()

    def _fit_heights(self) -> None:
        line = self.note.fontMetrics().lineSpacing()
        self.note.setFixedHeight(NOTE_LINES * line + 16)
        self.rows.setMinimumHeight(LEAST_ROWS * (line + 6) + 8)


def describe(slide: Slide) -> str:
    """Return the title of a slide, else where it is."""
    if slide.title:
        return formatting.file_name(slide.title)
    if slide.step:
        return tr("step {step:,}, event {event:,}", step=slide.step, event=slide.position)
    return tr("event {event:,}", event=slide.position) if slide.position else tr("the start")
