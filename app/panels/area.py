"""The area of a page in which panels are arranged: the usual arrangement, and docks around it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, Protocol

from PySide6.QtCore import QByteArray, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QMouseEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QTabWidget, QWidget

from gradscribe.app.panels.dock import PanelDock
from gradscribe.app.panels.homes import PanelHome, TabHome
from gradscribe.app.panels.layout_file import AreaLayout
from gradscribe.app.ui.layout import GUTTER
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.tabs import PanelTabs

VERSION = 1
"""Version of the panels' names: docks of another version are not restored."""
LEAST_SEEN = 40
"""Pixels of a window's title that are on a screen at least, in both directions."""
OFFSET = QPoint(60, 60)
"""Place of a panel's first window, from the corner of the area."""
WINDOW_SIZE = QSize(480, 360)
"""Size of a panel's first window at least."""
MOST_SHARE = 3
"""A panel that is docked takes at most this part of the width or height, until it is resized."""
STEP = 40
"""Pixels by which a command makes a dock wider or narrower."""

Side = Literal["left", "right", "top", "bottom"]
_AREAS = {
    "left": Qt.DockWidgetArea.LeftDockWidgetArea,
    "right": Qt.DockWidgetArea.RightDockWidgetArea,
    "top": Qt.DockWidgetArea.TopDockWidgetArea,
    "bottom": Qt.DockWidgetArea.BottomDockWidgetArea,
}


class UsualArrangement(Protocol):
    """The arrangement that panels are in until the user moves them."""

    def refit(self, places: Mapping[str, bool]) -> bool:
        """Fit to the panels that are in their places (True) or elsewhere (False).

        Returns whether there is anything left to show.
        """

    def set_margin(self, pixels: int) -> None:
        """Leave so much space around the arrangement."""

    def gutters(self) -> dict[str, bytes]:
        """Return the places of the gutters."""

    def restore_gutters(self, gutters: Mapping[str, bytes]) -> None:
        """Restore the places of the gutters; those that do not fit stay as they are."""

    def reset(self) -> None:
        """Give every gutter its first place."""


class PanelArea(QMainWindow):
    """Docks around an arrangement; as long as no panel is moved, that arrangement alone."""

    changed = Signal()
    """A panel was moved, hidden or shown."""
    menu_requested = Signal(str, object)
    """Open the menu of the panel with that name below a widget."""
    noticed = Signal(str)
    """Carries a line about what could not be restored."""

    def __init__(self, usual: QWidget, arrangement: UsualArrangement) -> None:
        super().__init__()
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        options = QMainWindow.DockOption
        self.setDockOptions(options.AllowNestedDocks | options.AllowTabbedDocks)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.setDocumentMode(True)
        self.setCentralWidget(usual)
        self._usual, self._arrangement = usual, arrangement
        self._homes: dict[str, PanelHome] = {}
        self._docks: dict[str, PanelDock] = {}
        self._stays: Callable[[str], bool] | None = None
        """Returns whether a panel stays while presenting; None while not presenting."""
        self._focus: QWidget | None = None
        """The widget of the panel that is being moved that had the keyboard."""
        self._awaited: set[str] = set()
        """Panels of the restored layout that do not exist yet."""
        self._awaited_closed: frozenset[str] = frozenset()
        self._wanted: AreaLayout | None = None
        """Layout to restore once the size of the area is known."""
        app = QApplication.instance()
        if isinstance(app, QGuiApplication):
            app.screenRemoved.connect(self._bring_back)

    # Panels

    def add(self, name: str, home: PanelHome) -> None:
        """Let a panel be arranged."""
        self._homes[name] = home
        if name in self._awaited:
            self._awaited.discard(name)
            dock = self._take_out(name)
            dock.is_closed = name in self._awaited_closed
            if not self.restoreDockWidget(dock):
                self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
            self._follow(dock)

    def add_tabs(self, tabs: PanelTabs) -> None:
        """Let every page of these tabs be arranged, those that are added later, too.

        A page has the object name that the panel is known by.
        """
        for page in tabs.pages_in_order():
            self.add(page.objectName(), TabHome(tabs, page))
        tabs.page_added.connect(lambda page: self.add(page.objectName(), TabHome(tabs, page)))
        tabs.page_removed.connect(lambda page: self._forget(page.objectName()))
        tabs.page_wanted.connect(lambda page: self.show_panel(page.objectName()))
        tabs.page_named.connect(lambda page: self._rename(page.objectName()))

    def names(self) -> list[str]:
        """Return the names of all panels, in the order in which they were added."""
        return list(self._homes)

    def title(self, name: str) -> str:
        """Return the title of a panel."""
        return self._homes[name].name()

    def panel_at(self, widget: QWidget | None) -> str:
        """Return the name of the innermost panel that contains a widget; empty if none does."""
        contents = {home.content: name for name, home in self._homes.items()}
        while widget is not None:
            if widget in contents:
                return contents[widget]
            if isinstance(widget, PanelDock) and widget.objectName() in self._docks:
                return widget.objectName()
            widget = widget.parentWidget()
        return ""

    def content(self, name: str) -> QWidget:
        """Return the widget of a panel."""
        return self._homes[name].content

    def is_out(self, name: str) -> bool:
        """Return whether a panel has left its place."""
        return name in self._docks

    def is_hidden(self, name: str) -> bool:
        """Return whether the user has hidden a panel."""
        return name in self._docks and self._docks[name].is_closed

    def is_floating(self, name: str) -> bool:
        """Return whether a panel has a window of its own."""
        return name in self._docks and self._docks[name].isFloating()

    # Moves

    def float_panel(self, name: str, at: QPoint | None = None) -> None:
        """Give a panel a window of its own, at a global point."""
        size = self._homes[name].content.size().expandedTo(WINDOW_SIZE)
        was_out = name in self._docks
        dock = self._open(name)
        if not was_out:
            self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        dock.setFloating(True)
        dock.resize(size.boundedTo(dock.screen().availableSize()))
        dock.move(at if at is not None else self.mapToGlobal(OFFSET))
        self._finish(dock)

    def dock_panel(self, name: str, side: Side) -> None:
        """Dock a panel at a side of the page."""
        size = self._homes[name].content.size()
        dock = self._open(name)
        dock.setFloating(False)
        self.addDockWidget(_AREAS[side], dock)
        is_across = side in ("left", "right")
        way = Qt.Orientation.Horizontal if is_across else Qt.Orientation.Vertical
        most = (self.width() if is_across else self.height()) // MOST_SHARE
        self.resizeDocks([dock], [min(most, size.width() if is_across else size.height())], way)
        self._finish(dock)

    def tab_panel(self, name: str, other: str) -> None:
        """Show a panel as a tab of another one, which is docked if it was in its place."""
        if other not in self._docks or self._docks[other].is_closed or self.is_floating(other):
            self.dock_panel(other, "right")
        dock = self._open(name)
        dock.setFloating(False)
        self.addDockWidget(self.dockWidgetArea(self._docks[other]), dock)
        self.tabifyDockWidget(self._docks[other], dock)
        self._finish(dock)

    def hide_panel(self, name: str) -> None:
        """Hide a panel, until it is shown again from the menu, the palette or a command."""
        if name not in self._docks:
            self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self._take_out(name))
            self._docks[name].is_returning = True
        dock = self._docks[name]
        dock.is_closed = True
        self._follow(dock)
        self._settle()
        text = tr("{panel} is hidden: View › Panels shows it again", panel=self.title(name))
        self.noticed.emit(text)

    def show_panel(self, name: str) -> None:
        """Show a panel where it was, in front."""
        dock = self._docks.get(name)
        if dock is not None and dock.is_closed and dock.is_returning:
            self.put_back(name)
        elif dock is not None:
            self._finish(self._open(name))
        home = self._homes[name]
        if isinstance(home, TabHome) and not self.is_out(name):
            home.tabs.setCurrentWidget(home.content)

    def put_back(self, name: str) -> None:
        """Put a panel back in its place in the usual arrangement."""
        focus = self._focus_in(name)
        dock = self._docks.pop(name, None)
        if dock is None:
            return
        was_closed = dock.is_closed
        self._homes[name].content.removeEventFilter(dock)
        if was_closed:
            dock.home.set_shown(False)
        self._homes[name].put_back()
        self.removeDockWidget(dock)
        dock.release()
        self._settle()
        if focus is not None:
            focus.setFocus()

    def resize_panel(self, name: str, wider: int, higher: int) -> None:
        """Make a docked panel wider and higher by so many steps; one in a window as well."""
        dock = self._docks.get(name)
        if dock is None or dock.is_closed:
            return
        width, height = dock.width() + STEP * wider, dock.height() + STEP * higher
        if dock.isFloating():
            dock.resize(width, height)
            return
        if wider:
            self.resizeDocks([dock], [max(1, width)], Qt.Orientation.Horizontal)
        if higher:
            self.resizeDocks([dock], [max(1, height)], Qt.Orientation.Vertical)

    def reset(self) -> None:
        """Put every panel back, with the gutters where they were at first."""
        self._empty()
        self._arrangement.reset()
        self.changed.emit()

    def begin_drag(self, name: str, press: QPoint, at: QPoint) -> None:
        """Tear a panel out of its place and let the mouse, pressed at a global point, carry it.

        ``press``: point in the title of the panel. From here on Qt moves and docks it.
        """
        self.float_panel(name, at - press)
        dock = self._docks[name]
        button, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        for kind, place in (
            (QMouseEvent.Type.MouseButtonPress, press),
            (QMouseEvent.Type.MouseMove, press + QPoint(QApplication.startDragDistance() + 1, 1)),
        ):
            event = QMouseEvent(kind, place, at + place - press, button, button, none)
            QApplication.sendEvent(dock, event)

    def set_quiet(self, stays: Callable[[str], bool] | None) -> None:
        """Show only panels that stay, of those that are docked, without titles; None: all again.

        Windows stay: they may be on the screen that the audience does not see.
        """
        self._stays = stays
        for dock in self._docks.values():
            self._fit_title(dock)
            self._follow(dock)

    def _follow(self, dock: PanelDock) -> None:
        stays = self._stays is None or self._stays(dock.objectName())
        dock.is_quiet = not (stays or dock.isFloating())
        dock.follow_content()

    # Layouts

    def layout_now(self) -> AreaLayout:
        """Return the arrangement as it is now; one that waits to be restored as it is."""
        if self._wanted is not None:
            return self._wanted
        return AreaLayout(
            out=(*self._docks, *sorted(self._awaited)),
            closed=tuple(name for name, dock in self._docks.items() if dock.is_closed),
            docks=bytes(self.saveState(VERSION).data()) if self._docks else b"",
            gutters=self._arrangement.gutters(),
        )

    def restore(self, layout: AreaLayout) -> None:
        """Arrange the panels as they were; what is not known is left out.

        An area that is not visible yet does so when it is: it has no size before.
        """
        if not self.isVisible():
            self._wanted = layout
            return
        self._wanted = None
        self._empty()
        self._arrangement.restore_gutters(layout.gutters)
        known = [name for name in layout.out if name in self._homes]
        self._awaited = {name for name in layout.out if name not in self._homes}
        self._awaited_closed = frozenset(layout.closed)
        for name in known:
            dock = self._take_out(name)
            self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
            dock.is_closed = name in layout.closed
        if layout.out and not self.restoreState(QByteArray(layout.docks), VERSION):
            self.noticed.emit(
                tr("The places of moved panels cannot be restored: they stand at the right")
            )
        for dock in self._docks.values():
            self._follow(dock)
        self._settle()
        self._bring_back()

    def showEvent(self, happened: QShowEvent) -> None:
        """Restore the layout, now that there is a size to restore it in; called by Qt."""
        super().showEvent(happened)
        if self._wanted is not None:
            self.restore(self._wanted)
            QTimer.singleShot(0, self, self._map_windows_again)

    def _map_windows_again(self) -> None:
        """Show the panels' windows once more, now that the main window is on the screen.

        A window manager of X11 that sees them before the main window puts that on top of them.
        """
        for dock in self._docks.values():
            if dock.isFloating() and dock.isVisible():
                dock.hide()
                dock.show()

    def _bring_back(self, *_: object) -> None:
        """Move windows of panels that are on no screen, as of one that was unplugged."""
        for name, dock in self._docks.items():
            if dock.isFloating() and not is_on_a_screen(dock.frameGeometry()):
                screen = self.window().screen().availableGeometry()
                dock.resize(dock.size().boundedTo(screen.size()))
                dock.move(screen.center() - dock.rect().center())
                text = tr(
                    "{panel} was on a screen that is not there: it is on this one now",
                    panel=self.title(name),
                )
                self.noticed.emit(text)

    # Docks

    def _open(self, name: str) -> PanelDock:
        """Return the dock of a panel, in view from now on."""
        self._focus = self._focus_in(name)
        dock = self._docks.get(name) or self._take_out(name)
        dock.is_closed = dock.is_returning = False
        return dock

    def _focus_in(self, name: str) -> QWidget | None:
        """Return the widget with the keyboard if that is in a panel: a move would take it away."""
        focus = QApplication.focusWidget()
        is_inside = focus is not None and self._homes[name].content.isAncestorOf(focus)
        return focus if is_inside or focus is self._homes[name].content else None

    def _take_out(self, name: str) -> PanelDock:
        home = self._homes[name]
        dock = PanelDock(self, name, home)
        dock.menu_requested.connect(lambda button: self.menu_requested.emit(name, button))
        dock.hidden_by_user.connect(lambda: self.hide_panel(name))
        dock.topLevelChanged.connect(lambda _: self._change_level(dock))
        dock.hold(home.take())
        self._docks[name] = dock
        self._fit_title(dock)
        return dock

    def _finish(self, dock: PanelDock) -> None:
        self._follow(dock)
        dock.raise_()
        self._settle()
        focus, self._focus = self._focus, None
        if focus is not None:
            if dock.isFloating():
                dock.activateWindow()
            focus.setFocus()

    def _forget(self, name: str) -> None:
        """Remove a panel whose page was removed from its tabs."""
        home, dock = self._homes.pop(name, None), self._docks.pop(name, None)
        if dock is not None and home is not None:
            home.content.removeEventFilter(dock)
            home.content.hide()
            home.content.setParent(None)
            self.removeDockWidget(dock)
            dock.release()
            self._awaited.add(name)
            self._settle()

    def _rename(self, name: str) -> None:
        if name in self._docks:
            self._docks[name].refresh_title()

    def _empty(self) -> None:
        self._awaited = set()
        for name in list(self._docks):
            self.put_back(name)

    def _fit_title(self, dock: PanelDock) -> None:
        dock.bar.set_collapsed(not (self._stays is None or dock.isFloating()))

    def _change_level(self, dock: PanelDock) -> None:
        self._fit_title(dock)
        self._settle()

    def refit(self) -> None:
        """Fit the arrangement to what its owner shows in it now."""
        self._settle()

    def _settle(self) -> None:
        """Fit the arrangement to the panels that are left in it."""
        places = {name: name not in self._docks for name in self._homes}
        # Next to docks the gutter between them and the arrangement is Qt's.
        has_docks = any(not (dock.isFloating() or dock.is_closed) for dock in self._docks.values())
        self.setContentsMargins(*(GUTTER if has_docks else 0,) * 4)
        self._arrangement.set_margin(0 if has_docks else GUTTER)
        self._usual.setVisible(self._arrangement.refit(places))
        self.changed.emit()

    def docked(self) -> Iterator[QDockWidget]:
        """Yield the docks of all panels that have left their places."""
        yield from self._docks.values()


def is_on_a_screen(frame: QRect) -> bool:
    """Return whether the title of a window can be reached on a screen that is there."""
    title = QRect(frame.topLeft(), QSize(frame.width(), min(frame.height(), GUTTER * 3)))
    seen = (screen.availableGeometry() & title for screen in QGuiApplication.screens())
    return any(part.width() >= LEAST_SEEN and part.height() > 0 for part in seen)
