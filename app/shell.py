"""What commands may touch: the window as they see it, and what it says in its strip.

Commands get these and never a widget, so that each can be tried without a window.
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
    """Something said in the strip. ``key`` names the matter: a later notice takes its place."""

    key: str
    text: str
    choices: tuple[tuple[str, Callable[[], None]], ...] = ()
    """What can be done, the best first. Whichever is chosen, the notice goes."""
    more: str = ""
    """What else there is to know, as a tool tip."""


class Text(Protocol):
    """What commands ask of the editor; each does as it is called."""

    def undo(self) -> None:
        """Take back the last change."""

    def redo(self) -> None:
        """Make it again."""

    def cut(self) -> None:
        """Move the selection to the clipboard."""

    def copy(self) -> None:
        """Copy the selection to the clipboard."""

    def paste(self) -> None:
        """Insert the clipboard."""

    def selectAll(self) -> None:
        """Select everything."""

    def setFocus(self) -> None:
        """Take the keyboard."""


class Graph(Protocol):
    """What commands ask of the graph."""

    def fit(self) -> None:
        """Make all of it visible."""

    def zoom_by(self, factor: float) -> None:
        """Make it so many times bigger."""


class Strip(Protocol):
    """The strip for what wants an answer."""

    def tell_first(self, notice: Notice) -> None:
        """Say this at once."""

    def drop(self, key: str) -> None:
        """Say nothing more about a matter that is settled."""


class Watch(Protocol):
    """What commands ask of `app.file_watch`, each as it says there."""

    def objection(self, path: Path) -> str:
        """Return why writing to ``path`` wants a second thought: ``disk``, ``twice`` or nothing."""

    def tell_changed(self) -> None:
        """Offer the choice between the text here and the one in the file."""

    def write(
        self, path: Path, doc: Doc, then: Callable[[], None], otherwise: Callable[[Refused], None]
    ) -> None:
        """Write the program to ``path``; ``then`` is called once it is there."""

    def finish(self) -> None:
        """Wait until the file is on the disk, where it is on its way there."""

    def saved(self) -> None:
        """Note that the file now holds the text."""


class Keeper(Protocol):
    """What commands ask of `app.keeping`, each as it says there."""

    @property
    def file(self) -> Watch:
        """The file itself, which others may write to."""

    def recover(self, path: str) -> bool:
        """Go on with what a window left that did not end by itself; offer the rest."""

    def put_away(self) -> None:
        """Keep what is typed but not saved."""

    def find_draft(self, path: str) -> Draft | None:
        """Return what was typed but not saved."""

    def take_over(self, path: str) -> None:
        """Note that a draft is being edited here now."""


class Learning(Protocol):
    """What commands ask of the lesson that is open; see `app.learning`."""

    @property
    def lesson(self) -> Lesson | None:
        """The lesson, None where there is none."""

    @property
    def number(self) -> int:
        """The step, from 0."""

    @property
    def progress(self) -> Progress:
        """How far one is in each."""

    def open(
        self, lesson: Lesson, place: str = "", step: int | None = None, foreign: bool = False
    ) -> None:
        """Open a lesson; the programs of a ``foreign`` one wait until they are let run."""

    def next(self) -> None:
        """Go to the next step."""

    def back(self) -> None:
        """Go to the step before."""

    def restore(self) -> None:
        """Put its program back."""

    def leave(self) -> None:
        """Leave the lesson."""


class Comparer(Protocol):
    """What commands ask of `app.comparing`, each as it says there."""

    @property
    def kept(self) -> str:
        """What is kept is called; empty for nothing."""

    def keep(self, tape: Tape, title: str) -> None:
        """Keep a tape, in place of the one before."""

    def with_kept(self, tape: Tape, title: str) -> object:
        """Show the kept tape beside this one."""


class Shell(Protocol):
    """What a command may touch."""

    @property
    def session(self) -> Session:
        """What is edited, what came of it, where one looks."""

    @property
    def clock(self) -> Clock:
        """The playback clock."""

    @property
    def settings(self) -> Settings:
        """What is remembered between two starts."""

    @property
    def drafts(self) -> Drafts:
        """Texts that were not saved."""

    @property
    def keeping(self) -> Keeper:
        """What sees to it that nothing is lost."""

    @property
    def notices(self) -> Strip:
        """The strip for what wants an answer."""

    @property
    def learning(self) -> Learning:
        """The lesson that is open, if one is."""

    @property
    def training(self) -> TrainSession:
        """The training room's setup and runs."""

    @property
    def saving(self) -> Saving:
        """The training room into a session file and out of it."""

    @property
    def writing(self) -> Writing:
        """What writes files beside the interface."""

    @property
    def room(self) -> str:
        """The room that is seen: ``program`` or ``training``."""

    def show_room(self, name: str) -> None:
        """Go to that room."""

    def room_views(self) -> tuple[str, ...]:
        """Return the titles of the views that are open in the training room."""

    def export_room(self, path: Path, view: str = "") -> None:
        """Write what is seen of the training room, or of one view in it, to a PNG file.

        Raises:
            Refused: something is being exported, or this cannot be written.
        """

    @property
    def comparing(self) -> Comparer:
        """What shows two runs side by side."""

    @property
    def editor(self) -> Text:
        """The editor."""

    @property
    def graph(self) -> Graph:
        """The graph."""

    def module_keys(self) -> frozenset[str]:
        """Return the keys of the modules that are seen, open or folded."""

    @property
    def is_filming(self) -> bool:
        """Whether something is being exported."""

    def film(self, path: Path) -> None:
        """Write the playing tape to a GIF or MP4 file, while the window goes on living."""

    def export(self, path: Path) -> None:
        """Write the graph to a PNG, SVG or DOT file, or the tape to a JSON file."""

    def copy_picture(self) -> None:
        """Put the graph on the clipboard as an image."""

    def cancel_film(self) -> None:
        """Give up what is being exported."""

    def unfold(self, depth: int | None = None) -> None:
        """Open modules ``depth`` levels deep, or all inside those that are seen."""

    @property
    def levels(self) -> int:
        """How deep modules are called in each other in what is shown."""

    def zoom_to_selection(self) -> None:
        """Make what is selected as big as there is room for."""

    def ask_open(self, title: str, pattern: str) -> Path | None:
        """Let the user choose a file to open."""

    def ask_save(self, title: str, name: str, pattern: str) -> Path | None:
        """Let the user choose where to write a file."""

    def ask_number(self, title: str, value: int) -> int | None:
        """Let the user change a whole number."""

    def say(self, text: str) -> None:
        """Tell the user something in the status line."""

    def show_examples(self, room: str = "program") -> None:
        """Open the gallery of what one may start from in that room."""

    def show_lessons(self) -> None:
        """Open the list of lessons."""

    def show_palette(self) -> None:
        """Open the list of all commands."""

    def show_card(self, title: str, text: str) -> None:
        """Show a page of rich text over the window until it is clicked away."""

    def selected_lines(self) -> str:
        """Return the selected op with its tensors as lines of its own; empty without one."""

    def show_findings(self) -> None:
        """Bring what the doctor found to the front."""

    def show_lab(self, source: str) -> None:
        """Open the shape lab on these lines, or on its first starting point."""

    def toggle_comment(self) -> None:
        """Comment the selected lines of the program, or uncomment them."""

    def open_find(self) -> None:
        """Open the search line of the graph where that has the keyboard, else the program's."""

    def open_graph_find(self) -> None:
        """Open the search line of the graph."""

    def close_window(self) -> None:
        """Close the window."""
