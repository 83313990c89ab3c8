"""Homes of panels: their places in the usual arrangement, which they leave and return to."""

from typing import Protocol

from PySide6.QtWidgets import QBoxLayout, QSplitter, QTabWidget, QWidget

from gradscribe.app.ui.layout import Panel
from gradscribe.widgets.base.tabs import PanelTabs


class PanelHome(Protocol):
    """The place of a panel in the usual arrangement."""

    content: QWidget

    def take(self) -> QWidget:
        """Take the panel out, and return what a dock is to show."""

    def put_back(self) -> None:
        """Put the panel back in its place."""

    def set_shown(self, shown: bool) -> None:
        """Note whether the panel is in view while it is out."""

    def name(self) -> str:
        """Return the name of the panel as the user reads it."""

    def title(self) -> str:
        """Return the title of the panel: its name, and counts perhaps."""

    def tip(self) -> str:
        """Return the tip of the title; empty if there is none."""


class SplitterHome:
    """A part of a splitter, between the parts that it had next to it."""

    def __init__(self, splitter: QSplitter, content: QWidget, title: str) -> None:
        self.content = content
        self._splitter, self._title = splitter, title
        found = map(splitter.widget, range(splitter.count()))
        self._order = [part for part in found if part is not None]
        self._sizes: list[int] = []

    def take(self) -> QWidget:
        """Take the part out; its size is remembered."""
        self._sizes = self._splitter.sizes()
        return self.content

    def put_back(self) -> None:
        """Insert the part where it was."""
        after = self._order[self._order.index(self.content) + 1 :]
        places = (at for part in after if (at := self._splitter.indexOf(part)) >= 0)
        self._splitter.insertWidget(next(places, self._splitter.count()), self.content)
        if len(self._sizes) == self._splitter.count() and any(self._sizes):
            self._splitter.setSizes(self._sizes)

    def set_shown(self, shown: bool) -> None:
        """Do nothing: the panel is filled at any time."""

    def name(self) -> str:
        """Return the title of the panel."""
        return self._title

    def title(self) -> str:
        """Return the title of the panel."""
        return self._title

    def tip(self) -> str:
        """Return nothing."""
        return ""


class BoxHome:
    """The place at the end of a column or row."""

    def __init__(self, box: QBoxLayout, content: QWidget, title: str, stretch: int = 1) -> None:
        self.content = content
        self._box, self._title, self._stretch = box, title, stretch

    def take(self) -> QWidget:
        """Take the panel out."""
        self._box.removeWidget(self.content)
        return self.content

    def put_back(self) -> None:
        """Append the panel."""
        self._box.addWidget(self.content, self._stretch)

    def set_shown(self, shown: bool) -> None:
        """Do nothing: the panel is filled at any time."""

    def name(self) -> str:
        """Return the title of the panel."""
        return self._title

    def title(self) -> str:
        """Return the title of the panel."""
        return self._title

    def tip(self) -> str:
        """Return nothing."""
        return ""


class TabHome:
    """A tab; outside of the tabs the page has a frame of its own."""

    def __init__(self, tabs: PanelTabs, content: QWidget) -> None:
        self.content = content
        self.tabs = tabs
        self._frame: Panel | None = None

    def take(self) -> QWidget:
        """Take the page out, and return it in a frame."""
        self.tabs.take_out(self.content)
        self._frame = Panel(self.content, self.name())
        self.content.show()
        return self._frame

    def put_back(self) -> None:
        """Make the page a tab again."""
        self.tabs.put_back(self.content)
        self.leave_frame()

    def leave_frame(self) -> None:
        """Delete the frame, which the page has left."""
        if self._frame is not None:
            self._frame.deleteLater()
            self._frame = None

    def set_shown(self, shown: bool) -> None:
        """Let the page's owner fill it while it is in view."""
        self.tabs.set_shown(self.content, shown)

    def name(self) -> str:
        """Return the title that the tab had at first."""
        return self.tabs.name_of(self.content)

    def title(self) -> str:
        """Return the title of the tab."""
        return self.tabs.title_of(self.content)

    def tip(self) -> str:
        """Return the tip of the tab."""
        return self.tabs.tabToolTip(self.tabs.indexOf(self.content))


def is_empty(tabs: QTabWidget) -> bool:
    """Return whether all pages of these tabs stand elsewhere."""
    return tabs.count() == 0
