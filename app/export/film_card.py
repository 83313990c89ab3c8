"""Card with the options of a film: size, speed, part of the tape, the program, and the file."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QGridLayout,
    QLabel,
    QScrollArea,
    QWidget,
)

from gradscribe.app.export.encoders import FPS, check_available
from gradscribe.app.export.film_options import (
    SIZES,
    FilmOptions,
    FrameSize,
    parse_size,
    size_text,
    span_of,
    step_span,
)
from gradscribe.app.files.documents import Refused, check_writable
from gradscribe.app.files.settings import Settings
from gradscribe.app.ui.popup import PopupCard
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.tape.loops.steps import steps_of
from gradscribe.playback.tape.tempo import VideoTiming
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base.boxes import STRETCH, hbox, make_scrollable, push_button, spin_box
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.base.labels import plain_label
from gradscribe.widgets.base.return_edit import ReturnEdit

CARD_SIZE = (500, 440)
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
KINDS = {"gif": "GIF", "mp4": "MP4"}


@dataclass(frozen=True)
class FilmRequest:
    """First values of a card, and calls that the window answers."""

    tape: Tape
    kind: str
    """``gif`` or ``mp4``."""
    speed: float
    span: tuple[int, int]
    """First and last position."""
    path: Path
    """The suggested file."""
    ask_save: Callable[[str, Path, str], Path | None]
    """Asks for a file, with a title, a suggestion and a pattern."""
    begin: Callable[[Path, FilmOptions], None]
    """Starts the export; raises `Refused`."""


class FilmCard(PopupCard):
    """The options of a film with what comes of them; every mistake is said at its place."""

    def __init__(self, over: QWidget, asked: FilmRequest, settings: Settings) -> None:
        super().__init__(over, *CARD_SIZE)
        self._asked, self._settings = asked, settings
        self._steps = steps_of(asked.tape)
        self._agreed: Path | None = None
        """The file that may be replaced, as the user said in the dialog."""
        self.card.setAccessibleName(tr("Export the playback"))
        self.column.addWidget(plain_label(tr("Export the playback"), "heading"))
        self._make_fields()
        self._lay_out()
        self._fill()
        self._connect()
        self._show_kind()
        self._show_file()
        fields = (self.kind, self.frame, self.speed, self.first, self.stop, self.unit, self.code)
        ring = (*fields, self.path, self.browse, self.close_button, self.export)
        for one, other in pairwise(ring):
            QWidget.setTabOrder(one, other)

    def open(self) -> None:
        """Show the card, with the focus in its first field."""
        super().open()
        # No focus proxy: Tab would end at the card, and never reach what comes after it.
        self.kind.setFocus()

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Export on Return in a field, as in a dialog."""
        is_return = happened.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not is_return or isinstance(QApplication.focusWidget(), QAbstractButton):
            super().keyPressEvent(happened)
            return
        happened.accept()
        if self.export.isEnabled() and not happened.isAutoRepeat():
            self._export()

    # Construction

    def _make_fields(self) -> None:
        self.kind, self.frame, self.speed, self.unit = Choice(), Choice(), Choice(), Choice()
        self.first, self.stop = spin_box(), spin_box()
        self.code = QCheckBox(tr("Show the program next to the graph"))
        self.path = ReturnEdit()
        self.browse = push_button(tr("Browse…"), self.card, self._browse, tip=tr("Choose the file"))
        self.kind_error, self.range_error = _error(), _error()
        self.path_error, self.path_note = _error(), plain_label("", "caption")
        self.path_note.setWordWrap(True)
        self.estimate = plain_label("", "caption")
        self.estimate.setWordWrap(True)
        self.estimate.setAccessibleName(tr("Estimate"))
        self.export = push_button(tr("Export"), self.card, self._export, "primary")
        self.close_button = push_button(tr("Cancel"), self.card, self.leave)
        names = {
            self.kind: tr("Format"),
            self.frame: tr("Size"),
            self.speed: tr("Speed"),
            self.first: tr("From"),
            self.stop: tr("To"),
            self.unit: tr("Unit of from and to"),
            self.path: tr("File"),
        }
        for field, name in names.items():
            field.setAccessibleName(name)

    def _lay_out(self) -> None:
        inside = QWidget()
        grid = QGridLayout(inside)
        grid.setContentsMargins(0, 0, 6, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        span = hbox(None, (self.first, 1), QLabel(tr("to")), (self.stop, 1), self.unit, spacing=8)
        rows: tuple[tuple[str, QWidget, object], ...] = (
            (tr("Format"), self.kind, self.kind),
            ("", self.kind_error, self.kind_error),
            (tr("Size"), self.frame, self.frame),
            (tr("Speed"), self.speed, self.speed),
            (tr("From"), self.first, span),
            ("", self.range_error, self.range_error),
            ("", self.code, self.code),
            (tr("File"), self.path, hbox(None, (self.path, 1), self.browse, spacing=8)),
            ("", self.path_error, self.path_error),
            ("", self.path_note, self.path_note),
        )
        for row, (title, field, part) in enumerate(rows):
            if title:
                label = QLabel(title)
                label.setBuddy(field)
                grid.addWidget(label, row, 0)
            if isinstance(part, QWidget):
                grid.addWidget(part, row, 1)
            else:
                grid.addLayout(part, row, 1)  # type: ignore[call-overload]
        grid.setRowStretch(len(rows), 1)
        area = QScrollArea()
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        make_scrollable(area, inside)
        inside.setAutoFillBackground(False)
        self.column.addWidget(area, 1)
        self.column.addWidget(self.estimate)
        self.column.addLayout(hbox(None, STRETCH, self.close_button, self.export, spacing=8))

    def _fill(self) -> None:
        asked = self._asked
        for kind, title in KINDS.items():
            self.kind.addItem(title, kind)
        self.kind.setCurrentIndex(self.kind.findData(asked.kind))
        kept = _remembered_size(self._settings)
        for size in dict.fromkeys((*SIZES, kept)):
            self.frame.addItem(_size_title(size), size_text(size))
        self.frame.setCurrentIndex(self.frame.findData(size_text(kept)))
        for speed in sorted({*SPEEDS, asked.speed}):
            self.speed.addItem(f"{speed:g}×", speed)
        self.speed.setCurrentIndex(self.speed.findData(asked.speed))
        self.unit.addItem(tr("events"), "event")
        if len(self._steps):
            self.unit.addItem(tr("steps"), "step")
        self.unit.setVisible(len(self._steps) > 0)
        self._set_limits(0, len(asked.tape.events), *asked.span)
        self.code.setChecked(self._settings.flag("film_code"))
        self.path.setText(str(asked.path))

    def _set_limits(self, low: int, high: int, first: int, stop: int) -> None:
        for field, value in ((self.first, first), (self.stop, stop)):
            with QSignalBlocker(field):
                field.setRange(low, high)
                field.setValue(value)
                field.setToolTip(tr("{low:,} to {high:,}", low=low, high=high))

    def _connect(self) -> None:
        self.kind.currentIndexChanged.connect(self._change_kind)
        self.speed.currentIndexChanged.connect(self._refresh)
        self.frame.currentIndexChanged.connect(self._refresh)
        self.unit.currentIndexChanged.connect(self._change_unit)
        for field in (self.first, self.stop):
            field.valueChanged.connect(self._refresh)
        self.path.textChanged.connect(self._follow_file)
        self.path.editingFinished.connect(self._show_file)
        self.path.returnPressed.connect(self._export)

    # What is chosen

    def options(self) -> FilmOptions:
        """Return the choices.

        Raises:
            Refused: from and to are no part of the tape.
        """
        first, stop = self.first.value(), self.stop.value()
        if self._is_in_steps():
            first, stop = step_span(self._steps, first, stop)
        size: FrameSize = parse_size(self.frame.currentData())
        made = FilmOptions(size, self.speed.currentData(), first, stop, self.code.isChecked())
        span_of(made, len(self._asked.tape.events))
        return made

    def file(self) -> Path:
        """Return the chosen file, with the suffix of the format if it has none of a film."""
        path = Path(os.path.expanduser(self.path.text().strip()))
        if path.suffix.lower().removeprefix(".") in FPS:
            return path
        return path.with_name(f"{path.name}.{self.kind.currentData()}") if path.name else path

    def _is_in_steps(self) -> bool:
        return str(self.unit.currentData()) == "step"

    # Changes

    def _change_kind(self) -> None:
        path = self.file()
        if self.path.text().strip():
            self.path.setText(str(path.with_suffix(f".{self.kind.currentData()}")))
        self._show_kind()
        self._show_file()

    def _show_kind(self) -> None:
        try:
            check_available(self.kind.currentData())
        except Refused as refusal:
            _say(self.kind_error, str(refusal))
        else:
            _say(self.kind_error, "")
        self._refresh()

    def _change_unit(self) -> None:
        """Express the same part of the tape in the other unit."""
        first, stop, steps = self.first.value(), self.stop.value(), self._steps
        if self._is_in_steps():
            numbers = steps.number_at(first + 1), steps.number_at(max(stop, 1))
            self._set_limits(1, len(steps), *numbers)
        else:
            whole = len(self._asked.tape.events)
            self._set_limits(0, whole, steps.span(first)[0], steps.span(stop)[1])
        self._refresh()

    def _refresh(self) -> None:
        """Show what comes of the choices, or why nothing does."""
        words = ""
        try:
            made = self.options()
        except Refused as refusal:
            _say(self.range_error, str(refusal))
            self.estimate.setText("")
        else:
            _say(self.range_error, "")
            words = self._estimated(made)
        self.estimate.setText(words)
        self._enable()

    def _estimated(self, made: FilmOptions) -> str:
        fps = FPS[self.kind.currentData()]
        events = self._asked.tape.events
        timing = VideoTiming(events, fps, made.speed, first=made.first, stop=made.stop)
        seconds = timing.length_ms / 1000
        size = tr("the graph's size") if made.size is None else _size_title(made.size)
        words = (
            ngettext("{count:,} frame", "{count:,} frames", len(timing))
            + ", "
            + format(seconds, ".1f")
            + " s, "
            + size
        )
        if timing.events_per_move > 1:
            words += tr(
                "; {events_per_move} events at a time, so that it is no longer",
                events_per_move=timing.events_per_move,
            )
        return words

    def _follow_file(self) -> None:
        """Say at each key whether a file is replaced; errors wait until the name is complete."""
        _say(self.path_error, "")
        self._show_replaced()
        self._enable()

    def _show_file(self) -> None:
        """Say what is wrong with the file, or that it will be replaced."""
        path = self.file()
        _say(self.path_error, _problem_of(path) if self.path.text().strip() else "")
        self._show_replaced()
        kind = self.kind.findData(path.suffix.lower().removeprefix("."))
        if kind >= 0 and kind != self.kind.currentIndex():
            with QSignalBlocker(self.kind):
                self.kind.setCurrentIndex(kind)
            self._show_kind()
        self._enable()

    def _show_replaced(self) -> None:
        path = self.file()
        is_typed = bool(self.path.text().strip() and path.name)
        is_replaced = is_typed and path != self._agreed and path.is_file()
        _say(
            self.path_note,
            tr("{name} exists and will be replaced", name=path.name) if is_replaced else "",
        )
        self.export.setText(tr("Replace") if is_replaced else tr("Export"))

    def _enable(self) -> None:
        errors = (self.kind_error, self.range_error, self.path_error)
        is_sound = all(label.isHidden() for label in errors)
        self.export.setEnabled(is_sound and bool(self.path.text().strip()))

    # Actions

    def _browse(self) -> None:
        kind = self.kind.currentData()
        pattern = tr("{kinds} films (*.{kind})", kinds=KINDS[kind], kind=kind)
        chosen = self._asked.ask_save(tr("Export the playback"), self.file(), pattern)
        if chosen is not None:
            self.path.setText(str(chosen))
            # A suffix that is added makes it another file, which the dialog did not ask about.
            self._agreed = self.file() if self.file() == chosen else None
            self._show_file()

    def _export(self) -> None:
        before = self.export.text()
        self._show_file()
        # A file that came into being since is not replaced without a word.
        if not self.export.isEnabled() or self.export.text() != before:
            return
        made = self.options()
        try:
            self._asked.begin(self.file(), made)
        except Refused as refusal:
            _say(self.path_error, str(refusal))
            return
        self._settings.put("film_size", size_text(made.size))
        self._settings.put("film_code", made.code)
        self.leave()


def _remembered_size(settings: Settings) -> FrameSize:
    try:
        return parse_size(settings.text("film_size"))
    except Refused:
        return None


def _error() -> QLabel:
    label = plain_label("", "error")
    label.setWordWrap(True)
    label.hide()
    return label


def _say(label: QLabel, words: str) -> None:
    label.setText(words)
    label.setVisible(bool(words))


def _problem_of(path: Path) -> str:
    try:
        check_writable(path)
    except Refused as refusal:
        return str(refusal)
    return ""


def _size_title(size: FrameSize) -> str:
    return (
        tr("Fit the graph")
        if size is None
        else tr("{size} × {size_2} pixels", size=size[0], size_2=size[1])
    )
