"""The program's own modules as files: exported, and their weights read from files."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QTimer

from gradscribe.app.commands import MenuChoice, submenu
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.commands.export import ask_name
from gradscribe.app.document.model_run import ModelRun, modules_of
from gradscribe.app.files.documents import Refused
from gradscribe.engine.protocol.messages import ModelFileKind, ModelRequest
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.code import weight_edits

KINDS: tuple[tuple[ModelFileKind, str, str], ...] = (
    ("safetensors", "weights as safetensors…", "safetensors (*.safetensors)"),
    ("pt", "weights as state_dict (.pt)…", "PyTorch state_dict (*.pt)"),
    ("pt2", "model with torch.export (.pt2)…", "Exported programs (*.pt2)"),
    ("onnx", "model as ONNX…", "ONNX models (*.onnx)"),
)
WEIGHTS = "Weights (*.pt *.pth *.safetensors)"
UNSAVED = "Save the program first: what it runs may read the files next to it"


@submenu("file.export_model", "Export model", menu="File/3")
def export_model(context: CommandContext) -> list[MenuChoice]:
    """Write a module of the program, as it is at the end of a run, to a file."""

    def choice(module: str, kind: ModelFileKind, title: str, pattern: str) -> MenuChoice:
        return MenuChoice(
            f"{module}: {title}", lambda at: _export(at, module, kind, pattern), tip=title
        )

    return [choice(module, *kind) for module, _ in _modules(context) for kind in KINDS]


@submenu("file.read_weights", "Read weights", menu="File/3")
def read_weights(context: CommandContext) -> list[MenuChoice]:
    """Let a module of the program load the weights in a .pt or .safetensors file."""

    def choice(module: str, kind: str) -> MenuChoice:
        return MenuChoice(f"{module} ({kind})…", lambda at: _read(at, module))

    return [choice(module, kind) for module, kind in _modules(context)]


def _modules(context: CommandContext) -> list[tuple[str, str]]:
    session = context.session
    is_current = session.doc.source == session.result.source and session.doc.may_run
    return modules_of(session.whole_tape) if is_current else []


def _shown(context: CommandContext) -> tuple[str, Tape]:
    """Return the text as it is and its tape.

    Raises:
        Refused: the text has changed since its run, or may not run.
    """
    session = context.session
    if session.doc.source != session.result.source or not session.doc.may_run:
        raise Refused("The text has changed since: run it first")
    context.export_queue.check_free()
    return session.doc.source, session.whole_tape


def _export(context: CommandContext, module: str, kind: ModelFileKind, pattern: str) -> None:
    from gradscribe.app.export.model_job import ModelJob

    source, tape = _shown(context)
    path = ask_name(context, f"Export {module}", f"{module}.{kind}", pattern)
    if path is None:
        return
    session = context.session
    doc, limits = session.doc, session.limits

    def begin(run: ModelRun) -> None:
        run.start(source, doc, limits, ModelRequest(0, module, kind), tape)

    context.export_queue.begin(ModelJob(path, ModelRun(context.companion, session), begin))


def _read(context: CommandContext, module: str) -> None:
    from gradscribe.app.export.model_job import WeightsJob

    source, tape = _shown(context)
    session = context.session
    doc, limits = session.doc, session.limits
    if doc.foreign:
        raise Refused("A program from elsewhere reads no files: trust it first")
    if not doc.path and not limits.is_open:
        raise Refused(UNSAVED)
    path = context.dialogs.ask_open(f"Read weights for {module}", WEIGHTS)
    if path is None:
        return
    is_safetensors = path.suffix.lower() == ".safetensors"

    def begin(run: ModelRun, data: bytes) -> None:
        request = ModelRequest(0, module, "check", data, is_safetensors)
        run.start(source, doc, limits, request, tape)

    def then(data: bytes) -> None:
        # After the job, as a dialog lets its timer go on.
        QTimer.singleShot(0, session, partial(_take, context, module, source, path, data))

    run = ModelRun(context.companion, session)
    context.export_queue.begin(WeightsJob(path, run, begin, then))


def _take(context: CommandContext, module: str, source: str, path: Path, data: bytes) -> None:
    """Load weights that fit: from their file, or from a copy where the program may read it."""
    if _is_readable(context, path) and path.suffix.lower() != ".safetensors":
        _edit(context, module, source, path)
        return
    folder = Path(context.session.doc.path).parent
    title = "Save these weights where the program may read them"
    copy = context.dialogs.ask_save(title, str(folder / f"{path.stem}.pt"), KINDS[1][2])
    if copy is None:
        context.say(f"{path.name} was not read")
        return
    copy = copy if copy.suffix else copy.with_suffix(".pt")
    if not _is_readable(context, copy):
        context.say(f"The program may read files in {folder} alone: {copy.name} was not written")
        return
    then: Callable[[], None] = partial(_edit, context, module, source, copy)
    context.file_writer.write(copy, lambda: [data], then)


def _is_readable(context: CommandContext, path: Path) -> bool:
    """Return whether a run of the program may read a file."""
    session = context.session
    if session.limits.is_open:
        return True
    folder = Path(session.doc.path).absolute().parent
    return bool(session.doc.path) and path.resolve().is_relative_to(folder.resolve())


def _edit(context: CommandContext, module: str, source: str, path: Path) -> None:
    session = context.session
    if session.doc.source != source:
        context.say(f"The text has changed since: {path.name} was not read")
        return
    edited = weight_edits.with_weights(source, module, path.absolute().as_posix())
    if not edited:
        context.say(f"No line makes {module} alone: add {module}.load_state_dict(...) by hand")
        return
    session.apply_fix(edited)
    context.say(f"{module} loads {path.name}. Ctrl+Z takes it back")
