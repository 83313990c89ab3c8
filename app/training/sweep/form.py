"""The form of a sweep: its options with their values, where it runs, and where it writes."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QCompleter, QLineEdit, QScrollArea, QSpinBox, QWidget

from gradscribe.app.training.sweep import axes, options
from gradscribe.app.training.sweep.axes import SweepError
from gradscribe.app.training.sweep.trials import DRAWS, Sweep
from gradscribe.engine.protocol.setup import Setup, SetupError
from gradscribe.engine.protocol.training.catalogue import CatalogueEntry
from gradscribe.playback.translation import ngettext, tr, translated
from gradscribe.widgets.base.boxes import STRETCH, hbox, push_button, spin_box, vbox
from gradscribe.widgets.base.labels import Heading, Label, plain_label, sheet
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme

HERE = tr("this machine")
MAX_STEPS = 10**9
FIRST = (("optimizer.lr", "log:1e-4:1:8"), ("seed", "0..2"))
"""Options and values to begin with."""
KEYS = (
    *("seed", "weight_seed", "data_seed", "batch", "train", "standardize", "l1", "l2"),
    *("clip_norm", "clip_value", "accumulate", "dtype", "optimizer", "schedule", "loss", "model"),
)
"""Keys of a setup that are offered, after the options of its parts."""
HINT = "a,b,c · 0..9 · log:1e-4:1:20 · random:0:1"


def offered(setup: Setup, entries: Sequence[CatalogueEntry]) -> list[str]:
    """Return the names of options of a setup, those of its parts first."""
    by_name = options.by_name(entries)
    names = []
    for kind in ("optimizer", "model", "data", "schedule", "loss"):
        part = getattr(setup, kind)
        if part is not None and (kind, part.name) in by_name:
            found = by_name[kind, part.name].options
            names += [f"{kind}.{option.name}" for option in found if option.kind != "points"]
    return [*names, *KEYS]


class SweptOptionRow(QWidget):
    """An option and its values."""

    changed = Signal()
    removed = Signal()

    def __init__(self, names: Sequence[str], name: str, values: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.name = QComboBox(self)
        self.name.setEditable(True)
        self.name.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.name.addItems(list(names))
        self.name.setCurrentText(name)
        self.name.setAccessibleName(tr("Option"))
        self.name.setMinimumContentsLength(12)
        completer = self.name.completer()
        if completer is not None:
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        self.values = QLineEdit(values, self)
        self.values.setPlaceholderText(HINT)
        self.values.setToolTip(tr("Values: {forms}", forms=axes.FORMS))
        self.values.setAccessibleName(tr("Values"))
        self.remove = push_button("✕", self, self.removed, "crumb", tip=tr("Leave this option out"))
        self.remove.setAccessibleName(tr("Leave this option out"))
        vbox(self, hbox(None, (self.name, 1), self.remove, spacing=6), self.values, spacing=4)
        self.name.currentTextChanged.connect(lambda _: self.changed.emit())
        self.values.textChanged.connect(lambda _: self.changed.emit())

    def text(self) -> str:
        """Return the row as the command line has it."""
        return f"{self.name.currentText().strip()}={self.values.text().strip()}"


class SweepForm(QWidget):
    """The options that are varied, with the number of trials, or the reason why there are none."""

    started = Signal()
    stopped = Signal()
    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._setup, self._entries = Setup(), tuple[CatalogueEntry, ...]()
        self.sweep: Sweep | None = None
        """The sweep as it stands; None while something is wrong with it."""
        self.rows: list[SweptOptionRow] = []
        self.heading = Heading(tr("Options"), tr("every combination is a trial"))
        self._list = vbox(None, spacing=10)
        self.add = push_button(tr("Add option"), self, lambda: self.add_row("", ""), "crumb")
        self.steps = _spin(1, MAX_STEPS, 1000, tr("Steps of each trial"))
        self.draws = _spin(1, axes.MAX_TRIALS, DRAWS, tr("Number of random draws"))
        self.workers = _spin(0, 256, 0, tr("Engines on this machine; 0: one for each core"))
        self.workers.setSpecialValueText(tr("one a core"))
        self.scheduler = QLineEdit(self)
        self.scheduler.setPlaceholderText(HERE)
        self.scheduler.setAccessibleName(tr("Where trials run"))
        self.scheduler.setToolTip(
            tr("A Dask cluster: tcp://HOST:8786, local:N, ssh:HOST,HOST, slurm:N")
        )
        self.out = QLineEdit(self)
        self.out.setAccessibleName(tr("File of the results"))
        self.out.setToolTip(
            tr("Results; set-ups and results of the trials go to a folder next to it")
        )
        self.words = Label("caption", "").selectable()
        self.words.setWordWrap(True)
        self.start = push_button(tr("Start"), self, self.started, "primary")
        self.stop = push_button(
            tr("Stop"), self, self.stopped, tip=tr("Results so far stay on the disk")
        )
        self.stop.hide()
        self._place()
        for box in (self.steps, self.draws):
            box.valueChanged.connect(lambda _: self.check())
        for name, values in FIRST:
            self.add_row(name, values)

    def _place(self) -> None:
        inside = QWidget()
        inside.setObjectName("sweepForm")
        rows = vbox(inside, margins=(12, 12, 10, 8), spacing=10)
        for part in (self.heading, self._list, hbox(None, self.add, STRETCH)):
            rows.addWidget(part) if isinstance(part, QWidget) else rows.addLayout(part)
        for title, field in (
            (tr("Steps"), self.steps),
            (tr("Draws"), self.draws),
            (tr("Engines"), self.workers),
            (tr("Run on"), self.scheduler),
            (tr("Results"), self.out),
        ):
            label = plain_label(title, "caption")
            label.setMinimumWidth(label.fontMetrics().horizontalAdvance(tr("Results")) + 12)
            label.setBuddy(field)
            rows.addLayout(hbox(None, label, (field, 1), spacing=8))
        rows.addStretch(1)
        area = QScrollArea(self)
        area.setAccessibleName(tr("Sweep"))
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        area.viewport().setAutoFillBackground(False)
        inside.setAutoFillBackground(False)
        below = vbox(
            None, self.words, hbox(None, self.start, self.stop, STRETCH, spacing=8), spacing=8
        )
        below.setContentsMargins(12, 0, 12, 12)
        vbox(self, (area, 1), below, spacing=6)

    def set_setup(self, setup: Setup, entries: Sequence[CatalogueEntry], steps: int) -> None:
        """Sweep this setup, whose options are those of a catalogue."""
        self._setup, self._entries = setup, tuple(entries)
        with QSignalBlocker(self.steps):
            self.steps.setValue(steps)
        names = offered(setup, entries)
        for row in self.rows:
            with QSignalBlocker(row.name):
                text = row.name.currentText()
                row.name.clear()
                row.name.addItems(names)
                row.name.setCurrentText(text)
        self.check()

    def add_row(self, name: str, values: str) -> None:
        """Add an option."""
        names = offered(self._setup, self._entries)
        used = {row.name.currentText() for row in self.rows}
        free = next((each for each in names if each not in used), "")
        row = SweptOptionRow(names, name or free, values, self)
        row.changed.connect(self.check)
        row.removed.connect(lambda: self._drop(row))
        self.rows.append(row)
        self._list.addWidget(row)
        self.check()

    def _drop(self, row: SweptOptionRow) -> None:
        self.rows.remove(row)
        self._list.removeWidget(row)
        row.hide()
        row.deleteLater()
        self.check()

    def texts(self) -> list[str]:
        """Return the options as the command line has them."""
        return [row.text() for row in self.rows]

    def arguments(self) -> list[str]:
        """Return the further arguments of the command line."""
        words = ["--json", self.out.text().strip(), "--steps", str(self.steps.value()), "--resume"]
        if self.sweep is not None and self.sweep.drawn:
            words += ["--draws", str(self.draws.value())]
        if self.scheduler.text().strip():
            return [*words, "--scheduler", self.scheduler.text().strip()]
        return [*words, "--workers", str(self.workers.value())] if self.workers.value() else words

    def check(self) -> None:
        """Say how many trials there are, or what is wrong."""
        try:
            wanted = [axes.parse_axis(text) for text in self.texts()]
            if self._entries:
                by_name = options.by_name(self._entries)
                wanted = list(options.check(self._setup, wanted, by_name))
            self.sweep = Sweep(self._setup, tuple(wanted), self.draws.value())
            self.sweep.check_count()
            count = ngettext("{count:,} trial", "{count:,} trials", self.sweep.count)
            words = tr("{count} of {value:,} steps", count=count, value=self.steps.value())
        except (SweepError, SetupError) as error:
            self.sweep, words = None, translated(str(error))
        self.draws.setEnabled(self.sweep is None or bool(self.sweep.drawn))
        self.start.setEnabled(self.sweep is not None)
        self.say(words, is_error=self.sweep is None)
        self.changed.emit()

    def say(self, words: str, is_error: bool = False) -> None:
        """Show a line above the buttons."""
        role = "warning" if is_error else "caption"
        if self.words.property("role") != role:
            self.words.setProperty("role", role)
            self.words.style().polish(self.words)
        self.words.say(words)

    def set_running(self, is_running: bool) -> None:
        """Offer to stop while trials run."""
        self.start.setVisible(not is_running)
        self.stop.setVisible(is_running)
        fields: Sequence[QWidget] = (self.add, self.steps, self.workers, self.scheduler, self.out)
        for field in (*fields, *self.rows):
            field.setEnabled(not is_running)
        self.draws.setEnabled(not is_running and self.sweep is not None and bool(self.sweep.drawn))
        if self.window().isActiveWindow():
            # The button that was pressed is gone, and the fields take no input.
            (self.stop if is_running else self.start).setFocus()

    def set_theme(self, theme: Theme) -> None:
        """Use the colours and fonts of ``theme``."""
        set_sheet(self, f"{sheet(theme)} QScrollArea, #sweepForm {{ background: transparent }}")


def _spin(low: int, high: int, value: int, tip: str) -> QSpinBox:
    box = spin_box()
    box.setRange(low, high)
    box.setValue(value)
    box.setGroupSeparatorShown(True)
    box.setToolTip(tip)
    box.setAccessibleName(tip)
    return box
