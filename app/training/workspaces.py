"""The workspaces of the window: the program's page, and the training page once it is opened."""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QImage, QRegion
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.documents import Refused
from app.notices import Notices
from app.theming import Look
from app.training import own_module
from app.training.keeping import TrainKeeping, Ways
from app.training.link import TrainLink
from app.training.revival import Revival
from app.training.saving import Saving
from app.training.session import TrainSession
from app.training.state import TrainEngine
from app.training.waiting import Waiting
from app.writing import Writing
from engine.training import Exported, StepTape
from widgets.held_paint import HeldPaint
from widgets.slices import Slices
from widgets.workspaces import WorkspaceSwitch

if TYPE_CHECKING:
    from app.training.room import TrainingRoom
    from app.training.showing import TrainShowing

TURN_MS = 12
"""Longest time that the training page is built in one turn of the event loop."""
REST_MS = 30
"""Pause between two turns while it is built in the background."""
SHARP = 2
"""Scale factor of the image of a single view."""
BELOW_BAR = 2
"""Index in a page's layout below its bar and rule."""
PARTS = (
    *(f"widgets.plots.{name}" for name in ("plot", "boundary", "bars", "fit", "histograms")),
    *(f"widgets.plots.{name}" for name in ("lines", "confusion", "surface", "unit_maps")),
    *(f"widgets.training.{name}" for name in ("bar", "sections", "setup_form", "run_table")),
    *(f"widgets.training.{name}" for name in ("file_look", "step_axis", "step_graph", "weights")),
    *(f"app.training.{name}" for name in ("room", "live_graph", "pictures", "showing")),
)
"""Modules of the training page, imported one at a time."""


class Workspaces(QObject):
    """Shows one workspace at a time; the training page and its engine are created when needed."""

    entered = Signal(str)
    made = Signal()
    """The training page is complete."""
    commanded = Signal(str)
    """Carries the id of a command whose button was pressed on the training page."""
    taped = Signal(object)
    exported = Signal(object)
    said = Signal(str)

    def __init__(
        self,
        page: QWidget,
        switch: WorkspaceSwitch,
        look: Look,
        make_link: Callable[[], TrainEngine] = TrainLink,
        parent: QObject | None = None,
        strip: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._strip = strip
        self._look, self._switch = look, switch
        self.stack = QStackedWidget()
        self.stack.addWidget(page)
        self._paint = HeldPaint(self.stack)
        link = make_link()
        self.session = TrainSession(link, self)
        self.writing = Writing(self)
        self._awaited = ""
        self.writing.said.connect(self.said)
        self.saving = Saving(self.session, link, self.writing, self)
        self.saving.said.connect(self.said)
        self.revival = Revival(self.session, link, self)
        self.revival.said.connect(self.said)
        self.saving.resumed.connect(self.revival.expect)
        self.waiting = Waiting(self.session, link, self)
        self.session.taped.connect(self._tape)
        self.session.exported.connect(self._export)
        self.session.said.connect(self.said)
        self._keeping: TrainKeeping | None = None
        self._made: list[tuple[TrainingRoom, TrainShowing]] = []
        """The training page and its presenter; empty until both are complete."""
        self._making = Slices(TURN_MS, self)
        self._making.ended.connect(self.made)
        self.room = "program"
        switch.picked.connect(self.show_room)

    def keep(self, where: Path | None, notices: Notices, save: Callable[[], None]) -> None:
        """Save the training session in the folder ``where`` from now on; offer what is there."""
        ways = Ways(where, notices, lambda: self.show_room("training"), save)
        self._keeping = TrainKeeping(self.session, self.saving, self.revival, ways, self)
        self._keeping.offer()

    @property
    def widgets(self) -> "TrainingRoom":
        """The training page, built now if necessary."""
        return self._shown()[0]

    @property
    def showing(self) -> "TrainShowing":
        """The presenter of the training page, created now if necessary."""
        return self._shown()[1]

    def _shown(self) -> "tuple[TrainingRoom, TrainShowing]":
        if not self.is_whole:
            self._start()
            self._making.finish()
        return self._made[0]

    @property
    def is_whole(self) -> bool:
        """True once the training page is complete."""
        return bool(self._made)

    def tell_news(self) -> None:
        """Report on the training page that the program's module differs from the trained one."""
        setup, source = self.session.setup, self.session.source
        if self.room == "training" and own_module.is_other(setup, source):
            self.said.emit("The program's module has changed: train it with Ctrl+Alt+M")

    def prepare(self) -> None:
        """Build the training page in the background."""
        if not self.is_whole and not self._making.busy:
            self._making.rest_ms = REST_MS
            self._start()
            self._making.go_on()

    def show_room(self, name: str) -> None:
        """Go to ``program`` or ``training``; the training page is built when first shown.

        It is built in turns of the event loop, so that the window stays responsive.
        """
        self.room = name
        self._switch.show_room(name)
        if name == "training":
            self.session.open()
            if self._keeping is not None:
                self._keeping.offer_closed()
            self._making.rest_ms = 0
            if not self.is_whole:
                self._start()
                # Keys for the training page must not reach the program, which is still visible.
                self.stack.setFocus()
                self._making.go_on()
        if self.is_whole:
            self._turn_to(name)
        self.entered.emit(name)

    def _turn_to(self, name: str) -> None:
        index = 1 if name == "training" else 0
        if index != self.stack.currentIndex():
            # For another page layout, each plot and painting take a turn each. Holding the same
            # page back would leave it blank while a card above it closes.
            self._paint.hold(self._look.prepare())
        self.stack.setCurrentIndex(index)
        self.showing.set_visible(name == "training")
        self.widgets.bar.switch.show_room(name)
        self._carry()
        if name == "training":
            self.widgets.bar.setFocus(Qt.FocusReason.OtherFocusReason)

    def _carry(self) -> None:
        """Move the notification strip below the bar of the visible page: both pages share it."""
        page = self.stack.currentWidget()
        rows = page.layout() if page is not None else None
        if self._strip is not None and isinstance(rows, QVBoxLayout):
            rows.insertWidget(BELOW_BAR, self._strip)

    def _start(self) -> None:
        if not self._making.busy:
            self._making.begin(self._make())

    def _make(self) -> Iterator[None]:
        # Not at the top of the file: importing the plots would delay the program's first paint.
        for name in PARTS:
            import_module(name)
            yield
        from app.training.room import TrainingRoom
        from app.training.showing import TrainShowing

        page = TrainingRoom(at_once=False)
        # Put in place first: reparenting restyles a widget with all its children.
        self.stack.addWidget(page)
        yield from page.making
        yield from self._style(page)
        showing = TrainShowing(self.session, page, self)
        yield
        page.bar.switch.picked.connect(self.show_room)
        page.bar.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        showing.commanded.connect(lambda name: self.commanded.emit(COMMANDS[name]))
        self.waiting.told.connect(page.bar.set_words)
        self.session.left_alone.connect(page.leave_alone)
        page.leave_alone(self.session.look.alone)
        self._look.changed.connect(showing.follow)
        showing.follow(self._look.theme())
        yield
        yield from showing.catch_up()
        self._made.append((page, showing))
        if self.room == "training":
            self._turn_to(self.room)

    def _style(self, page: "TrainingRoom") -> Iterator[None]:
        """Apply the style to each widget before all of them become visible at once."""
        for part in page.themed():
            self._look.add(part)
            yield
        for widget in page.findChildren(QWidget):
            if shiboken6.isValid(widget):
                widget.ensurePolished()
                yield

    def _tape(self, message: StepTape) -> None:
        self.taped.emit(message)

    def _export(self, message: Exported) -> None:
        if message.problem is not None:
            self.said.emit(message.problem.message)
        else:
            self.exported.emit(message)

    def views(self) -> tuple[str, ...]:
        """Return the titles of the visible views of the training page."""
        return tuple(self.widgets.seen()) if self.is_whole and self.room == "training" else ()

    def draw(self, view: str = "") -> QImage:
        """Return an image of the training page, or of the view with the title ``view``."""
        if not self.is_whole:
            raise Refused("The training page has not been opened yet")
        self._paint.let_go()
        for filling in (self.showing.offering, self.showing.following):
            filling.finish()
        if not view:
            return self.widgets.grab().toImage()
        shown = self.widgets.seen().get(view)
        if shown is None:
            raise Refused(f"{view} is not open")
        # Sharp in print, and on the background of its panel, as views are transparent.
        image = QImage(shown.size() * SHARP, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(SHARP)
        image.fill(self._look.theme().panel)
        shown.render(image, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)
        return image

    def settle(self) -> bool:
        """Wait until everything is written. Returns False once, with a message, if it is not."""
        if not self.writing.finish():
            return False
        name, before = self.saving.awaited, self._awaited
        self._awaited = name
        if name and name != before:
            self.said.emit(f"{name} is still being saved: close once more to leave without it")
            return False
        return True

    def close(self) -> None:
        """End the training engine."""
        self._making.stop()
        if self._keeping is not None:
            self._keeping.close()
        if self.is_whole:
            self.showing.live.close()
        self.writing.finish()
        self.saving.close()
        self.revival.close()
        self.session.close()


COMMANDS = {
    "examples": "train.start_from",
    "play": "play.toggle",
    "step": "play.step",
    "reset": "play.reset",
    "line": "train.line",
    "fork": "train.fork",
    "new_weights": "train.new_weights",
    "new_data": "train.new_data",
    "tape": "train.tape",
    "export_script": "train.export_script",
    "export_setup": "train.export_setup",
    "export_csv": "train.export_csv",
    "export_weights": "train.export_weights",
    "export_picture": "train.export_picture",
}
"""The commands of the buttons of the training page."""
