"""Windows with big tensors: opened from the inspector, moved with the playback."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gradscribe.engine.protocol.regions import ReadRegion, Region, local_region
from gradscribe.engine.protocol.structs import replace
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.open_windows import bring_to_front
from gradscribe.widgets.charts.preload import ChartImport
from gradscribe.widgets.inspector.panes import titles

if TYPE_CHECKING:
    from gradscribe.app.document.session import Session
    from gradscribe.app.ui.theming import Theming
    from gradscribe.widgets.charts.tensor_window import TensorWindow
    from gradscribe.widgets.inspector.inspector import Inspector
    from gradscribe.widgets.inspector.panes.page import InspectorPage

EARLIER = tr("The program was run again: the numbers of the earlier run are gone")
NOT_RECORDED = tr("The engine has restarted: the numbers are gone. Run the program again")


@dataclass(eq=False)
class _Shown:
    """A window, what it shows, and the inspector's page at that moment."""

    window: TensorWindow
    page: InspectorPage
    waiting: dict[int, ReadRegion] = field(default_factory=dict)
    """Requests of the window by the serial they were sent with."""


class TensorWindows(QObject):
    """Opens a window for the inspector's tensor, and answers what the windows ask for.

    A window stays with its value and side; it shows them at the position of the playback.
    """

    def __init__(
        self, session: Session, inspector: Inspector, look: Theming, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session, self._inspector, self._look = session, inspector, look
        self._open: list[_Shown] = []
        self._serial = 0
        self._library = ChartImport(self)
        inspector.tensor_requested.connect(self.open)
        inspector.page_changed.connect(self._follow)
        session.numbers.region_read.connect(self._take)
        session.result_changed.connect(self._notice_engine)
        look.changed.connect(self._dress)

    @property
    def windows(self) -> list[TensorWindow]:
        """The open windows, the oldest first."""
        return [shown.window for shown in self._open]

    def can_open(self) -> bool:
        """Return whether the inspector shows a tensor."""
        return self._inspector.page().value is not None

    def open(self) -> None:
        """Open a window with the inspector's tensor, once pyqtgraph is imported."""
        page = self._inspector.page()
        if page.value is not None:
            self._library.call(lambda: self._make(page))

    def _make(self, page: InspectorPage) -> None:
        # Imported here: it imports pyqtgraph.
        from gradscribe.widgets.charts.tensor_window import TensorWindow

        for other in self._open:
            if _shows(other, page):
                bring_to_front(other.window)
                return
        window = TensorWindow(self._inspector.window())
        shown = _Shown(window, page)
        self._open.append(shown)
        window.set_theme(self._look.theme())
        window.wanted.connect(lambda request: self._answer(shown, request))
        window.follow_changed.connect(lambda _on: self._update(shown))
        window.destroyed.connect(lambda: self._open.remove(shown))
        # Shown first: the numbers are those that fit its pixels.
        window.show()
        self._show(shown)

    def _follow(self) -> None:
        for shown in self._open:
            self._update(shown)

    def _update(self, shown: _Shown) -> None:
        """Bring a window to the position of the playback, if it follows."""
        now, page = self._inspector.page(), shown.page
        if now.serial != page.serial:
            if not _is_same_value(now, page):
                shown.window.show_tensor(None, EARLIER)
                return
        elif not shown.window.follow.isChecked():
            return
        shown.page = _at(now, page)
        self._show(shown)

    def _show(self, shown: _Shown) -> None:
        from gradscribe.widgets.charts.tensor import TensorSubject

        page, window = shown.page, shown.window
        number, snapshot = page.snapshot_number(page.side), page.snapshot()
        title = titles.title(page)[0] + (" · gradient" if page.side == "gradient" else "")
        if number is None or snapshot is None or page.tape is None:
            window.setWindowTitle(title)
            window.title.say(title)
            at = (
                tr("at the start")
                if not page.position
                else tr("after event {position:,}", position=page.position)
            )
            window.show_tensor(None, f"{titles.absence_reason(page)} ({at})")
            return
        moment = tr(
            "event {position:,} of {events_count:,}",
            position=page.position,
            events_count=len(page.tape.events),
        )
        window.show_tensor(
            TensorSubject(number, snapshot.shape, snapshot.dtype, title, moment, page.serial)
        )

    # Requests

    def _answer(self, shown: _Shown, request: ReadRegion) -> None:
        """Answer from the tape if the numbers are there, else ask the engine."""
        page = shown.page
        if page.serial != self._inspector.page().serial or page.tape is None:
            self._fail(shown, request, EARLIER)
            return
        snapshot = page.fetched.get(request.snapshot) or page.tape.snapshots[request.snapshot]
        array = snapshot.array()
        if array is not None:
            shown.window.show_region(local_region(request, array))
            return
        self._serial += 1
        shown.waiting[self._serial] = request
        self._session.numbers.read_region(replace(request, serial=self._serial))

    def _take(self, region: Region) -> None:
        for shown in self._open:
            request = shown.waiting.pop(region.serial, None)
            if request is not None and request.snapshot == region.snapshot:
                shown.window.show_region(replace(region, serial=request.serial))

    def _fail(self, shown: _Shown, request: ReadRegion, why: str) -> None:
        head = (request.run_id, request.snapshot, request.serial, (0, 0, 0, 0))
        shown.window.show_region(Region(*head, problem=why))

    def _notice_engine(self) -> None:
        """Fail what will not be answered any more, after the engine has gone."""
        if self._session.result.engine == "starting":
            for shown in self._open:
                requests, shown.waiting = list(shown.waiting.values()), {}
                for request in requests:
                    self._fail(shown, request, NOT_RECORDED)

    def _dress(self) -> None:
        for shown in self._open:
            shown.window.set_theme(self._look.theme())


def _at(now: InspectorPage, page: InspectorPage) -> InspectorPage:
    """Return the page of a window at the inspector's tape and position."""
    return dataclasses.replace(now, selection=page.selection, side=page.side)


def _is_same_value(now: InspectorPage, page: InspectorPage) -> bool:
    """Return whether another tape has the same value: of the same name, shape and kind."""
    new, old = _at(now, page).value, page.value
    if new is None or old is None:
        return False
    return (new.name, new.shape, new.dtype, new.role) == (old.name, old.shape, old.dtype, old.role)


def _shows(shown: _Shown, page: InspectorPage) -> bool:
    """Return whether a window shows the page's tensor; a held window shows another moment of it."""
    other = shown.page
    if shown.window.isHidden() or other.side != page.side or other.serial != page.serial:
        return False
    if page.value is None or other.value is None or page.value.id != other.value.id:
        return False
    now, then = page.snapshot_number(page.side), other.snapshot_number(other.side)
    return shown.window.follow.isChecked() or now == then
