"""The training page: train, step, rewind, fork, export."""

from collections.abc import Callable
from pathlib import Path

from gradscribe.app.commands import MenuChoice, command, submenu
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.commands.export import ask_name
from gradscribe.app.document.state import Doc
from gradscribe.app.files import documents
from gradscribe.app.runtime.notice import Notice
from gradscribe.app.training.saving.session_reader import LoadedSession
from gradscribe.app.training.setup import presets, user_module
from gradscribe.playback.text.formatting import file_name, slug
from gradscribe.playback.translation import tr
from gradscribe.widgets.editor.source_text import length_problem

LEAP_STEPS = 100
PICTURES = tr("PNG pictures (*.png)")


def on_training_page(context: CommandContext) -> bool:
    """Return whether the training page is visible."""
    return context.workspaces.current == "training"


def _has_run(context: CommandContext) -> bool:
    run = context.training.run
    return on_training_page(context) and run is not None and run.alive


def has_runs(context: CommandContext) -> bool:
    """Return whether the training page is visible and has a run."""
    return on_training_page(context) and context.training.run is not None


@command("train.program", tr("Program"), "View/0", keys=("Ctrl+Alt+1",))
def program(context: CommandContext) -> None:
    """Go to the program and its graph."""
    context.workspaces.show_workspace("program")


@command("train.room", tr("Training"), "View/0", keys=("Ctrl+Alt+2",))
def training(context: CommandContext) -> None:
    """Go to Training and train a small model live."""
    context.workspaces.show_workspace("training")


@command(
    "train.line",
    tr("Next line of the step"),
    "Train/1",
    keys=("Alt+Shift+Right",),
    bare=("N",),
    when=_has_run,
)
def line(context: CommandContext) -> None:
    """Execute the next line inside the step and see what it changes."""
    context.training.controller.next_event()


@command("train.leap", tr("Leap on 100 steps"), "Train/1", keys=("Alt+PgDown",), when=_has_run)
def leap(context: CommandContext) -> None:
    """Make 100 steps and pause."""
    context.training.controller.advance(LEAP_STEPS)


@command("train.leap_back", tr("Leap back 100 steps"), "Train/1", keys=("Alt+PgUp",), when=_has_run)
def leap_back(context: CommandContext) -> None:
    """Go back 100 steps, to the exact state of then."""
    context.training.controller.leap_back(LEAP_STEPS)


@command("train.own", tr("Train the program's module"), "Train/2", keys=("Ctrl+Alt+M",))
def train_own(context: CommandContext) -> None:
    """Train the nn.Module of the program in Training."""
    source = context.session.doc.source
    if (line := user_module.syntax_error_line(source)) is not None:
        raise documents.Refused(
            tr("Line {line} of the program is not Python yet; fix it first", line=line)
        )
    if not user_module.has_module(source):
        raise documents.Refused(tr("The program has no class that is an nn.Module"))
    if not context.session.doc.may_run:
        raise documents.Refused(tr("The program came from outside; read it and run it first"))
    context.training.controller.change(
        user_module.with_program_module(context.training.setup, source, context.session.doc.foreign)
    )
    context.workspaces.show_workspace("training")


@command("train.sweep", tr("Sweep…"), "Train/2", keys=("Ctrl+Alt+Shift+S",), when=on_training_page)
def sweep(context: CommandContext) -> None:
    """Train the set-up many times, with other values of its options."""
    context.show_sweep()


@command("train.new_weights", tr("New weights"), "Train/2", keys=("Ctrl+Alt+W",), when=_has_run)
def new_weights(context: CommandContext) -> None:
    """Start over at step 0 with new weights and the same data."""
    context.training.controller.reset(weights=True)


@command("train.new_data", tr("New data"), "Train/2", keys=("Ctrl+Alt+D",), when=_has_run)
def new_data(context: CommandContext) -> None:
    """Start over at step 0 with new data and the same weights."""
    context.training.controller.reset(data=True)


@submenu("train.starts", tr("Start from"), menu="Train/2")
def list_starts(_: CommandContext) -> list[MenuChoice]:
    """Set-ups to start from."""

    def choice(start: presets.Preset) -> MenuChoice:
        return MenuChoice(start.title, lambda at: start_from(at, start), start.about)

    return [choice(start) for start in presets.load()]


def start_from(context: CommandContext, start: presets.Preset) -> None:
    """Train with that set-up, on the training page."""
    presets.train_preset(context.training, start)
    context.workspaces.show_workspace("training")


@command("train.start_from", tr("Choose a set-up…"), "Train/2", keys=("Ctrl+Alt+E",))
def choose_start(context: CommandContext) -> None:
    """See all set-ups to start from, with a sentence about each."""
    context.show_examples("training")


@command("train.fork", tr("Fork"), "Train/3", keys=("Ctrl+Shift+K",), when=_has_run)
def fork(context: CommandContext) -> None:
    """Branch off at this step: change something and compare with the original run."""
    context.training.controller.fork()


@submenu("train.runs", tr("Switch to another run"), "Train/3")
def runs(context: CommandContext) -> list[MenuChoice]:
    """Choose one of the runs; an ended one gives its set-up."""
    if not on_training_page(context):
        return []

    def choice(run_id: int, name: str) -> MenuChoice:
        here = run_id == context.training.store.look.run_id
        return MenuChoice(name, lambda at: at.training.controller.select(run_id), checked=here)

    return [choice(run.run_id, run.name) for run in context.training.runs]


@command(
    "train.tape", tr("Show this step on the tape"), "Train/3", keys=("Ctrl+Alt+T",), when=_has_run
)
def tape(context: CommandContext) -> None:
    """Record the next step in full and show it in the graph, with its transport."""
    context.training.controller.pause()
    context.training.controller.ask_tape()


@command("train.export_script", tr("Export as Python script…"), "Train/4/export", when=_has_run)
def export_script(context: CommandContext) -> None:
    """Write one file of plain PyTorch that repeats this run."""
    context.training.controller.export("script")


@command("train.export_ddp", tr("Export as script for torchrun…"), "Train/4/export", when=_has_run)
def export_ddp(context: CommandContext) -> None:
    """Write one file whose ranks share each batch and repeat this run under torchrun."""
    context.training.controller.export("ddp")


@command("train.export_csv", tr("Export curves as CSV…"), "Train/4/export", when=_has_run)
def export_csv(context: CommandContext) -> None:
    """Write every curve of this run as a table."""
    context.training.controller.export("csv")


@command(
    "train.export_weights", tr("Export weights as safetensors…"), "Train/4/export", when=_has_run
)
def export_weights(context: CommandContext) -> None:
    """Write the parameters as they are at this step."""
    context.training.controller.export("safetensors")


@command(
    "train.export_state", tr("Export weights as state_dict (.pt)…"), "Train/4/export", when=_has_run
)
def export_state(context: CommandContext) -> None:
    """Write the model's state_dict as it is at this step, for torch.load with weights_only."""
    context.training.controller.export("pt")


@command(
    "train.export_program", tr("Export model with torch.export…"), "Train/4/export", when=_has_run
)
def export_program(context: CommandContext) -> None:
    """Write the model in eval mode, with its weights, for torch.export.load."""
    context.training.controller.export("pt2")


@command("train.export_onnx", tr("Export model as ONNX…"), "Train/4/export", when=_has_run)
def export_onnx(context: CommandContext) -> None:
    """Write the model in eval mode as ONNX, where the packages of ONNX are installed."""
    context.training.controller.export("onnx")


@command(
    "train.export_picture",
    tr("Export picture of the page…"),
    "Train/4/export",
    when=on_training_page,
)
def export_picture(context: CommandContext) -> None:
    """Write Training as it now looks to a PNG file."""
    if path := ask_name(context, tr("Export the picture"), "training.png", PICTURES):
        context.export_training(path)


@command(
    "train.alone",
    tr("Only the model's predictions"),
    "View/4/layout",
    keys=("Ctrl+F11",),
    when=on_training_page,
    checked=lambda context: context.training.store.look.alone,
)
def alone(context: CommandContext) -> None:
    """Hide set-up, steps and curves of Training, or show them again."""
    context.training.store.set_alone(not context.training.store.look.alone)


@command(
    "train.graph_column",
    tr("Graph next to the output"),
    "View/4/layout",
    when=on_training_page,
    checked=lambda context: context.training.store.look.graph_column,
)
def graph_column(context: CommandContext) -> None:
    """In a large window, show the graph of the step in its own column, or in a tab."""
    context.training.store.set_graph_column(not context.training.store.look.graph_column)


@submenu("train.export_view", tr("Export picture of"), menu="Train/4/export")
def export_view(context: CommandContext) -> list[MenuChoice]:
    """One view of Training as a PNG file."""

    def write(context: CommandContext, view: str) -> None:
        if path := ask_name(context, tr("Export {view}", view=view), f"{slug(view)}.png", PICTURES):
            context.export_training(path, view)

    def choice(view: str) -> MenuChoice:
        return MenuChoice(view, lambda at: write(at, view))

    return [choice(view) for view in context.workspaces.views()]


OUTSIDE = "session"
"""Key of the notice about a session that brings a program."""
SESSIONS = tr("Training sessions (*{session_suffix})", session_suffix=documents.SESSION_SUFFIX)


@command(
    "file.save_session", tr("Save training session…"), "File/2", keys=("Ctrl+Alt+S",), when=has_runs
)
def save_session(context: CommandContext) -> None:
    """Write every run with its curves, history and weights, to continue later."""
    path = context.dialogs.ask_save(
        tr("Save the training session"), f"training{documents.SESSION_SUFFIX}", SESSIONS
    )
    if path is not None:
        path = _with_ending(path)
        path = documents.resolve(path)

        def then(programs: str) -> None:
            if programs:
                context.settings.trust(str(path), programs)
            context.settings.add_recent(str(path))

        context.session_store.save(path, then)


def _with_ending(path: Path) -> Path:
    """Return ``path`` with the suffix of a session.

    Raises:
        Refused: the suffix was missing, and a file of the completed name exists.
    """
    if path.suffix == documents.SESSION_SUFFIX:
        return path
    path = path.with_name(path.name + documents.SESSION_SUFFIX)
    if documents.exists(path):
        raise documents.Refused(
            tr("{name} is there already: choose it to replace it", name=path.name)
        )
    return path


@command("file.open_session", tr("Open training session…"), "File/1")
def choose_session(context: CommandContext) -> None:
    """Continue a saved training session."""
    if path := context.dialogs.ask_open(tr("Open a training session"), SESSIONS):
        open_session(context, path)


def open_session(context: CommandContext, path: Path) -> None:
    """Continue the training session in ``path``; a long one is read in the background.

    If it contains a program, ask the user first.

    Raises:
        Refused: it cannot be read, or is no session.
    """
    path = documents.resolve(path)
    context.session_store.files.fetch(path, lambda fetched: _take(context, path, fetched))


def _take(context: CommandContext, path: Path, fetched: LoadedSession) -> None:
    programs = fetched.programs
    if programs and not context.settings.is_trusted(str(path), programs):
        offer_to_run(
            context,
            path,
            programs,
            lambda: _open_room(context, path, fetched, foreign=True),
            lambda: _open_room(context, path, fetched, programs),
        )
    else:
        _open_room(context, path, fetched)


def offer_to_run(
    context: CommandContext,
    path: Path,
    program: str,
    run: Callable[[], None],
    trust: Callable[[], None],
) -> None:
    """Notify that a file from outside brings a program; offer to read, run or trust it."""
    text = tr(
        "{file_name} came from outside and brings a program. Read it, then open it.",
        file_name=file_name(path.name),
    )
    choices = (
        (tr("Read it"), lambda: read_program(context, path, program)),
        (tr("Open and run it"), run),
        (tr("Trust and run it"), trust),
    )
    context.notices.show_now(Notice(OUTSIDE, text, choices))


def read_program(context: CommandContext, path: Path, programs: str) -> None:
    """Show the program of a file from outside without running it. Raises `Refused`."""
    if why := length_problem(programs):
        raise documents.Refused(
            tr("The program in {name} is not shown: {why}", name=path.name, why=why)
        )
    context.recovery.stash()
    context.session.load(Doc(source=programs, title=path.stem, foreign=True))
    context.workspaces.show_workspace("program")
    context.settings.add_recent(str(path))
    context.say(tr("This program is in {name}; open that again to train with it", name=path.name))


def _open_room(
    context: CommandContext,
    path: Path,
    fetched: LoadedSession,
    programs: str = "",
    foreign: bool = False,
) -> None:
    if programs:
        context.settings.trust(str(path), programs)
    context.notices.drop(OUTSIDE)
    context.session_store.open(fetched, foreign)
    context.workspaces.show_workspace("training")
    context.settings.add_recent(str(path))
    context.say(tr("Opened {name} where it was saved", name=path.name))


FILES = {
    "script": ("train.py", tr("Python programs (*.py)")),
    "ddp": ("train_ddp.py", tr("Python programs (*.py)")),
    "csv": ("curves.csv", tr("CSV files (*.csv)")),
    "safetensors": ("weights.safetensors", tr("safetensors (*.safetensors)")),
    "pt": ("weights.pt", tr("PyTorch state_dict (*.pt)")),
    "pt2": ("model.pt2", tr("Exported programs (*.pt2)")),
    "onnx": ("model.onnx", tr("ONNX models (*.onnx)")),
}


def write_export(context: CommandContext, kind: str, data: bytes) -> None:
    """Ask for a file name and write what the engine exported."""
    name, pattern = FILES[kind]
    path = ask_name(context, tr("Export"), name, pattern)
    if path is not None:
        context.file_writer.write(
            path, lambda: [data], lambda: context.say(tr("Wrote {name}", name=path.name))
        )
