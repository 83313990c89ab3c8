"""The window's implementation of the command context: dialogs, popup cards, selection."""

import os
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QInputDialog, QMainWindow, QWidget

from gradscribe.app.commands import file, train
from gradscribe.app.compare.controller import CompareController
from gradscribe.app.document import examples
from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.document.presenter import Presenter
from gradscribe.app.document.session import Session
from gradscribe.app.document.state import Doc
from gradscribe.app.export.queue import ExportQueue
from gradscribe.app.files.documents import Drafts, Refused
from gradscribe.app.files.file_writer import FileWriter
from gradscribe.app.files.recovery import Recovery
from gradscribe.app.files.settings import Settings
from gradscribe.app.lessons.controller import LessonController
from gradscribe.app.lessons.dock import LessonDock
from gradscribe.app.training.page.workspaces import Workspaces
from gradscribe.app.training.saving.session_store import SessionStore
from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.setup import apply_fix, presets, user_module
from gradscribe.app.ui.find_bar import FindBar
from gradscribe.app.ui.graph_overlay import GraphOverlay
from gradscribe.app.ui.notifications import NotificationBar
from gradscribe.app.ui.popup import rich_text_card
from gradscribe.app.ui.theming import Theming
from gradscribe.app.window.bars import StatusLine
from gradscribe.app.window.findings_controller import FindingsController
from gradscribe.app.window.menus import Menus
from gradscribe.engine.protocol.tape import Finding
from gradscribe.engine.protocol.training import StepTape
from gradscribe.playback.lab.from_tape import program_for
from gradscribe.widgets.editor import editing_keys
from gradscribe.widgets.editor.code_edit import CodeEdit
from gradscribe.widgets.editor.source_text import length_problem
from gradscribe.widgets.graph.export import png_bytes
from gradscribe.widgets.graph.view import GraphView


class WindowContext(QMainWindow):
    """The `CommandContext` passed to commands; `Window` creates the declared attributes."""

    session: Session
    clock: PlaybackClock
    settings: Settings
    drafts: Drafts
    recovery: Recovery
    notices: NotificationBar
    look: Theming
    ground: QWidget
    editor: CodeEdit
    graph: GraphView
    presenter: Presenter
    menus: Menus
    status: StatusLine
    over: GraphOverlay
    find_bar: FindBar
    comparing: CompareController
    lesson_dock: LessonDock
    findings_controller: FindingsController
    rooms: Workspaces
    export_queue: ExportQueue
    _chosen_folder: Path | None = None

    def module_keys(self) -> frozenset[str]:
        """Return the keys of the visible modules, open or folded."""
        return self.presenter.module_keys()

    def expand_modules(self, depth: int | None = None) -> None:
        """Open modules ``depth`` levels deep, or all inside the visible ones."""
        self.presenter.expand_modules(depth)

    @property
    def levels(self) -> int:
        """Depth of nested module calls in the shown scene."""
        return self.presenter.levels()

    def zoom_to_selection(self) -> None:
        """Zoom so that the selection fills the view."""
        self.graph.zoom_to(self.session.view.selection)

    def ask_open(self, title: str, pattern: str) -> Path | None:
        """Let the user choose a file to open."""
        chosen, _ = QFileDialog.getOpenFileName(self, title, str(self._folder()), pattern)
        return self._keep_folder(chosen)

    def ask_save(self, title: str, name: str, pattern: str) -> Path | None:
        """Let the user choose where to write a file."""
        chosen, _ = QFileDialog.getSaveFileName(self, title, str(self._folder() / name), pattern)
        return self._keep_folder(chosen)

    def _folder(self) -> Path:
        """Return a file dialog's folder: that of the last one, else the program's."""
        path = self.session.doc.path
        known = self._chosen_folder or (Path(path).parent if path else Path.home())
        return known if os.path.isdir(known) else Path.home()

    def _keep_folder(self, chosen: str) -> Path | None:
        if not chosen:
            return None
        self._chosen_folder = Path(chosen).parent
        return Path(chosen)

    def ask_number(self, title: str, value: int) -> int | None:
        """Let the user change a whole number."""
        number, agreed = QInputDialog.getInt(self, "Gradscribe", title, value, 0, 2**31 - 1)
        return number if agreed else None

    def say(self, text: str) -> None:
        """Show a message in the status line."""
        self.status.say(text)

    def show_examples(self, room: str = "program") -> None:
        """Open the gallery of examples of that page."""
        # Popup cards are imported on demand, so that the window opens sooner.
        from gradscribe.app.ui.gallery import Gallery

        if room == "training":
            about = "Set-ups to start from; change anything while they train"
            gallery = Gallery(self.ground, presets.load(), about)
            gallery.chosen.connect(lambda start: train.start_from(self, start))
        else:
            gallery = Gallery(self.ground, examples.load())
            gallery.chosen.connect(self._start_from)
        gallery.open()

    def _start_from(self, example: examples.Example) -> None:
        try:
            file.open_example(self, example.title, example.source)
        except Refused as refusal:
            self.say(str(refusal))

    def show_lessons(self) -> None:
        """Open the list of lessons."""
        self.lesson_dock.show_lessons()

    @property
    def learning(self) -> LessonController:
        """Controller of the open lesson."""
        return self.lesson_dock.learning

    def show_palette(self) -> None:
        """Open the list of all commands."""
        from gradscribe.app.ui.palette import CommandPalette

        CommandPalette(self.ground, self.menus.lines()).open()

    def show_card(self, title: str, text: str) -> None:
        """Show a page of rich text over the window until it is dismissed."""
        rich_text_card(self.ground, title, text).open()

    def selected_lines(self) -> str:
        """Return the selected op with its tensors as lines of code; empty without one."""
        op = self.presenter.selected_op()
        return program_for(self.session.result.tape, op) if op is not None else ""

    def show_op_in_lab(self, number: int) -> None:
        """Open the shape lab on the op with this index on the shown tape."""
        tape = self.session.result.tape
        if number < len(tape.ops):
            self.show_lab(program_for(tape, tape.ops[number]))

    def show_lab(self, source: str) -> None:
        """Open the shape lab on these lines, or on its first starting point."""
        from gradscribe.app.ui.shape_lab import LabCard

        LabCard(self.ground, self.session, self.look, source).open()

    def show_findings(self) -> None:
        """Bring the doctor's findings to the front."""
        self.settings.put("below", True)
        self.findings_controller.open()

    def toggle_comment(self) -> None:
        """Comment the selected lines of the program, or uncomment them."""
        editing_keys.toggle_comment(self.editor)

    def open_find(self) -> None:
        """Open the search line of the graph if that has the focus, else the program's."""
        if self.graph.hasFocus() or self.over.tools.query.hasFocus():
            self.over.tools.open()
        else:
            self.find_bar.open()

    def open_graph_find(self) -> None:
        """Open the search line of the graph."""
        self.over.tools.open()

    def save_elsewhere(self) -> None:
        """Let the user save the program in another file."""
        self.menus.perform_by("file.save_as")

    @property
    def training(self) -> TrainSession:
        """The training page's setup and runs."""
        return self.rooms.session

    @property
    def saving(self) -> SessionStore:
        """Reads and writes training sessions."""
        return self.rooms.saving

    @property
    def writing(self) -> FileWriter:
        """Writes files in a worker thread."""
        return self.rooms.writing

    @property
    def workspace(self) -> str:
        """Name of the visible page: ``program`` or ``training``."""
        return self.rooms.room

    def show_workspace(self, name: str) -> None:
        """Go to that page."""
        self.rooms.show_workspace(name)

    def training_views(self) -> tuple[str, ...]:
        """Return the titles of the open views of the training page."""
        return self.rooms.views()

    def export_training(self, path: Path, view: str = "") -> None:
        """Write an image of the training page, or of one view of it, to a PNG file.

        Raises:
            Refused: another export is running, or the file cannot be written.
        """
        from gradscribe.app.export.image_job import FileJob

        image = self.rooms.draw(view)
        self.export_queue.begin(FileJob(path, lambda: png_bytes(image)))

    def show_step(self, message: StepTape) -> None:
        """Show the tape of a training step on the program page."""
        if why := length_problem(message.source):
            self.say(f"The step is not shown: {why}")
            return
        self.recovery.stash()
        run, source = self.training.find(message.run_id), message.source
        # The text contains the setup's module, which may be under the policy; of a run restored
        # from a file only the engine's setup says so.
        setups = [] if run is None else [run.setup, *([run.begun.setup] if run.begun else [])]
        foreign = any(map(user_module.is_guarded, setups))
        title = f"Step {message.step + 1}"
        doc = Doc(source=source, saved=source, title=title, foreign=foreign, seen=foreign)
        mendable = apply_fix.fixable_findings(self.training, message.run_id, message.tape.findings)
        show = partial(self._show_mended, message.run_id)
        self.findings_controller.set_fix_handler(message.source, mendable, show)
        self.session.load(doc, tape=message.tape)
        self.show_workspace("program")
        self.say("The step as it was recorded; editing the text runs it again with new weights")

    def _show_mended(self, run_id: int, finding: Finding) -> None:
        """Train a second run with the fix of a step's finding, in parallel to the first."""
        words = apply_fix.train_fixed(self.training, run_id, finding.id)
        if words:
            self.show_workspace("training")
        self.say(words or "That run does not exist any more")

    @property
    def is_exporting(self) -> bool:
        """True while an export is running."""
        return self.export_queue.busy

    def film(self, path: Path) -> None:
        """Write the playback of the tape to a GIF or MP4 file, in the background.

        Raises:
            Refused: another export is running, or the file cannot be written.
        """
        # Imported here: few windows ever export a film, and every window would wait for it.
        from gradscribe.app.export.film_job import FilmJob
        from gradscribe.widgets.graph.film import FilmStyle
        from gradscribe.widgets.graph.paint.cards import Layers

        session, view = self.session, self.session.view
        layers = Layers(view.values, view.gradients, view.shapes)
        style = FilmStyle(self.look.theme(), layers, view.coloring, view.flow)
        calls, speed = session.doc.open_calls, self.clock.speed
        self.export_queue.begin(FilmJob(path, session.result.tape, style, calls, speed))

    def export(self, path: Path) -> None:
        """Write the graph to a PNG, SVG or DOT file, or the tape to JSON, by the suffix.

        Raises:
            Refused: another export is running, or the file cannot be written.
        """
        from gradscribe.app.export.image_job import job_for

        self.export_queue.begin(job_for(path, self.graph.snapshot(), self.session.result.tape))

    def copy_picture(self) -> None:
        """Put the graph on the clipboard as an image.

        Raises:
            Refused: another export is running.
        """
        from gradscribe.app.export.image_job import CopyJob

        self.export_queue.begin(CopyJob(self.graph.snapshot()))

    def cancel_export(self) -> None:
        """Cancel the running export."""
        self.export_queue.cancel()

    def close_window(self) -> None:
        """Close the window."""
        self.close()
