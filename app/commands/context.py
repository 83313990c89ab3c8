"""The command context: the interfaces of the window that commands use.

Commands get these and never a widget, so that each can be tested without a window.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.document.session import Session
from gradscribe.app.document.state import Doc
from gradscribe.app.files.documents import Draft, Drafts, Refused
from gradscribe.app.files.file_writer import FileWriter
from gradscribe.app.files.settings import Settings
from gradscribe.app.lessons.progress import LessonProgress
from gradscribe.app.runtime.notice import NoticeActions
from gradscribe.app.training.saving.session_store import SessionStore
from gradscribe.app.training.session.session import TrainSession
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.flow.take_home import GraphFormat
from gradscribe.playback.graph.picture import Card
from gradscribe.playback.lessons.lesson import Lesson


class EditorActions(Protocol):
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


class GraphActions(Protocol):
    """The part of the graph that commands use."""

    def fit(self) -> None:
        """Make the whole graph visible."""

    def zoom_by(self, factor: float) -> None:
        """Zoom by a factor."""

    def zoom_to(self, key: str) -> None:
        """Zoom so that a card with its neighbours, or a module, fills the view."""


class ModuleActions(Protocol):
    """The part of `app.document.presenter` that commands use."""

    def module_keys(self) -> frozenset[str]:
        """Return the keys of the visible modules, open or folded."""

    def expand_modules(self, depth: int | None = None) -> None:
        """Open modules ``depth`` levels deep, or all inside the visible ones."""

    def selected_card(self) -> Card | None:
        """Return the selected card of the current tape."""

    def show_ways(self) -> None:
        """Show the ways from the selection to the loss in the inspector."""

    def levels(self) -> int:
        """Return the depth of nested module calls in the shown scene."""


class DialogActions(Protocol):
    """The modal dialogs; each returns None if the user cancels it."""

    def ask_open(self, title: str, pattern: str) -> Path | None:
        """Let the user choose a file to open."""

    def ask_save(self, title: str, name: str, pattern: str) -> Path | None:
        """Let the user choose where to write a file."""

    def ask_number(self, title: str, value: int) -> int | None:
        """Let the user change a whole number."""


class WorkspaceActions(Protocol):
    """The part of `app.training.page.workspaces` that commands use."""

    @property
    def current(self) -> str:
        """Name of the visible page: ``program`` or ``training``."""

    def show_workspace(self, name: str) -> None:
        """Go to that page."""

    def views(self) -> tuple[str, ...]:
        """Return the titles of the visible views of the training page."""


class ExportActions(Protocol):
    """The part of `app.export.queue` that commands use."""

    @property
    def busy(self) -> bool:
        """True while an export is running."""

    def cancel(self) -> None:
        """Cancel the running export."""


class FileActions(Protocol):
    """The part of `app.files.file_watch` that commands use."""

    def write_conflict(self, path: Path) -> str:
        """Return the reason to confirm writing to ``path``: ``disk``, ``twice`` or empty."""

    def notify_changed(self) -> None:
        """Offer the choice between the text here and the one in the file."""

    def write(
        self, path: Path, doc: Doc, then: Callable[[], None], otherwise: Callable[[Refused], None]
    ) -> None:
        """Write the program to ``path``; ``then`` is called once it is there."""

    def finish(self) -> None:
        """Wait for a write in progress."""

    def mark_saved(self) -> None:
        """Take the file on disk as the base of the text."""


class RecoveryActions(Protocol):
    """The part of `app.files.recovery` that commands use."""

    @property
    def file(self) -> FileActions:
        """Watches the edited file."""

    def recover(self, path: str) -> bool:
        """Restore the work of a crashed window; offer the rest."""

    def stash(self) -> None:
        """Store the unsaved text as a draft."""

    def find_draft(self, path: str) -> Draft | None:
        """Return the draft of a document."""

    def adopt_draft(self, path: str) -> None:
        """Delete a draft, now edited here, once it is saved here."""


class LessonActions(Protocol):
    """The part of `app.lessons.controller` that commands use."""

    @property
    def lesson(self) -> Lesson | None:
        """The open lesson; None if there is none."""

    @property
    def number(self) -> int:
        """Index of the current step."""

    @property
    def progress(self) -> LessonProgress:
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


class CompareActions(Protocol):
    """The part of `app.compare.controller` that commands use."""

    @property
    def stored_title(self) -> str:
        """Title of the stored run; empty if there is none."""

    def store(self, tape: Tape, title: str) -> None:
        """Store a tape in place of the previous one."""

    def compare_with_stored(self, tape: Tape, title: str) -> object:
        """Compare the stored tape with this one."""


class CommandContext(Protocol):
    """The parts and actions of the window that commands use."""

    session: Session
    """Document, result and view."""
    clock: PlaybackClock
    """The playback clock."""
    settings: Settings
    """Persistent settings."""
    drafts: Drafts
    """Drafts of unsaved texts."""
    training: TrainSession
    """The training page's setup and runs."""
    session_store: SessionStore
    """Reads and writes training sessions."""
    file_writer: FileWriter
    """Writes files in a worker thread."""

    @property
    def recovery(self) -> RecoveryActions:
        """Autosave and recovery."""

    @property
    def notices(self) -> NoticeActions:
        """The notification bar."""

    @property
    def dialogs(self) -> DialogActions:
        """Dialogs for files and numbers."""

    @property
    def workspaces(self) -> WorkspaceActions:
        """The program's page and the training page."""

    @property
    def presenter(self) -> ModuleActions:
        """The modules of the shown graph."""

    @property
    def export_queue(self) -> ExportActions:
        """The running export."""

    @property
    def lessons(self) -> LessonActions:
        """Controller of the open lesson."""

    def export_training(self, path: Path, view: str = "") -> None:
        """Write an image of the training page, or of one view of it, to a PNG file."""

    @property
    def comparison(self) -> CompareActions:
        """Stores and compares runs."""

    @property
    def editor(self) -> EditorActions:
        """The editor."""

    @property
    def graph(self) -> GraphActions:
        """The graph."""

    def film(self, path: Path) -> None:
        """Write the playback of the tape to a GIF or MP4 file, in the background."""

    def export(self, path: Path) -> None:
        """Write the graph to a PNG, SVG or DOT file, or the tape to a JSON file."""

    def export_graph(self, path: Path, kind: GraphFormat) -> None:
        """Write the run as a graph for other programs."""

    def copy_picture(self) -> None:
        """Put the graph on the clipboard as an image."""

    def say(self, text: str) -> None:
        """Show a message in the status line."""

    def show_examples(self, workspace: str = "program") -> None:
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

    def close_window(self) -> object:
        """Close the window."""
