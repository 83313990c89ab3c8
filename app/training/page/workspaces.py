"""The workspaces of the window: the program's page, and the training page once it is opened."""

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QImage, QRegion
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from gradscribe.app.files.documents import Refused
from gradscribe.app.files.file_writer import FileWriter
from gradscribe.app.files.unsaved.recovery_offers import RecoveryOffers
from gradscribe.app.link.interpreters import Interpreter
from gradscribe.app.training.saving.recovery import RecoveryContext, TrainRecovery
from gradscribe.app.training.saving.session_store import SessionStore
from gradscribe.app.training.session.busy import BusyIndicator
from gradscribe.app.training.session.engine_restart import RunRestorer
from gradscribe.app.training.session.link import TrainLink
from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.session.state import TrainEngine
from gradscribe.app.training.setup import user_module
from gradscribe.app.ui.notifications import NotificationBar
from gradscribe.app.ui.theming import Theming
from gradscribe.engine.protocol.training import Exported, StepTape
from gradscribe.playback.translation import tr, translated
from gradscribe.widgets.base.focus.ring import OWN_FOCUS
from gradscribe.widgets.base.painting.deferred_paint import DeferredPaint
from gradscribe.widgets.base.time_slices import TimeSlices
from gradscribe.widgets.base.workspace_switch import WorkspaceSwitch
from gradscribe.widgets.charts import preload

if TYPE_CHECKING:
    from gradscribe.app.training.page.page import TrainingPage
    from gradscribe.app.training.page.presenter import TrainPresenter

TURN_MS = 12
"""Longest time that the training page is built in one turn of the event loop."""
REST_MS = 30
"""Pause between two turns while it is built in the background."""
IMAGE_SCALE = 2
"""Scale factor of the image of a single view."""
BELOW_BAR = 2
"""Index in a page's layout below its bar and rule."""
PAGE_MODULES = (
    "gradscribe.widgets.training.bar",
    "gradscribe.widgets.training.setup.sections",
    "gradscribe.widgets.training.setup.setup_form",
    "gradscribe.widgets.training.run_table",
    "gradscribe.widgets.training.setup.file_preview",
    "gradscribe.widgets.training.step_slider",
    "gradscribe.widgets.training.step_graph",
    "gradscribe.app.training.page.page",
    "gradscribe.app.training.page.live_graph",
    "gradscribe.app.training.page.presenter",
)
"""Modules of the training page, imported one at a time after those of its views."""


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
    withdrawn = Signal(str)

    def __init__(
        self,
        page: QWidget,
        switch: WorkspaceSwitch,
        look: Theming,
        make_link: Callable[[], TrainEngine] = TrainLink,
        parent: QObject | None = None,
        strip: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._strip = strip
        self._look, self._switch = look, switch
        self.stack = QStackedWidget()
        self.stack.setProperty(OWN_FOCUS, True)
        self.stack.addWidget(page)
        self._paint = DeferredPaint(self.stack)
        link = make_link()
        self.session = TrainSession(link, self)
        self.writing = FileWriter(self)
        self._awaited = ""
        self.writing.said.connect(self.said)
        self.saving = SessionStore(self.session, link, self.writing, self)
        self.saving.said.connect(self.said)
        self.restorer = RunRestorer(self.session, link, self)
        self.restorer.said.connect(self.said)
        self.saving.resumed.connect(self.restorer.expect)
        self.waiting = BusyIndicator(self.session, link, self)
        self.session.taped.connect(self._tape)
        self.session.exported.connect(self._export)
        self.session.said.connect(self.said)
        self.session.withdrawn.connect(self.withdrawn)
        self._keeping: TrainRecovery | None = None
        self._made: list[tuple[TrainingPage, TrainPresenter]] = []
        """The training page and its presenter; empty until both are complete."""
        self._making = TimeSlices(TURN_MS, self)
        self._making.ended.connect(self.made)
        self.current = "program"
        switch.picked.connect(self.show_workspace)

    def keep(
        self,
        where: Path | None,
        notices: NotificationBar,
        offers: RecoveryOffers,
        save: Callable[[], None],
        use: Callable[[Interpreter], None],
    ) -> None:
        """Save the training session in the folder ``where`` from now on; offer what is there.

        ``use`` lets the document run in a Python, that of an engine that was left running.
        """
        enter = partial(self.show_workspace, "training")
        ways = RecoveryContext(where, notices, offers, enter, save, use)
        self._keeping = TrainRecovery(self.session, self.saving, self.restorer, ways, self)
        self._keeping.offer()

    @property
    def widgets(self) -> "TrainingPage":
        """The training page, built now if necessary."""
        return self._shown()[0]

    @property
    def presenter(self) -> "TrainPresenter":
        """The presenter of the training page, created now if necessary."""
        return self._shown()[1]

    def _shown(self) -> "tuple[TrainingPage, TrainPresenter]":
        if not self.is_whole:
            self._start()
            self._making.finish()
        return self._made[0]

    @property
    def is_whole(self) -> bool:
        """True once the training page is complete."""
        return bool(self._made)

    def report_changed_module(self) -> None:
        """Report on the training page that the program's module differs from the trained one."""
        setup, source = self.session.setup, self.session.controller.source
        if self.current == "training" and user_module.program_module_differs(setup, source):
            self.said.emit(tr("The program's module has changed: train it with Ctrl+Alt+M"))

    def prepare(self) -> None:
        """Build the training page in the background."""
        if not self.is_whole and not self._making.busy:
            self._making.rest_ms = REST_MS
            self._start()
            self._making.go_on()

    def show_workspace(self, name: str) -> None:
        """Go to ``program`` or ``training``; the training page is built when first shown.

        It is built in turns of the event loop, so that the window stays responsive.
        """
        self.current = name
        self._switch.show_workspace(name)
        if name == "training":
            self.session.controller.open()
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
            self._paint.suspend(self._look.prepare())
        self.stack.setCurrentIndex(index)
        self.presenter.set_visible(name == "training")
        self.widgets.bar.switch.show_workspace(name)
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
        yield from preload.steps()
        views = import_module("gradscribe.widgets.plots.views")
        for name in views.module_names():
            import_module(name)
            yield
        for name in PAGE_MODULES:
            import_module(name)
            yield
        from gradscribe.app.training.page.page import TrainingPage
        from gradscribe.app.training.page.presenter import TrainPresenter

        page = TrainingPage(at_once=False)
        # Put in place first: reparenting restyles a widget with all its children.
        self.stack.addWidget(page)
        yield from page.making
        yield from self._style(page)
        showing = TrainPresenter(self.session, page, self)
        yield
        page.bar.switch.picked.connect(self.show_workspace)
        page.bar.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        # It has the keys of the whole page: a ring around it would say nothing.
        page.bar.setProperty(OWN_FOCUS, True)
        showing.commanded.connect(
            lambda name: self.commanded.emit(COMMANDS.get(name, f"train.{name}"))
        )
        self.waiting.told.connect(page.bar.set_words)
        self.session.store.alone_changed.connect(page.set_alone)
        page.set_alone(self.session.store.look.alone)
        self.session.store.graph_column_changed.connect(page.arrangement.set_wanted)
        page.arrangement.set_wanted(self.session.store.look.graph_column)
        self._look.changed.connect(showing.follow)
        showing.follow(self._look.theme())
        yield
        yield from showing.show_existing()
        self._made.append((page, showing))
        if self.current == "training":
            self._turn_to(self.current)

    def _style(self, page: "TrainingPage") -> Iterator[None]:
        """Apply the style to each widget before all of them become visible at once."""
        for part in page.theme_targets():
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
            self.said.emit(translated(message.problem.message))
        else:
            self.exported.emit(message)

    def views(self) -> tuple[str, ...]:
        """Return the titles of the visible views of the training page."""
        return tuple(self.widgets.seen()) if self.is_whole and self.current == "training" else ()

    def draw(self, view: str = "") -> QImage:
        """Return an image of the training page, or of the view with the title ``view``."""
        if not self.is_whole:
            raise Refused(tr("The training page has not been opened yet"))
        self._paint.resume()
        for filling in (self.presenter.offering, self.presenter.following):
            filling.finish()
        if not view:
            return self.widgets.grab().toImage()
        shown = self.widgets.seen().get(view)
        if shown is None:
            raise Refused(tr("{view} is not open", view=view))
        # Sharp in print, and on the background of its panel, as views are transparent.
        image = QImage(shown.size() * IMAGE_SCALE, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(IMAGE_SCALE)
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
            self.said.emit(
                tr("{name} is still being saved: close once more to leave without it", name=name)
            )
            return False
        return True

    def close(self) -> None:
        """End the training engine."""
        self._making.stop()
        if self._keeping is not None:
            self._keeping.close()
        if self.is_whole:
            self.presenter.live.close()
        self.writing.finish()
        self.saving.close()
        self.restorer.close()
        self.session.close()


COMMANDS = {
    "examples": "train.start_from",
    "play": "play.toggle",
    "step": "play.step",
    "reset": "play.reset",
}
"""The commands of the buttons of the training page that are not named ``train.BUTTON``."""
