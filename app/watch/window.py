"""The window on a watched training loop: curves, parameters, and what happened."""

import contextlib
import math
import time
from pathlib import Path

from PySide6.QtCore import QProcess, Qt
from PySide6.QtGui import QCloseEvent, QColor, QShortcut
from PySide6.QtWidgets import QLayout, QLineEdit, QListWidget, QListWidgetItem, QWidget

from gradscribe.app.files.settings import Settings
from gradscribe.app.link import launch
from gradscribe.app.ui.layout import GUTTER, Panel
from gradscribe.app.ui.theming import Theming
from gradscribe.app.watch.loop_data import LoopData
from gradscribe.app.watch.reader import WatchReader
from gradscribe.engine.protocol import watch_file
from gradscribe.engine.protocol.watch_file import WatchEvent
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr, translated
from gradscribe.widgets.base.boxes import hbox, push_button, vbox
from gradscribe.widgets.base.labels import Label
from gradscribe.widgets.base.open_windows import resize_within_screen
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.splitter import GripSplitter
from gradscribe.widgets.base.tabs import CompactTabs
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.charts.curves import CurveChart, SharedSteps
from gradscribe.widgets.plots.drawing.colors import depth_color
from gradscribe.widgets.plots.views.curve_plot import PlotCurve
from gradscribe.widgets.tables.parameter_table import ParameterTable

SIZE = (1200, 760)
LOOK_MS = 250
"""Pause between two looks at the file."""
TURN_S = 0.02
"""Most seconds that a look at the file may take; the rest follows in the next."""
QUIET_S = 30.0
"""Seconds without news after which the window says so."""
SAID_S = 5.0
"""Seconds for which an answer is shown instead of the state."""
SHOWN = 6
"""Curves that are shown of parameters and modules before any is picked."""
GRADIENTS, WEIGHTS, UPDATES, MEANS, SPREADS = range(1, 6)
"""Columns of a measurement."""


class WatchWindow(QWidget):
    """Follows a file while it grows; closing it changes nothing for the loop."""

    def __init__(self, reader: WatchReader, settings: Settings) -> None:
        super().__init__()
        self.reader, self.data = reader, LoopData()
        self.look = Theming(settings, self)
        self._names: tuple[str, ...] = ()
        """Parameters that were picked; none for the first and the last ones."""
        self._news = time.monotonic()
        self._said, self._said_at = "", -math.inf
        self.is_behind = True
        """True while there is more in the file than is shown."""
        self._make()
        self._place()
        resize_within_screen(self, *SIZE)
        self.look.changed.connect(self._repaint)
        self.look.add(self.loss, self.rate, self.gradients, self.updates, self.outputs, self.table)
        self.look.apply()
        self._timer = single_shot(self, self.follow, LOOK_MS)
        QShortcut("Ctrl+W", self, self.close)
        self.follow()

    def _make(self) -> None:
        self.setAutoFillBackground(True)
        self.heading, self.state = Label("heading", ""), Label("caption", "")
        self.note = Label("warning", "")
        self.note.setWordWrap(True)
        self.loss = CurveChart(tr("Loss"), "", log=True)
        self.rate = CurveChart(tr("Learning rate"), "", log=False)
        self.gradients = CurveChart(tr("Gradient norms"), "", log=True)
        self.updates = CurveChart(tr("Update over parameter"), "", log=True)
        self.outputs = CurveChart(tr("Spread of the outputs"), tr("Standard deviation"), log=True)
        charts = (self.loss, self.rate, self.gradients, self.updates, self.outputs)
        for chart in charts:
            chart.is_trained = False
            chart.placeholder = tr("Waiting for the first steps")
        for chart in charts[2:]:
            chart.is_keyed = True
        self.shared = SharedSteps(charts, self)
        self.table = ParameterTable(self)
        self.table.picked.connect(self._pick)
        self.events = QListWidget(self)
        self.events.setProperty("bare", True)
        self.events.setAccessibleName(tr("Events of the loop"))
        self.events.setWordWrap(True)
        self.events.itemActivated.connect(self._open)
        self.at = QLineEdit()
        self.at.setPlaceholderText(tr("next"))
        self.at.setAccessibleName(tr("Number of the step to record; empty for the next"))
        self.at.setMaximumWidth(90)
        self.record = push_button(tr("Record step"), None, self.order)
        self.record.setToolTip(tr("Have the loop record that step as a tape, with every op in it"))
        self.at.returnPressed.connect(self.record.click)

    def _place(self) -> None:
        top = hbox(None, spacing=8)
        words = vbox(None, spacing=2)
        for label in (self.heading, self.state, self.note):
            words.addWidget(label)
        top.addLayout(words, 1)
        top.addWidget(self.at, 0, Qt.AlignmentFlag.AlignTop)
        top.addWidget(self.record, 0, Qt.AlignmentFlag.AlignTop)
        tabs = CompactTabs()
        for title, chart in (
            (tr("Gradients"), self.gradients),
            (tr("Updates"), self.updates),
            (tr("Outputs"), self.outputs),
            (tr("Rate"), self.rate),
        ):
            tabs.addTab(chart, title)
        self.tabs = tabs
        left = GripSplitter(Qt.Orientation.Vertical, GUTTER)
        left.addWidget(Panel(self.loss, tr("Loss")))
        left.addWidget(Panel(tabs, tr("Measurements")))
        happened = QWidget()
        rows = vbox(happened, margins=(12, 10, 8, 8), spacing=6)
        rows.addWidget(Label("heading", tr("Events")))
        rows.addWidget(self.events, 1)
        right = GripSplitter(Qt.Orientation.Vertical, GUTTER)
        right.addWidget(Panel(self.table, tr("Parameters")))
        right.addWidget(Panel(happened, tr("Events")))
        right.setSizes([440, 220])
        columns = GripSplitter(Qt.Orientation.Horizontal, GUTTER)
        columns.addWidget(left)
        columns.addWidget(right)
        columns.setSizes([640, 540])
        whole = vbox(self, margins=(GUTTER, GUTTER, GUTTER, GUTTER), spacing=10)
        # A minimum size would be sent to the window system; not every one accepts it.
        whole.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        whole.addLayout(top)
        whole.addWidget(columns, 1)

    # What is new

    def follow(self) -> None:
        """Read what has come since, show it, and look again later."""
        begun, is_new, is_more = time.monotonic(), False, False
        while found := self.reader.read():
            is_new = True
            for record in found:
                try:
                    self.data.add(record)
                except ValueError as error:
                    self.reader.trouble = translated(str(error))
                    break
            if time.monotonic() - begun > TURN_S:
                is_more = True
                break
        if is_new:
            self._news = time.monotonic()
            self._show()
        self._say()
        self.is_behind = is_more
        self._timer.start(0 if is_more else LOOK_MS)

    def _show(self) -> None:
        theme, data = self.look.theme(), self.data
        self.loss.set_curves([PlotCurve("loss", data.loss, theme.forward, shade=True)])
        self.rate.set_curves([PlotCurve(tr("learning rate"), data.rate, theme.parameter)])
        total = PlotCurve("all", data.gradient, theme.backward, width=2.4)
        names = [name for name, _ in data.header.parameters] if data.header is not None else []
        shown = [names.index(name) for name in self._names if name in names] or _some(len(names))
        self._curves(self.gradients, GRADIENTS, shown, names, [total])
        self._curves(self.updates, UPDATES, shown, names)
        modules = list(data.header.modules) if data.header is not None else []
        owners = {name.rpartition(".")[0] for name in self._names}
        places = [at for at, name in enumerate(modules) if name in owners] or _some(len(modules))
        self._curves(self.outputs, SPREADS, places, modules)
        self.table.set_rows(data.rows())
        self.table.show_step(data.samples[-1][0] if data.samples else None)
        for event in data.events[self.events.count() :]:
            self._list(event)

    def _curves(
        self,
        chart: CurveChart,
        kind: int,
        places: list[int],
        names: list[str],
        first: "list[PlotCurve] | None" = None,
    ) -> None:
        dark = self.look.theme().dark
        curves = list(first or [])
        for place in places:
            series = self.data.series(kind, place)
            color: QColor = depth_color(place, len(names), dark)
            curves.append(PlotCurve(names[place], series, color, width=1.4))
        chart.set_curves(curves)
        rest = len(names) - len(places)
        words = tr(
            "{places_count} of {names_count:,}: pick others in the table",
            places_count=len(places),
            names_count=len(names),
        )
        chart.set_caption(words if rest > 0 else "")

    def _list(self, event: WatchEvent) -> None:
        item = QListWidgetItem(
            tr("Step {step:,}   {text}", step=event.step, text=translated(event.text))
        )
        item.setToolTip(
            tr("Open {path}", path=event.path) if event.path else translated(event.text)
        )
        if event.path:
            item.setText(tr("{text} (Enter opens it)", text=item.text()))
        item.setData(Qt.ItemDataRole.UserRole, event.path)
        self.events.addItem(item)
        self.events.scrollToBottom()

    def _say(self) -> None:
        data, header = self.data, self.data.header
        if header is not None:
            rank = (
                tr(" · rank {rank} of {ranks}", rank=header.rank, ranks=header.ranks)
                if header.ranks > 1
                else ""
            )
            parts = [header.model, header.optimizer, header.program]
            self.heading.say(" · ".join(part for part in parts if part) + rank)
            self.setWindowTitle(tr("{model} in training - Gradscribe", model=header.model))
        else:
            self.heading.say(self.reader.path.name)
        words = [tr("Step {step:,}", step=data.step)]
        for name, series in (("loss", data.loss), (tr("learning rate"), data.rate)):
            if len(series) and not math.isnan(series.latest):
                words.append(f"{name} {formatting.number(series.latest)}")
        words.append(
            ngettext("{count:,} measured step", "{count:,} measured steps", len(data.samples))
        )
        if data.dropped:
            words.append(tr("{dropped:,} losses left out", dropped=data.dropped))
        words.append(self._condition())
        is_recent = time.monotonic() - self._said_at < SAID_S
        self.state.say(self._said if is_recent else " · ".join(words))
        notes = [translated(header.note) if header is not None else "", self._trouble()]
        self.note.say(". ".join(note for note in notes if note))
        self.note.setVisible(any(notes))
        self.record.setEnabled(not data.has_ended)
        self.at.setEnabled(not data.has_ended)

    def _condition(self) -> str:
        if self.data.has_ended:
            return tr("ended")
        quiet = time.monotonic() - self._news
        return tr("live") if quiet < QUIET_S else tr("no news for {round:,} s", round=round(quiet))

    def _trouble(self) -> str:
        trouble, name = self.reader.trouble, self.reader.path.name
        return (
            tr("{name} is shown as far as it is whole: {trouble}", name=name, trouble=trouble)
            if trouble
            else ""
        )

    # What can be done

    def _pick(self, name: str) -> None:
        """Show the curves of a parameter, or hide them again."""
        names = [shown for shown in self._names if shown != name]
        self._names = tuple(names if name in self._names else [*names, name][-SHOWN:])
        self._show()

    def order(self) -> None:
        """Ask the loop to record a step as a tape."""
        words = self.at.text().strip().replace(",", "")
        if words and not (words.isascii() and words.isdigit() and len(words) < 16):
            self._answer(
                tr("{words!r} is no step: type a number, or nothing for the next", words=words[:20])
            )
            return
        step = int(words or "0")
        if 0 < step <= self.data.step:
            self._answer(
                tr(
                    "Step {step:,} is over: the loop is at {step_2:,}",
                    step=step,
                    step_2=self.data.step,
                )
            )
            return
        path = self.reader.path
        try:
            path.with_name(path.name + watch_file.ORDER).write_bytes(b"%d" % step)
        except OSError as error:
            self._answer(tr("The loop cannot be asked: {value}", value=error.strerror or error))
            return
        self.at.clear()
        self._answer(
            tr("Asked for step {step:,}", step=step) if step else tr("Asked for the next step")
        )

    def _answer(self, words: str) -> None:
        """Say what came of an action, for some seconds."""
        self._said, self._said_at = words, time.monotonic()
        self._say()

    def _open(self, item: QListWidgetItem) -> None:
        path = item.data(Qt.ItemDataRole.UserRole)
        if path and Path(path).is_file():
            QProcess.startDetached(launch.python_executable(), ["-P", "-m", "gradscribe", path])
        elif path:
            self._answer(tr("{path} is not there any more", path=path))

    def _repaint(self, theme: Theme) -> None:
        palette = self.palette()
        palette.setColor(self.backgroundRole(), theme.panel2)
        self.setPalette(palette)
        self._show()

    def closeEvent(self, happened: QCloseEvent) -> None:
        """Stop reading; the loop goes on."""
        self._timer.stop()
        self.reader.close()
        with contextlib.suppress(RuntimeError):
            self.look.close()
        super().closeEvent(happened)


def _some(count: int) -> list[int]:
    """Return a few places that are spread evenly over ``count``."""
    if count <= SHOWN:
        return list(range(count))
    return sorted({round(at * (count - 1) / (SHOWN - 1)) for at in range(SHOWN)})
