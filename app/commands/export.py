"""Export pictures, films, tapes and modules to files, and pictures to the clipboard."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QTimer

from gradscribe.app.commands import MenuChoice, command, submenu
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.document.model_run import ModelRun, modules_of
from gradscribe.app.files import documents, notebooks
from gradscribe.app.files.documents import Refused
from gradscribe.app.files.notebooks import NotebookCell
from gradscribe.engine.protocol.messages import ModelFileKind, ModelRequest
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.code import weight_edits
from gradscribe.playback.flow.take_home import GraphFormat
from gradscribe.playback.tape.figure_files import files_to_save
from gradscribe.playback.text import formatting
from gradscribe.playback.text.formatting import slug
from gradscribe.playback.translation import tr

KINDS: tuple[tuple[ModelFileKind, str, str], ...] = (
    ("safetensors", tr("weights as safetensors…"), tr("safetensors (*.safetensors)")),
    ("pt", tr("weights as state_dict (.pt)…"), tr("PyTorch state_dict (*.pt)")),
    ("pt2", tr("model with torch.export (.pt2)…"), tr("Exported programs (*.pt2)")),
    ("onnx", tr("model as ONNX…"), tr("ONNX models (*.onnx)")),
)
WEIGHTS = tr("Weights (*.pt *.pth *.safetensors)")
UNSAVED = tr("Save the program first: what it runs may read the files next to it")


def _has_run(context: CommandContext) -> bool:
    return bool(context.session.result.tape.events)


def _has_graph(context: CommandContext) -> bool:
    tape = context.session.result.tape
    return bool(tape.ops) or tape.fault is not None


@command(
    "file.export_png",
    tr("Export picture as PNG…"),
    menu="File/3/export",
    when=_has_graph,
    page="program",
)
def export_png(context: CommandContext) -> None:
    """Write the graph as it now looks to a PNG file."""
    _export(context, "png")


@command(
    "file.export_svg",
    tr("Export picture as SVG…"),
    menu="File/3/export",
    when=_has_graph,
    page="program",
)
def export_svg(context: CommandContext) -> None:
    """Write the graph as it now looks to an SVG file."""
    _export(context, "svg")


@command(
    "file.export_dot",
    tr("Export picture as DOT…"),
    menu="File/3/export",
    when=_has_graph,
    page="program",
)
def export_dot(context: CommandContext) -> None:
    """Write the cards and wires of the graph to a file for Graphviz."""
    _export(context, "dot")


@command(
    "file.export_graphml",
    tr("Export graph as GraphML…"),
    menu="File/3/export",
    when=_has_graph,
    page="program",
)
def export_graphml(context: CommandContext) -> None:
    """Write ops, values and gradients as a graph for yEd, Gephi or networkx."""
    _graph(context, "graphml", tr("GraphML (*.graphml)"))


@command(
    "file.export_gexf",
    tr("Export graph as GEXF…"),
    menu="File/3/export",
    when=_has_graph,
    page="program",
)
def export_gexf(context: CommandContext) -> None:
    """Write ops, values and gradients as a graph for Gephi."""
    _graph(context, "gexf", tr("GEXF (*.gexf)"))


@command(
    "file.export_graph_json",
    tr("Export graph as node-link JSON…"),
    menu="File/3/export",
    when=_has_graph,
    page="program",
)
def export_graph_json(context: CommandContext) -> None:
    """Write ops, values and gradients as nodes and links, for networkx and D3."""
    _graph(context, "json", tr("JSON (*.json)"))


@command(
    "file.copy_picture",
    tr("Copy picture"),
    menu="File/3",
    keys=("Ctrl+Alt+C",),
    when=_has_graph,
    page="program",
)
def copy_picture(context: CommandContext) -> None:
    """Copy the graph as it now looks to the clipboard."""
    context.copy_picture()


@command(
    "file.export_gif",
    tr("Export playback as GIF…"),
    menu="File/3/export",
    when=_has_graph,
    page="program",
)
def export_gif(context: CommandContext) -> None:
    """Write the playback as a film (animated GIF): choose size, speed, part and the program."""
    context.show_film_card("gif")


@command(
    "file.export_mp4",
    tr("Export playback as MP4…"),
    menu="File/3/export",
    when=_has_graph,
    page="program",
)
def export_mp4(context: CommandContext) -> None:
    """Write the playback as a film (MP4 video): choose size, speed, part and the program."""
    context.show_film_card("mp4")


def _has_later(context: CommandContext) -> bool:
    return _has_graph(context) and context.session.view.position < context.clock.length


def _has_earlier(context: CommandContext) -> bool:
    return _has_graph(context) and context.session.view.position > 0


@command(
    "file.film_from",
    tr("Begin the film here"),
    menu="File/3/export",
    when=_has_later,
    page="program",
)
def film_from(context: CommandContext) -> None:
    """Let the next export of the playback begin with this position."""
    begin_film_at(context, context.session.view.position)


@command(
    "file.film_to", tr("End the film here"), menu="File/3/export", when=_has_earlier, page="program"
)
def film_to(context: CommandContext) -> None:
    """Let the next export of the playback end with this position."""
    end_film_at(context, context.session.view.position)


def begin_film_at(context: CommandContext, position: int) -> None:
    """Mark a position as the beginning of the next film."""
    context.film_span.mark_first(context.session.result.tape, position)
    _say_span(context)


def end_film_at(context: CommandContext, position: int) -> None:
    """Mark a position as the end of the next film."""
    context.film_span.mark_stop(context.session.result.tape, position)
    _say_span(context)


def _say_span(context: CommandContext) -> None:
    first, stop = context.film_span.of(context.session.result.tape)
    context.say(
        tr(
            "The next film shows event {first:,} to {stop:,}: File > Export",
            first=first,
            stop=stop,
        )
    )


@command(
    "file.cancel_film",
    tr("Cancel the export"),
    menu="File/3/export",
    when=lambda context: context.export_queue.busy,
)
def cancel_film(context: CommandContext) -> None:
    """Cancel the running export; no file is left behind."""
    context.export_queue.cancel()


@command(
    "file.export_tape",
    tr("Export tape as JSON…"),
    menu="File/3/export",
    when=_has_graph,
    page="program",
)
def export_tape(context: CommandContext) -> None:
    """Write everything the run did, values and gradients, to a JSON file."""
    if path := _asked(context, tr("Export the tape"), "json", tr("JSON (*.json)")):
        context.export(path)


@command(
    "file.export_html",
    tr("Export run as HTML…"),
    menu="File/3/export",
    when=_has_run,
    page="program",
)
def export_html(context: CommandContext) -> None:
    """Write a page that plays the run in any browser, offline."""
    if path := _asked(context, tr("Export the run as a page"), "html", tr("HTML pages (*.html)")):
        context.export_page(path)


def _has_figures(context: CommandContext) -> bool:
    return any(one.name and not one.is_written for one in context.session.result.tape.figures)


@command(
    "file.save_figures",
    tr("Save files of savefig…"),
    menu="File/3",
    when=_has_figures,
    page="program",
)
def save_figures(context: CommandContext) -> None:
    """Write the files that the program gave to savefig where you choose."""
    files = files_to_save(context.session.result.tape.figures)
    if len(files) == 1:
        ((name, data),) = files.items()
        path = context.dialogs.ask_save(tr("Save the figure"), name, tr("Pictures (*)"))
        if path is not None:
            _write(context, [(path, data)])
        return
    folder = context.dialogs.ask_folder(tr("Save the figures in a folder"))
    if folder is None:
        return
    there = [name for name in files if documents.exists(folder / name)]
    if there:
        more = tr(" and {value} more", value=len(there) - 1) if len(there) > 1 else ""
        raise Refused(
            tr("{there}{more} is there already: choose another folder", there=there[0], more=more)
        )
    _write(context, [(folder / name, data) for name, data in files.items()])


def _write(context: CommandContext, files: list[tuple[Path, bytes]]) -> None:
    for path, _ in files:
        documents.check_writable(path)
    left = len(files)
    words = (
        tr("Wrote {name}", name=files[0][0].name)
        if left == 1
        else tr("Wrote {left} files", left=left)
    )

    def written() -> None:
        nonlocal left
        left -= 1
        if not left:
            context.say(words)

    for path, data in files:
        context.file_writer.write(path, lambda data=data: [data], written)  # type: ignore[misc]


def _export(context: CommandContext, kind: str) -> None:
    if path := _asked(
        context,
        tr("Export the picture"),
        kind,
        tr("{upper} pictures (*.{kind})", upper=kind.upper(), kind=kind),
    ):
        context.export(path)


def _graph(context: CommandContext, kind: GraphFormat, pattern: str) -> None:
    if path := _asked(context, tr("Export the graph"), kind, pattern):
        context.export_graph(path, kind)


def _asked(context: CommandContext, title: str, kind: str, pattern: str) -> Path | None:
    """Ask for a file name and add the suffix of the format if it is missing."""
    path = context.dialogs.ask_save(title, f"{slug(context.session.doc.title)}.{kind}", pattern)
    if path is None or path.suffix.lower() == f".{kind}":
        return path
    return path.with_name(f"{path.name}.{kind}")


def ask_name(context: CommandContext, title: str, name: str, pattern: str) -> Path | None:
    """Ask for a file to write, ``name`` at first; add the suffix of that if there is none."""
    path = context.dialogs.ask_save(title, name, pattern)
    return path.with_suffix(Path(name).suffix) if path is not None and not path.suffix else path


# Modules of the program


@submenu("file.export_model", tr("Export model"), menu="File/3", page="program")
def export_model(context: CommandContext) -> list[MenuChoice]:
    """Write a module of the program, as it is at the end of a run, to a file."""

    def choice(module: str, kind: ModelFileKind, title: str, pattern: str) -> MenuChoice:
        return MenuChoice(
            f"{module}: {title}", lambda at: _export_model(at, module, kind, pattern), tip=title
        )

    return [choice(module, *kind) for module, _ in _modules(context) for kind in KINDS]


@submenu("file.read_weights", tr("Read weights"), menu="File/3", page="program")
def read_weights(context: CommandContext) -> list[MenuChoice]:
    """Let a module of the program load the weights in a .pt or .safetensors file."""

    def choice(module: str, kind: str) -> MenuChoice:
        return MenuChoice(f"{module} ({kind})…", lambda at: _read_weights(at, module))

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
        raise Refused(tr("The text has changed since: run it first"))
    context.export_queue.check_free()
    return session.doc.source, session.whole_tape


def _export_model(context: CommandContext, module: str, kind: ModelFileKind, pattern: str) -> None:
    from gradscribe.app.export.model_job import ModelJob

    source, tape = _shown(context)
    path = ask_name(context, tr("Export {module}", module=module), f"{module}.{kind}", pattern)
    if path is None:
        return
    session = context.session
    doc, limits = session.doc, session.limits

    def begin(run: ModelRun) -> None:
        run.start(source, doc, limits, ModelRequest(0, module, kind), tape)

    context.export_queue.begin(ModelJob(path, ModelRun(context.companion, session), begin))


def _read_weights(context: CommandContext, module: str) -> None:
    from gradscribe.app.export.model_job import WeightsJob

    source, tape = _shown(context)
    session = context.session
    doc, limits = session.doc, session.limits
    if doc.foreign:
        raise Refused(tr("A program from elsewhere reads no files: trust it first"))
    if not doc.path and not limits.is_open:
        raise Refused(UNSAVED)
    path = context.dialogs.ask_open(tr("Read weights for {module}", module=module), WEIGHTS)
    if path is None:
        return
    is_safetensors = path.suffix.lower() == ".safetensors"

    def begin(run: ModelRun, data: bytes) -> None:
        request = ModelRequest(0, module, "check", data, is_safetensors)
        run.start(source, doc, limits, request, tape)

    def then(data: bytes) -> None:
        # After the job, as a dialog lets its timer go on.
        QTimer.singleShot(0, session, partial(_take_weights, context, module, source, path, data))

    run = ModelRun(context.companion, session)
    context.export_queue.begin(WeightsJob(path, run, begin, then))


def _take_weights(
    context: CommandContext, module: str, source: str, path: Path, data: bytes
) -> None:
    """Load weights that fit: from their file, or from a copy where the program may read it."""
    if _is_readable(context, path) and path.suffix.lower() != ".safetensors":
        _load_weights(context, module, source, path)
        return
    folder = Path(context.session.doc.path).parent
    title = tr("Save these weights where the program may read them")
    copy = context.dialogs.ask_save(title, str(folder / f"{path.stem}.pt"), KINDS[1][2])
    if copy is None:
        context.say(tr("{name} was not read", name=path.name))
        return
    copy = copy if copy.suffix else copy.with_suffix(".pt")
    if not _is_readable(context, copy):
        context.say(
            tr(
                "The program may read files in {folder} alone: {name} was not written",
                folder=folder,
                name=copy.name,
            )
        )
        return
    then: Callable[[], None] = partial(_load_weights, context, module, source, copy)
    context.file_writer.write(copy, lambda: [data], then)


def _is_readable(context: CommandContext, path: Path) -> bool:
    """Return whether a run of the program may read a file."""
    session = context.session
    if session.limits.is_open:
        return True
    folder = Path(session.doc.path).absolute().parent
    return bool(session.doc.path) and path.resolve().is_relative_to(folder.resolve())


def _load_weights(context: CommandContext, module: str, source: str, path: Path) -> None:
    session = context.session
    if session.doc.source != source:
        context.say(tr("The text has changed since: {name} was not read", name=path.name))
        return
    edited = weight_edits.with_weights(source, module, path.absolute().as_posix())
    if not edited:
        context.say(
            tr(
                "No line makes {module} alone: add {module}.load_state_dict(...) by hand",
                module=module,
            )
        )
        return
    session.apply_fix(edited)
    context.say(tr("{module} loads {name}. Ctrl+Z takes it back", module=module, name=path.name))


PICTURE = "graph.svg"
"""Name of the graph in the folder next to a Markdown file."""


def _has_text(context: CommandContext) -> bool:
    return bool(context.session.doc.source.strip())


@command(
    "file.export_notebook",
    tr("Export as notebook…"),
    menu="File/3/export",
    when=_has_text,
    page="program",
)
def export_notebook(context: CommandContext) -> None:
    """Write the program, divided at its # %% marks, with output and graph as a Jupyter notebook."""
    doc = context.session.doc
    setup = notebooks.setup_for(doc.source, doc.seed)

    def make(cells: list[NotebookCell], stdout: str, svg: str, _: Path) -> bytes:
        return notebooks.encode(cells, notebooks.outputs_of(stdout, svg), setup)

    path = _write_cells(
        context, tr("Export the notebook"), "ipynb", tr("Jupyter notebooks (*.ipynb)"), make
    )
    if path is not None and not doc.foreign:
        # What is written here does not come from outside.
        written = notebooks.decode(notebooks.encode(notebooks.to_cells(doc.source), [], setup))
        text, _ = notebooks.to_program(written)
        context.settings.trust(str(documents.resolve(path)), text)


@command(
    "file.export_markdown",
    tr("Export as Markdown…"),
    menu="File/3/export",
    when=_has_text,
    page="program",
)
def export_markdown(context: CommandContext) -> None:
    """Write the program and its output as Markdown, the graph as SVG into a folder next to it."""

    def make(cells: list[NotebookCell], stdout: str, svg: str, path: Path) -> bytes:
        picture = ""
        if svg:
            folder = path.with_name(f"{path.stem}_files")
            try:
                folder.mkdir(exist_ok=True)
            except OSError as error:
                raise Refused(
                    tr(
                        "{folder} cannot be made: {value}",
                        folder=folder,
                        value=error.strerror or error,
                    )
                ) from error
            documents.write_bytes(folder / PICTURE, svg.encode())
            picture = f"{folder.name}/{PICTURE}"
        return notebooks.to_markdown(cells, stdout, picture).encode("utf-8", "replace")

    _write_cells(context, tr("Export as Markdown"), "md", tr("Markdown (*.md)"), make)


def _write_cells(
    context: CommandContext,
    title: str,
    kind: str,
    pattern: str,
    make: Callable[[list[NotebookCell], str, str, Path], bytes],
) -> Path | None:
    """Ask for a file, write it in the background, and return it; None if none was chosen.

    A run of another text is left out of it.
    """
    from gradscribe.app.export.image_job import FileJob

    doc, result = context.session.doc, context.session.result
    path = context.dialogs.ask_save(title, f"{formatting.slug(doc.title)}.{kind}", pattern)
    if path is None:
        return None
    if path.suffix.lower() != f".{kind}":
        path = path.with_name(f"{path.name}.{kind}")
    cells = notebooks.to_cells(doc.source)
    is_current = result.source == doc.source and not result.stale
    tape = result.tape if is_current and result.tape.ops else None

    def work() -> bytes:
        from gradscribe.playback.svg import to_svg
        from gradscribe.playback.tape.index import index_of

        svg = "" if tape is None else to_svg(index_of(tape))
        return make(cells, "" if tape is None else tape.stdout, svg, path)

    context.export_queue.begin(FileJob(path, work))
    return path
