"""The command context: the parts of the window that commands use, and actions on several of them.

Nothing here imports a widget when it is loaded, so that commands can be tested without a window.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from gradscribe.app.document.state import Doc
from gradscribe.app.export.film_options import FilmSpan
from gradscribe.app.files.documents import Refused
from gradscribe.app.training.setup import apply_fix, presets, user_module
from gradscribe.playback.flow import take_home
from gradscribe.playback.lab.from_tape import program_for
from gradscribe.playback.tape.statements import position_after
from gradscribe.playback.text.formatting import slug
from gradscribe.playback.translation import tr
from gradscribe.widgets.editor.source_text import length_problem

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtCore import QObject
    from PySide6.QtWidgets import QWidget

    from gradscribe.app.by_hand.backward_code import BackwardCode
    from gradscribe.app.by_hand.controller import HandController
    from gradscribe.app.compare.changes_controller import ChangesController
    from gradscribe.app.compare.controller import CompareController
    from gradscribe.app.document.clock import PlaybackClock
    from gradscribe.app.document.examples import Example
    from gradscribe.app.document.fixes.error_fix import ErrorFix
    from gradscribe.app.document.fixes.findings_controller import FindingsController
    from gradscribe.app.document.presenter import Presenter
    from gradscribe.app.document.session import Session
    from gradscribe.app.export.film_options import FilmOptions
    from gradscribe.app.export.queue import ExportQueue
    from gradscribe.app.files.documents import Drafts
    from gradscribe.app.files.file_writer import FileWriter
    from gradscribe.app.files.python_choice import PythonChoice
    from gradscribe.app.files.settings import Settings
    from gradscribe.app.files.unsaved.recovery import Recovery
    from gradscribe.app.lessons.controller import LessonController
    from gradscribe.app.link.client import Link
    from gradscribe.app.manual.window import Manual
    from gradscribe.app.panels.controller import Panels
    from gradscribe.app.presenting.lecture import Lecture
    from gradscribe.app.presenting.presentation import Presentation
    from gradscribe.app.ranks.controller import RanksController
    from gradscribe.app.tour.tour import Tour
    from gradscribe.app.training.page.workspaces import Workspaces
    from gradscribe.app.training.saving.session_store import SessionStore
    from gradscribe.app.training.session.session import TrainSession
    from gradscribe.app.training.sweep.window import SweepWindow
    from gradscribe.app.ui.canvas.graph_overlay import GraphOverlay
    from gradscribe.app.ui.dialogs import Dialogs
    from gradscribe.app.ui.find_bar import FindBar
    from gradscribe.app.ui.loops.history_tab import HistoryTab
    from gradscribe.app.ui.loops.loop_curves import LoopCurves
    from gradscribe.app.ui.notifications import NotificationBar
    from gradscribe.app.ui.settings.window import SettingsWindow
    from gradscribe.app.ui.theming import Theming
    from gradscribe.app.ui.tool_windows.cost_window import ProgramCosts
    from gradscribe.app.ui.tool_windows.parameter_window import ProgramParameters
    from gradscribe.app.ui.tool_windows.tensor_windows import TensorWindows
    from gradscribe.engine.protocol.tape import Finding, Tape
    from gradscribe.engine.protocol.training import StepTape
    from gradscribe.playback.flow.take_home import GraphFormat
    from gradscribe.widgets.editor.code_edit import CodeEdit
    from gradscribe.widgets.graph.view import GraphView
    from gradscribe.widgets.inspector.inspector import Inspector


@dataclass(eq=False)
class CommandContext:
    """The parts and actions of the window that commands use."""

    session: Session
    clock: PlaybackClock
    settings: Settings
    drafts: Drafts
    recovery: Recovery
    notices: NotificationBar
    dialogs: Dialogs
    look: Theming
    ground: QWidget
    """The area that popup cards float over."""
    editor: CodeEdit
    graph: GraphView
    inspector: Inspector
    presenter: Presenter
    python: PythonChoice
    say: Callable[[str], None]
    """Shows a message in the status line."""
    over: GraphOverlay
    find_bar: FindBar
    comparison: CompareController
    changes: ChangesController
    ranks: RanksController
    tensors: TensorWindows
    parameters: ProgramParameters
    lessons: LessonController
    hand: HandController
    backward_code: BackwardCode
    costs: ProgramCosts
    manual: Manual
    tour: Tour
    findings_controller: FindingsController
    error_fix: ErrorFix
    loop_curves: LoopCurves
    history: HistoryTab
    workspaces: Workspaces
    panels: Panels
    training: TrainSession
    session_store: SessionStore
    export_queue: ExportQueue
    lecture: Lecture
    edit_step: Callable[[], None]
    """Puts the keyboard into the number of the step strip."""
    step_pane: Callable[[int], None]
    """Moves the keyboard to the next pane (1) or the one before (-1)."""
    show_lessons: Callable[[], None]
    show_palette: Callable[[], None]
    show_start: Callable[[], object]
    """Opens the start page."""
    close_window: Callable[[], object]
    companion: Callable[[QObject], Link]
    """Returns a link to another engine."""
    open_window: Callable[[], object]
    """Opens a further window, with an empty program."""
    film_span: FilmSpan = field(default_factory=FilmSpan)
    """The part of the tape that was marked for the next film."""

    sweep_window: SweepWindow | None = None
    settings_window: SettingsWindow | None = None

    @property
    def presentation(self) -> Presentation:
        """Presenting in this window."""
        return self.lecture.presentation

    def show_settings(self, key: str = "") -> None:
        """Open the settings, at one of them; an empty key opens the search."""
        from gradscribe.app.ui.settings.window import FileDialogs, SettingsWindow
        from gradscribe.widgets.base.open_windows import bring_to_front

        if self.settings_window is None:
            files = FileDialogs(self.dialogs.ask_open, self.dialogs.ask_save)
            self.settings_window = SettingsWindow(self.settings, files, self.ground)
            self.look.add(self.settings_window)
        self.settings_window.show()
        bring_to_front(self.settings_window)
        self.settings_window.show_row(key)

    @property
    def file_writer(self) -> FileWriter:
        """The writer of files in the background."""
        return self.workspaces.writing

    def show_sweep(self) -> None:
        """Open the window of a sweep of the training page's set-up."""
        from gradscribe.app.training.sweep import offer

        if self.sweep_window is None:
            self.sweep_window = offer.make_window(self.ground, self.look)
            self.sweep_window.opened.connect(self._open_trial)
        offer.show(self.sweep_window, self.training, self.session.doc)

    def _open_trial(self, path: Path) -> None:
        from gradscribe.app.commands import setup

        opened = setup.read(path)
        source = str(opened.setup.model.options.get("source", ""))
        if source and not user_module.is_guarded(opened.setup):
            # The sweep has run it already.
            self.settings.trust(str(path), source)
        try:
            setup.open_setup(self, path)
        except Refused as refusal:
            self.say(str(refusal))
        # Its name is a number: the window of the sweep says which trial it is.
        self.settings.remove_recent(str(path))

    def show_examples(self, workspace: str = "program") -> None:
        """Open the gallery of examples of that page."""
        # Popup cards are imported on demand, so that the window opens sooner.
        from gradscribe.app.commands import train
        from gradscribe.app.document import examples
        from gradscribe.app.ui.examples.gallery import SETUPS, Gallery

        if workspace == "training":
            gallery = Gallery(self.ground, presets.load(), self.look.theme(), SETUPS)
            gallery.chosen.connect(lambda start: train.start_from(self, start))
        else:
            gallery = Gallery(self.ground, examples.load(), self.look.theme())
            gallery.chosen.connect(self._start_from)
        gallery.open()

    def _start_from(self, example: Example) -> None:
        from gradscribe.app.commands import file

        try:
            file.open_example(self, example.title, example.source)
        except Refused as refusal:
            self.say(str(refusal))

    def show_first_example(self) -> None:
        """Open the first example."""
        from gradscribe.app.document import examples

        self._start_from(examples.load()[0])

    def show_card(self, title: str, text: str) -> None:
        """Show a page of rich text over the window until it is dismissed."""
        from gradscribe.app.ui.popup import rich_text_card

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
        from gradscribe.widgets.editor import editing_keys

        editing_keys.toggle_comment(self.editor)

    def open_find(self) -> None:
        """Open the search line of the graph if that has the focus, else the program's."""
        if self.graph.hasFocus() or self.over.tools.query.hasFocus():
            self.over.tools.open()
        else:
            self.find_bar.open()

    def open_replace(self) -> None:
        """Open the search line of the program with a replacement."""
        self.find_bar.open(replace=True)

    def find_next(self, back: bool = False) -> None:
        """Go to the next match where a search is open, or to the previous one."""
        if self.over.tools.is_open() and not self.find_bar.isVisible():
            self.over.tools.stepped.emit(back)
        elif self.find_bar.isVisible():
            self.find_bar.go(back=back)
        else:
            self.find_bar.open()
            self.find_bar.go(back=back)

    def open_graph_find(self) -> None:
        """Open the search line of the graph."""
        self.over.tools.open()

    def export_training(self, path: Path, view: str = "") -> None:
        """Write an image of the training page, or of one view of it, to a PNG file.

        Raises:
            Refused: another export is running, or the file cannot be written.
        """
        from gradscribe.app.export.image_job import FileJob
        from gradscribe.widgets.graph.snapshot import png_bytes

        image = self.workspaces.draw(view)
        self.export_queue.begin(FileJob(path, lambda: png_bytes(image)))

    def show_step(self, message: StepTape) -> None:
        """Show the tape of a training step on the program page."""
        if why := length_problem(message.source):
            self.say(tr("The step is not shown: {why}", why=why))
            return
        self.recovery.stash()
        run, source = self.training.store.find(message.run_id), message.source
        # The text contains the setup's module, which may be under the policy; of a run restored
        # from a file only the engine's setup says so.
        setups = [] if run is None else [run.setup, *([run.begun.setup] if run.begun else [])]
        foreign = any(map(user_module.is_guarded, setups))
        title = tr("Step {value}", value=message.step + 1)
        doc = Doc(source=source, saved=source, title=title, foreign=foreign, seen=foreign)
        fixable = apply_fix.fixable_findings(self.training, message.run_id, message.tape.findings)
        show = partial(self._train_fixed, message.run_id)
        self.findings_controller.set_fix_handler(message.source, fixable, show)
        self.session.load(doc, tape=message.tape)
        if message.done and run is not None and run.begun is not None:
            # In the middle of a step: where the run stands.
            texts = [text for _, text in run.begun.lines]
            self.session.move(position_after(message.tape, texts, message.done))
        self.workspaces.show_workspace("program")
        self.say(tr("The step as it was recorded; editing the text runs it again with new weights"))

    def _train_fixed(self, run_id: int, finding: Finding) -> None:
        """Train a second run with the fix of a step's finding, in parallel to the first."""
        words = apply_fix.train_fixed(self.training, run_id, finding.id)
        if words:
            self.workspaces.show_workspace("training")
        self.say(words or tr("That run does not exist any more"))

    def show_film_card(self, kind: str) -> None:
        """Let the user choose the options of a film, a ``gif`` or an ``mp4``."""
        from gradscribe.app.export.film_card import FilmCard, FilmRequest

        tape, dialogs = self.session.result.tape, self.dialogs
        asked = FilmRequest(
            tape=tape,
            kind=kind,
            speed=self.clock.speed,
            span=self.film_span.of(tape),
            path=dialogs.suggest(f"{slug(self.session.doc.title)}.{kind}"),
            ask_save=lambda title, path, pattern: dialogs.ask_save(title, str(path), pattern),
            begin=partial(self._film, tape, self.session.result.source),
        )
        FilmCard(self.ground, asked, self.settings).open()

    def _film(self, tape: Tape, source: str, path: Path, options: FilmOptions) -> None:
        """Write the playback of a tape to a GIF or MP4 file, in the background.

        Raises:
            Refused: another export is running, or the file cannot be written.
        """
        # Imported here: few windows ever export a film, and every window would wait for it.
        from gradscribe.app.export.film_job import FilmJob
        from gradscribe.widgets.graph.film import FilmStyle
        from gradscribe.widgets.graph.paint.card.cards import Layers

        session, view = self.session, self.session.view
        layers = Layers(view.values, view.gradients, view.shapes, view.order)
        style = FilmStyle(self.look.theme(), layers, view.coloring, view.flow)
        self.export_queue.check_free()
        job = FilmJob(path, tape, style, session.doc.open_calls, options, source)
        self.export_queue.begin(job)

    def export(self, path: Path) -> None:
        """Write the graph to a PNG, SVG or DOT file, or the tape to JSON, by the suffix.

        Raises:
            Refused: another export is running, or the file cannot be written.
        """
        from gradscribe.app.export.image_job import job_for

        self.export_queue.begin(job_for(path, self.graph.snapshot(), self.session.result.tape))

    def export_graph(self, path: Path, kind: GraphFormat) -> None:
        """Write the run as a graph for other programs.

        Raises:
            Refused: another export is running, or the file cannot be written.
        """
        from gradscribe.app.export.image_job import FileJob

        tape = self.session.result.tape
        self.export_queue.begin(FileJob(path, partial(take_home.encode, tape, kind)))

    def export_page(self, path: Path) -> None:
        """Write the run as a page for browsers.

        Raises:
            Refused: another export is running, or the file cannot be written.
        """
        from gradscribe.app.export.image_job import FileJob
        from gradscribe.playback.tape.index import Index
        from gradscribe.playback.web_page.document import to_html

        result, title = self.session.result, self.session.doc.title
        tape, source = result.tape, result.source

        def page() -> bytes:
            # An index of its own: that of the window is used by another thread.
            return to_html(Index(tape), source, title, tape.findings).encode()

        self.export_queue.begin(FileJob(path, page))

    def copy_picture(self) -> None:
        """Put the graph on the clipboard as an image.

        Raises:
            Refused: another export is running.
        """
        from gradscribe.app.export.image_job import CopyJob

        self.export_queue.begin(CopyJob(self.graph.snapshot()))
