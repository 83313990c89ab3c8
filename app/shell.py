"""The command context: the interfaces of the window that commands use, and its notices.

Commands get these and never a widget, so that each can be tested without a window.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.documents import Draft, Drafts, Refused
from app.playing import Clock
from app.progress import Progress
from app.session import Session
from app.settings import Settings
from app.state import Doc
from app.training.saving import Saving
from app.training.session import TrainSession
from app.writing import Writing
from engine.tape import Tape
from playback.lessons.lesson import Lesson


@dataclass(frozen=True)
class Notice:
    """A message in the notification bar. A later notice with the same ``key`` replaces it."""

    key: str
    text: str
    choices: tuple[tuple[str, Callable[[], None]], ...] = ()
    """Labels and actions, the best first. The notice is closed by any choice."""
    more: str = ""
    """Further details, shown as the tooltip."""


class Text(Protocol):
    """The part of the editor that commands use."""

    def undo(self) -> None:
        """Take back the last change."""

    def redo(self) -> None:
        """Repeat the last change that was undone."""

    def cut(self) -> None:
        """Move the selection to the clipboard."""

    def copy(self) -> None:
        """Copy the selection to the clipboard."""

    def paste(self) -> None:
        """Insert the clipboard."""

    def selectAll(self) -> None:
        """Select everything."""

    def setFocus(self) -> None:
        """Take the focus."""


class Graph(Protocol):
    """The part of the graph that commands use."""

    def fit(self) -> None:
        """Make the whole graph visible."""

    def zoom_by(self, factor: float) -> None:
        """Zoom by a factor."""


class Strip(Protocol):
    """The part of the notification bar that commands use."""

    def tell_first(self, notice: Notice) -> None:
        """Show a notice at once."""

    def drop(self, key: str) -> None:
        """Remove the notice with that key."""


class Watch(Protocol):
    """The part of `app.file_watch` that commands use."""

    def objection(self, path: Path) -> str:
        """Return the reason to confirm writing to ``path``: ``disk``, ``twice`` or empty."""

    def tell_changed(self) -> None:
        """Offer the choice between the text here and the one in the file."""

    def write(
        self, path: Path, doc: Doc, then: Callable[[], None], otherwise: Callable[[Refused], None]
    ) -> None:
        """Write the program to ``path``; ``then`` is called once it is there."""

    def finish(self) -> None:
        """Wait for a write in progress."""

    def saved(self) -> None:
        """Take the file on disk as the base of the text."""


class Keeper(Protocol):
    """The part of `app.keeping` that commands use."""

    @property
    def file(self) -> Watch:
        """Watches the edited file."""

    def recover(self, path: str) -> bool:
        """Restore the work of a crashed window; offer the rest."""

    def put_away(self) -> None:
        """Store the unsaved text as a draft."""

    def find_draft(self, path: str) -> Draft | None:
        """Return the draft of a document."""

    def take_over(self, path: str) -> None:
        """Delete a draft, now edited here, once it is saved here."""


class Learning(Protocol):
    """The part of `app.learning` that commands use."""

    @property
    def lesson(self) -> Lesson | None:
        """The open lesson; None if there is none."""

    @property
    def number(self) -> int:
        """Index of the current step."""

    @property
    def progress(self) -> Progress:
        """The progress in all lessons."""

    def open(
        self, lesson: Lesson, place: str = "", step: int | None = None, foreign: bool = False
    ) -> None:
        """Open a lesson; the programs of a ``foreign`` one wait for the user's consent."""

    def next(self) -> None:
        """Go to the next step."""

    def back(self) -> None:
        """Go to the previous step."""

    def restore(self) -> None:
        """Restore the step's program."""

    def leave(self) -> None:
        """Leave the lesson."""


class Comparer(Protocol):
    """The part of `app.comparing` that commands use."""

    @property
    def kept(self) -> str:
        """Title of the stored run; empty if there is none."""

    def keep(self, tape: Tape, title: str) -> None:
        """Store a tape in place of the previous one."""

    def with_kept(self, tape: Tape, title: str) -> object:
        """Compare the stored tape with this one."""


class Shell(Protocol):
    """The window as commands see it."""

    @property
    def session(self) -> Session:
        """Document, result and view."""

    @property
    def clock(self) -> Clock:
        """The playback clock."""

    @property
    def settings(self) -> Settings:
        """Persistent settings."""

    @property
    def drafts(self) -> Drafts:
        """Drafts of unsaved texts."""

    @property
    def keeping(self) -> Keeper:
        """Autosave and recovery."""

    @property
    def notices(self) -> Strip:
        """The notification bar."""

    @property
    def learning(self) -> Learning:
        """Controller of the open lesson."""

    @property
    def training(self) -> TrainSession:
        """The training page's setup and runs."""

    @property
    def saving(self) -> Saving:
        """Reads and writes training sessions."""

    @property
    def writing(self) -> Writing:
        """Writes files in a worker thread."""

    @property
    def room(self) -> str:
        """Name of the visible page: ``program`` or ``training``."""

    def show_room(self, name: str) -> None:
        """Go to that page."""

    def room_views(self) -> tuple[str, ...]:
        """Return the titles of the open views of the training page."""

    def export_room(self, path: Path, view: str = "") -> None:
        """Write an image of the training page, or of one view of it, to a PNG file.

        Raises:
            Refused: another export is running, or the file cannot be written.
        """

    @property
    def comparing(self) -> Comparer:
        """Stores and compares runs."""

    @property
    def editor(self) -> Text:
        """The editor."""

    @property
    def graph(self) -> Graph:
        """The graph."""

    def module_keys(self) -> frozenset[str]:
        """Return the keys of the visible modules, open or folded."""

    @property
    def is_filming(self) -> bool:
        """True while an export is running."""

    def film(self, path: Path) -> None:
        """Write the playback of the tape to a GIF or MP4 file, in the background."""

    def export(self, path: Path) -> None:
        """Write the graph to a PNG, SVG or DOT file, or the tape to a JSON file."""

    def copy_picture(self) -> None:
        """Put the graph on the clipboard as an image."""

    def cancel_film(self) -> None:
        """Cancel the running export."""

    def unfold(self, depth: int | None = None) -> None:
        """Open modules ``depth`` levels deep, or all inside the visible ones."""

    @property
    def levels(self) -> int:
        """Depth of nested module calls in the shown scene."""

    def zoom_to_selection(self) -> None:
        """Zoom so that the selection fills the view."""

    def ask_open(self, title: str, pattern: str) -> Path | None:
        """Let the user choose a file to open."""

    def ask_save(self, title: str, name: str, pattern: str) -> Path | None:
        """Let the user choose where to write a file."""

    def ask_number(self, title: str, value: int) -> int | None:
        """Let the user change a whole number."""

    def say(self, text: str) -> None:
        """Show a message in the status line."""

    def show_examples(self, room: str = "program") -> None:
        """Open the gallery of examples of that page."""

    def show_lessons(self) -> None:
        """Open the list of lessons."""

    def show_palette(self) -> None:
        """Open the list of all commands."""

    def show_card(self, title: str, text: str) -> None:
        """Show a page of rich text over the window until it is dismissed."""

    def selected_lines(self) -> str:
        """Return the selected op with its tensors as lines of code; empty without one."""

    def show_findings(self) -> None:
        """Bring the doctor's findings to the front."""

    def show_lab(self, source: str) -> None:
        """Open the shape lab on these lines, or on its first starting point."""

    def toggle_comment(self) -> None:
        """Comment the selected lines of the program, or uncomment them."""

    def open_find(self) -> None:
        """Open the search line of the graph if that has the focus, else the program's."""

    def open_graph_find(self) -> None:
        """Open the search line of the graph."""

    def close_window(self) -> None:
        """Close the window."""
