"""The bar on top of the window and the status line at its bottom."""

import re

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QMenu, QPushButton, QSizePolicy, QWidget

from gradscribe.app.document.state import ENGINE_DIED, Doc, Layer, Result, View
from gradscribe.app.link.python_search import python_name
from gradscribe.app.ui.speech import announce
from gradscribe.app.window.device_button import DeviceButton
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.explain.devices import devices_of
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, pgettext, tr, translated
from gradscribe.widgets.base.boxes import hbox
from gradscribe.widgets.base.labels import elided_label, plain_label, tip
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.workspace_switch import WorkspaceSwitch
from gradscribe.widgets.transport.buttons import TransportButtons

LAYERS: tuple[Layer, ...] = ("values", "gradients", "shapes")
MIN_TITLE_WIDTH = 120
"""Least width of the title, which is elided in the middle, in pixels."""
WHOLE_TITLE_WIDTH = 240
"""Width up to which a title is shown whole rather than the words around it, in pixels."""
MARGINS = 60
"""Total width of the bar's margins and gaps, in pixels."""
STATUS_MARGIN = 16
"""Space around the status line and between its parts, in pixels."""
MESSAGE_SHARE = 0.35
"""Least part of the status line's width that is left for the message."""
REMARK_MS = 6000
"""Time that a remark stays in the status line."""


class TopBar(QFrame):
    """Workspace switch, examples, document title, transport buttons and layer toggles."""

    examples_pressed = Signal()
    lessons_pressed = Signal()
    layer_pressed = Signal(str, bool)

    def __init__(self, buttons: TransportButtons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._refit = single_shot(self, self._fit)
        """After a change of the text size the parts have their new fonts only in the next turn."""
        self.setProperty("bar", True)
        self.switch = WorkspaceSwitch()
        self.examples = QPushButton(pgettext("programs", "Examples"))
        self.examples.setToolTip(tr("Short programs to start from (Ctrl+E)"))
        self.examples.clicked.connect(self.examples_pressed)
        self.lessons = QPushButton(tr("Lessons"))
        self.lessons.setToolTip(tr("Learn PyTorch step by step (Ctrl+Shift+T)"))
        self.lessons.clicked.connect(self.lessons_pressed)
        self._buttons = buttons
        self._doc = Doc()
        self._quiet = self._bare = False
        self._left_out: set[QWidget] = set()
        self.title = plain_label(role="heading")
        self.counts = plain_label(role="caption")
        self.layers = {name: self._layer(name) for name in LAYERS}
        row = hbox(self, margins=(14, 10, 14, 10), spacing=10)
        row.addWidget(self.switch)
        row.addSpacing(6)
        row.addWidget(self.examples)
        row.addWidget(self.lessons)
        row.addSpacing(6)
        row.addWidget(self.title)
        row.addWidget(self.counts)
        row.addSpacing(14)
        row.addWidget(buttons)
        row.addStretch(1)
        self.device = DeviceButton()
        self._latest = Tape()
        self._used: tuple[str, ...] = ()
        row.addWidget(self.device)
        for button in self.layers.values():
            row.addWidget(button)
        self.shown_layers = QPushButton(tr("Show"))
        self.shown_layers.setToolTip(tr("Values, gradients and shapes in the graph"))
        self.shown_layers.clicked.connect(self._open_layers)
        self.shown_layers.hide()
        row.addWidget(self.shown_layers)

    def _layer(self, name: Layer) -> QPushButton:
        titles = {"values": tr("Values"), "gradients": tr("Gradients"), "shapes": tr("Shapes")}
        button = QPushButton(titles[name])
        button.setCheckable(True)
        button.setToolTip(
            {
                "values": tr("Show the values of the forward pass (Ctrl+1)"),
                "gradients": tr("Show the gradients of the backward pass (Ctrl+2)"),
                "shapes": tr("Show the shape of the tensor on each wire (Ctrl+3)"),
            }[name]
        )
        button.clicked.connect(lambda on: self.layer_pressed.emit(name, on))
        return button

    def show_doc(self, doc: Doc) -> None:
        """Show the document's title, with a dot if it has unsaved changes."""
        self._doc = doc
        self.title.setToolTip(tip(formatting.file_name(doc.path)) or tr("Not in a file yet"))
        self._fit()

    def show_result(self, result: Result, doc: Doc) -> None:
        """Show the devices of the last run's tensors, or what ``device`` is before the first."""
        if result.latest is not self._latest:
            self._latest, self._used = result.latest, devices_of(result.latest)
        used = self._used or (doc.device,)
        self.device.show_devices(result.devices, result.details, used, doc.device)
        self._fit()

    def show_counts(self, counts: str) -> None:
        """Show the node and parameter counts of the graph."""
        self.counts.setText(counts)
        self._fit()

    def show_view(self, view: View) -> None:
        """Check the buttons of the visible layers."""
        for name, button in self.layers.items():
            button.setChecked(bool(getattr(view, name)))

    def set_quiet(self, quiet: bool, has_layers: bool = False) -> None:
        """Show only the workspaces, the title and the playback, or everything.

        ``has_layers``: with the layers and the device all the same.
        """
        self._quiet, self._bare = quiet, quiet and not has_layers
        for button in (*self.layers.values(), self.device):
            button.setVisible(not self._bare)
        self._fit()

    def resizeEvent(self, happened: QResizeEvent) -> None:
        """Hide what does not fit."""
        super().resizeEvent(happened)
        self._fit()

    def changeEvent(self, happened: QEvent) -> None:
        """Show what fits in another text size; called by Qt."""
        super().changeEvent(happened)
        if happened.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self._refit.start()

    def _fit(self) -> None:
        """Hide what does not fit: the counts first, then the speed label, then the slider."""
        edited = self._doc.modified and bool(self._doc.path)
        title = self._doc.title + (" •" if edited else "")
        metrics = self.title.fontMetrics()
        self.device.set_form(0)
        aside: tuple[QWidget, ...] = (self.counts, self.examples, self.lessons)
        if self._quiet:
            for part in aside:
                part.hide()
            aside = ()
        slider = (self._buttons.speed_slider, self._buttons.speed_value)
        extras: tuple[tuple[QWidget, ...], ...] = (
            aside[:1],
            (self._buttons.speed_label,),
            slider,
            () if self._bare else (self.device,),
            aside[1:],
        )
        whole = metrics.horizontalAdvance(title)
        least = min(whole, MIN_TITLE_WIDTH)
        self._leave_out(least)
        folds = self._fixed_width() + self._layers_width(False) + least > self.width()
        self._fold_layers(folds)
        taken = sum(_room(extra) for group in extras for extra in group)
        taken += self._fixed_width() + least
        taken += self._layers_width(folds)
        for number, group in enumerate(extras):
            # Counts and the word Speed say less than the end of the title.
            wanted = min(whole, WHOLE_TITLE_WIDTH) - least if number < 2 else 0
            tight = taken + wanted > self.width()
            for extra in group:
                extra.setVisible(not tight)
                taken -= _room(extra) if tight else 0
        if not self._bare and self.device.isVisibleTo(self):
            taken += self.device.grow(self.width() - taken - whole + least)
        room = max(MIN_TITLE_WIDTH, self.width() - taken + least)
        self.title.setText(metrics.elidedText(title, Qt.TextElideMode.ElideMiddle, room))

    def _open_layers(self) -> None:
        """Open a menu of the layers, under the button that stands for their own."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for button in self.layers.values():
            action = menu.addAction(button.text())
            action.setCheckable(True)
            action.setChecked(button.isChecked())
            action.triggered.connect(button.click)
        menu.popup(self.shown_layers.mapToGlobal(QPoint(0, self.shown_layers.height())))

    def _fold_layers(self, folds: bool) -> None:
        """Show one button for all layers where large text leaves no space for a button each."""
        self.shown_layers.setVisible(folds and not self._bare)
        for button in self.layers.values():
            button.setVisible(not (folds or self._bare))

    def _layers_width(self, folds: bool) -> int:
        shown = (self.shown_layers,) if folds else tuple(self.layers.values())
        return 0 if self._bare else sum(map(_room, shown))

    def _leave_out(self, least: int) -> None:
        """While presenting, leave out the buttons that do not fit: their keys work all the same."""
        self._left_out.clear()
        for part in (self.switch, self._buttons.reset_button):
            if (
                self._quiet
                and self._fixed_width() + self._layers_width(True) + least > self.width()
            ):
                self._left_out.add(part)
            part.setVisible(part not in self._left_out)

    def _fixed_width(self) -> int:
        buttons = self._buttons
        always = (buttons.reset_button, buttons.back_button, buttons.step_button)
        shown = {self.switch, *always, buttons.play_button} - self._left_out
        return sum(map(_room, shown)) + MARGINS


def _room(widget: QWidget, gap: int = 10) -> int:
    """Return the width of a widget in the row, including the gap after it."""
    return max(widget.sizeHint().width(), widget.minimumWidth()) + gap


class StatusLine(QFrame):
    """Status line: the latest event, remark or problem, and the state of the engine."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("bar", True)
        self.message = elided_label(role="caption")
        self.message.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.engine = elided_label(role="caption")
        self.note = plain_label(role="warning")
        self.held = plain_label(role="caption")
        self.held.setToolTip(tr("Memory of the tensors that backward nodes keep at this position"))
        self._caption = ""
        self._said = ""
        self._problem = ""
        self._elsewhere = self._is_quiet = False
        self._quiet = single_shot(self, self._clear_note, REMARK_MS)
        row = hbox(self, margins=(STATUS_MARGIN, 4, STATUS_MARGIN, 6), spacing=STATUS_MARGIN)
        row.addWidget(self.message, 1)
        row.addWidget(self.note)
        row.addWidget(self.held)
        row.addWidget(self.engine)

    def say(self, remark: str) -> None:
        """Show a remark for `REMARK_MS`, and have it read out."""
        self._said = remark
        announce(self, remark)
        self._quiet.start()
        self._refresh()

    def retract(self, remark: str) -> None:
        """Remove a remark that is no longer true."""
        if self._said == remark:
            self._quiet.stop()
            self._clear_note()

    def caption(self, event: str) -> None:
        """Show the event that is playing, unless a remark or a problem is shown."""
        self._caption = event
        self._refresh()

    def show_result(self, result: Result, doc: Doc) -> None:
        """Show the problem, if there is one, and the state of the engine."""
        problem = problem_line(result)
        if problem and problem != self._problem:
            self._said = ""
            announce(self, problem)
        self._problem = problem
        self._refresh()
        self.engine.setText(engine_line(result, doc))
        short, whole = truncation_notes(result)
        self.note.setText(short)
        self.note.setToolTip(tip(whole))
        self._show_parts()

    def set_quiet(self, quiet: bool) -> None:
        """Show only problems and remarks, and nothing at all while there are none, or all."""
        self._is_quiet = quiet
        self._show_parts()
        self.show()
        self._clear_note()

    def show_program(self, on: bool) -> None:
        """Show or hide what concerns the program and its engine."""
        self._elsewhere = not on
        self._show_parts()
        self._refresh()

    def event(self, happened: QEvent) -> bool:
        """Leave room for the message when the line, a text or its size changes; called by Qt."""
        if happened.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._show_parts()
        return super().event(happened)

    def _show_parts(self) -> None:
        shown = not (self._elsewhere or self._is_quiet)
        room = int(self.width() * (1 - MESSAGE_SHARE)) - 3 * STATUS_MARGIN
        if self.note.text():
            room -= _room(self.note, STATUS_MARGIN)
        engine = self.engine.sizeHint().width()
        # The memory of backward gives way first, then the end of what is said of the engine.
        fits = engine + _room(self.held, STATUS_MARGIN) <= room
        self.engine.setMaximumWidth(max(0, min(engine, room)))
        self.engine.setToolTip("" if engine <= room else tip(self.engine.text()))
        for part in (self.engine, self.note, self.held):
            part.setVisible(shown and bool(part.text()) and (fits or part is not self.held))

    def show_saved_memory(self, count: int | None) -> None:
        """Show the bytes of tensors saved for backward; None if this program saves none."""
        self.held.setText(
            "" if count is None else tr("{size} held for backward", size=formatting.size(count))
        )
        self._show_parts()

    def _clear_note(self) -> None:
        self._said = ""
        self._refresh()

    def _refresh(self) -> None:
        caption = "" if self._is_quiet else self._caption
        shown = self._said or ("" if self._elsewhere else self._problem or caption)
        if self._is_quiet:
            self.setVisible(bool(shown))
        self.message.setText(shown)
        self.message.setToolTip(tip(shown))
        wrong = bool(self._problem) and not self._said and not self._elsewhere
        role = "error" if wrong else "caption"
        if self.message.property("role") != role:
            self.message.setProperty("role", role)
            self.message.style().unpolish(self.message)
            self.message.style().polish(self.message)
        self.message.setAccessibleName(shown)


def problem_line(result: Result) -> str:
    """Return the problem in one line: its place, torch's message, and a hint."""
    problem = result.problem
    if problem is None:
        return ""
    place = tr("Line {line}: ", line=problem.place.line) if problem.place.line else ""
    message = translated(problem.message.strip()).splitlines()
    hint = f" — {translated(problem.hint)}" if problem.hint else ""
    kind = "" if problem.type == ENGINE_DIED else f"{problem.type}: "
    return f"{place}{kind}{message[0] if message else ''}{hint}"


def truncation_notes(result: Result) -> tuple[str, str]:
    """Return what the tape lacks, as a short note and as full sentences; empty if complete."""
    tape = result.tape
    short, whole = [], []
    if tape.truncated:
        parts = [translated(f"{part}.") for part in tape.truncated.rstrip(".").split(". ")]
        short += [re.split("[;；]", part.rstrip(".。"))[0] for part in parts]
        whole.append(translated(tape.truncated))
    if tape.dropped:
        short.append(
            tr(
                "{values} kept as summaries",
                values=ngettext("{count:,} value", "{count:,} values", tape.dropped),
            )
        )
        whole.append(
            tr(
                "Their numbers were given up to stay within the memory for values. "
                "Run › Memory for values raises it."
            )
        )
    return " · ".join(short), "\n".join(whole)


def engine_line(result: Result, doc: Doc) -> str:
    """Return the state of the engine in a few words."""
    if result.engine == "starting":
        return tr("PyTorch is starting…")
    if result.engine == "missing":
        return tr("PyTorch is not installed")
    if result.engine == "running":
        return tr("Running…")
    if result.engine == "stopping":
        return tr("Stopping…")
    python = python_name(doc.interpreter) if doc.interpreter is not None else ""
    torch = tr("torch {torch}", torch=result.torch) if result.torch else ""
    parts = [python, torch, doc.device, tr("seed {seed}", seed=doc.seed)]
    if result.shown_id and not result.stale and result.seconds:
        parts.insert(
            0, tr("Ran in {duration}", duration=formatting.duration(1000000000.0 * result.seconds))
        )
    elif result.stale:
        parts.insert(0, tr("Showing the last good graph"))
    return " · ".join(part for part in parts if part)
