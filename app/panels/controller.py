"""Control of the panels of a window: moves of the panel with the keyboard, and named layouts."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QByteArray, QObject, QPoint, Signal
from PySide6.QtWidgets import QApplication, QWidget

from gradscribe.app.files.checksummed import DamagedFile, NewerVersion
from gradscribe.app.files.documents import Refused
from gradscribe.app.files.settings import Settings
from gradscribe.app.panels import layout_file
from gradscribe.app.panels.area import PanelArea
from gradscribe.app.panels.handles import PanelHandle
from gradscribe.app.panels.layout_file import AreaLayout, WindowLayout
from gradscribe.app.panels.layout_store import LayoutStore, StoredLayout
from gradscribe.playback.translation import tr
from gradscribe.widgets.base import menus

FLAGS = ("left", "below", "right")
"""Settings that show and hide parts of the program's page."""
SHAPE = "panels"
"""Name of the layout that the next start begins with, in the settings."""

Move = tuple[str, Callable[[], None]]
"""Title of a move of a panel, and what performs it."""


class Panels(QObject):
    """The panels of all pages of a window."""

    changed = Signal()
    said = Signal(str)

    def __init__(self, settings: Settings, current: Callable[[], str], parent: QObject) -> None:
        """Control no page yet; ``current`` returns the name of the visible one."""
        super().__init__(parent)
        self._settings, self._current = settings, current
        self._areas: dict[str, PanelArea] = {}
        self._focused: dict[str, str] = {}
        """The panel of each page that had the keyboard last."""
        self._handles: list[PanelHandle] = []
        self._later: dict[str, AreaLayout] = {}
        """Layouts of pages that are not built yet."""
        folder = settings.folder
        self.store = LayoutStore(folder / "layouts" if folder is not None else None)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._note_focus)

    def add_area(self, page: str, area: PanelArea) -> None:
        """Control the panels of a page, too."""
        self._areas[page] = area
        area.changed.connect(self._follow)
        area.noticed.connect(self.said)
        area.menu_requested.connect(partial(self._pop_up, area))
        layout = self._later.pop(page, None)
        if layout is not None:
            area.restore(layout)

    @property
    def area(self) -> PanelArea | None:
        """The area of the visible page; None until it is built."""
        return self._areas.get(self._current())

    def current(self) -> str:
        """Return the panel with the keyboard, or that had it last; empty if there is none."""
        area = self.area
        name = self._focused.get(self._current(), "")
        return name if area is not None and name in area.names() else ""

    def _note_focus(self, _before: QWidget | None, now: QWidget | None) -> None:
        for page, area in self._areas.items():
            name = area.panel_at(now)
            if name and now is not None and not isinstance(now.parent(), PanelHandle):
                self._focused[page] = name

    # Moves

    def moves(self, name: str = "") -> list[Move]:
        """Return what can be done with a panel, that with the keyboard by default."""
        area, name = self.area, name or self.current()
        if area is None or not name:
            return []
        made: list[Move] = []
        if not area.is_floating(name):
            text = tr("{panel} in a window of its own", panel=area.title(name))
            made.append((text, partial(area.float_panel, name)))
        made += _sides(area, name)
        if area.is_out(name):
            made += _sizes(area, name)
            text = tr("{panel} back in its place", panel=area.title(name))
            made.append((text, partial(area.put_back, name)))
        text = tr("Hide {panel}", panel=area.title(name))
        made.append((text, partial(area.hide_panel, name)))
        for other in area.names():
            if other != name and area.is_out(other) and not area.is_hidden(other):
                titles = {"panel": area.title(name), "other": area.title(other)}
                text = tr("{panel} as a tab of {other}", **titles)
                made.append((text, partial(area.tab_panel, name, other)))
        return made

    def toggle(self, name: str) -> None:
        """Show a panel that is hidden, or hide it."""
        area = self.area
        if area is not None and area.is_hidden(name):
            area.show_panel(name)
        elif area is not None:
            area.hide_panel(name)

    def _pop_up(self, area: PanelArea, name: str, below: QWidget) -> None:
        if area is self.area:
            at = below.mapToGlobal(QPoint(0, below.height()))
            menus.pop_up(below, at, self.moves(name))

    def set_quiet(self, quiet: bool, stays: Callable[[str], bool]) -> None:
        """Show only panels that stay, of those docked at the program's page, or all again."""
        if "program" in self._areas:
            self._areas["program"].set_quiet(stays if quiet else None)

    # Handles

    @property
    def is_arranging(self) -> bool:
        """True while panels have handles."""
        return bool(self._handles)

    def set_arranging(self, on: bool) -> None:
        """Give every panel a handle to drag it by, or none."""
        for handle in self._handles:
            handle.hide()
            handle.deleteLater()
        self._handles = []
        area = self.area
        if on and area is not None:
            for name in area.names():
                if not area.is_out(name):
                    self._handles.append(self._make_handle(area, name))
        self.changed.emit()

    def _make_handle(self, area: PanelArea, name: str) -> PanelHandle:
        handle = PanelHandle(area.content(name), area.title(name))
        handle.torn.connect(partial(self._tear, area, name))
        handle.menu_requested.connect(partial(self._pop_up, area, name))
        return handle

    def _tear(self, area: PanelArea, name: str, press: QPoint, at: QPoint) -> None:
        area.begin_drag(name, press, at)

    def _follow(self) -> None:
        if self.is_arranging:
            self.set_arranging(True)
        self.changed.emit()

    # Layouts

    def layout_now(self, name: str = "") -> WindowLayout:
        """Return the arrangement of all pages."""
        areas = {page: area.layout_now() for page, area in self._areas.items()}
        flags = {key: self._settings.flag(key) for key in FLAGS}
        return WindowLayout(name=name, areas=self._later | areas, flags=flags)

    def save(self, name: str) -> None:
        """Store the arrangement under a name. Raises `Refused`."""
        self.store.save(self.layout_now(name.strip()))
        self.said.emit(tr("The layout is saved as {name}", name=name.strip()))

    def choose(self, stored: StoredLayout) -> None:
        """Arrange everything as in a stored layout. Raises `Refused`."""
        if stored.layout is None:
            raise Refused(
                tr("{path} cannot be read: {reason}", path=stored.path, reason=stored.trouble)
            )
        self._restore(stored.layout)

    def reset(self) -> None:
        """Arrange everything as in a new window."""
        self._later = {}
        for area in self._areas.values():
            area.reset()
        for key in FLAGS:
            self._settings.put(key, True)
        self.said.emit(tr("The layout is that of a new window"))

    def _restore(self, layout: WindowLayout) -> None:
        for key in FLAGS:
            if key in layout.flags:
                self._settings.put(key, layout.flags[key])
        self._later = {}
        for page, arranged in layout.areas.items():
            if page in self._areas:
                self._areas[page].restore(arranged)
            else:
                self._later[page] = arranged

    def remember(self) -> None:
        """Store the arrangement for the next start."""
        now = self.layout_now()
        is_usual = not any(area.out for area in now.areas.values())
        data = b"" if is_usual else layout_file.encode(now)
        if data or not self._settings.shape(SHAPE).isEmpty():
            self._settings.put_shape(SHAPE, QByteArray(data))

    def recall(self) -> None:
        """Arrange the panels as they were at the last end; say so if that cannot be read."""
        data = bytes(self._settings.shape(SHAPE).data())
        if not data:
            return
        try:
            layout = layout_file.decode(data)
        except (DamagedFile, NewerVersion) as error:
            self.said.emit(tr("The panels are in their usual places: {reason}", reason=error))
            return
        # The gutters and the columns that are shown are settings of their own.
        for page, arranged in layout.areas.items():
            if page in self._areas:
                self._areas[page].restore(arranged)
            else:
                self._later[page] = arranged


def _sides(area: PanelArea, name: str) -> list[Move]:
    panel = area.title(name)
    return [
        (tr("{panel} to the left", panel=panel), partial(area.dock_panel, name, "left")),
        (tr("{panel} to the right", panel=panel), partial(area.dock_panel, name, "right")),
        (tr("{panel} to the top", panel=panel), partial(area.dock_panel, name, "top")),
        (tr("{panel} to the bottom", panel=panel), partial(area.dock_panel, name, "bottom")),
    ]


def _sizes(area: PanelArea, name: str) -> list[Move]:
    panel = area.title(name)
    return [
        (tr("{panel} wider", panel=panel), partial(area.resize_panel, name, 1, 0)),
        (tr("{panel} narrower", panel=panel), partial(area.resize_panel, name, -1, 0)),
        (tr("{panel} higher", panel=panel), partial(area.resize_panel, name, 0, 1)),
        (tr("{panel} lower", panel=panel), partial(area.resize_panel, name, 0, -1)),
    ]
