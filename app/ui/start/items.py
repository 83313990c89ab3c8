"""Contents of the start page: sections of items, each of which opens something."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from gradscribe.widgets.base.theme import Theme


@dataclass(frozen=True, eq=False)
class StartItem:
    """Something to open, with a sentence about it."""

    title: str
    about: str
    open: Callable[[], None]
    words: str = ""
    """Further words that a search finds it by."""
    picture: Callable[[Theme], QWidget] | None = None
    remove: Callable[[], None] | None = None
    """Removes it from its list; only what is missing offers that."""
    is_missing: bool = False

    def fits(self, words: list[str]) -> bool:
        """Return whether it has all ``words``, which are in lower case."""
        text = f"{self.title} {self.about} {self.words}".casefold()
        return all(word in text for word in words)


@dataclass(frozen=True, eq=False)
class StartSection:
    """A titled list of items; ``show_all`` opens the whole list elsewhere."""

    title: str
    items: list[StartItem]
    show_all: Callable[[], None] | None = None
    empty: str = ""
    """Text while there are no items."""


@dataclass(frozen=True, eq=False)
class StartAction:
    """A button at the top of the page."""

    title: str
    tip: str
    run: Callable[[], None]
