"""Messages of the notification bar."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Notice:
    """A message in the notification bar. A later notice with the same ``key`` replaces it."""

    key: str
    text: str
    choices: tuple[tuple[str, Callable[[], None]], ...] = ()
    """Labels and actions, the best first. The notice is closed by any choice."""
    more: str = ""
    """Further details, shown as the tooltip."""


class NoticeActions(Protocol):
    """The notification bar, as the rest of the program uses it."""

    def post(self, notice: Notice) -> None:
        """Show a notice after those that wait."""

    def show_now(self, notice: Notice) -> None:
        """Show a notice at once."""

    def drop(self, key: str) -> None:
        """Remove the notice with that key."""
