"""Open and save programs."""

from pathlib import Path

from PySide6.QtCore import QProcess

from gradscribe.app.commands import MenuChoice, command, saved_run, setup, submenu, train
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.document import examples
from gradscribe.app.document.state import Doc
from gradscribe.app.files import documents, notebooks, tape_files
from gradscribe.app.files.documents import Refused
from gradscribe.app.files.open_requests import OpenRequest
from gradscribe.app.link import launch
from gradscribe.app.runtime.notice import Notice
from gradscribe.app.watch.reader import WatchReader
from gradscribe.engine.protocol import watch_file
from gradscribe.playback.text import formatting
from gradscribe.playback.text.formatting import file_name, slug
from gradscribe.playback.translation import ngettext, pgettext, tr
from gradscribe.widgets.editor.source_text import length_problem

OUTSIDE = "outside"
"""Key of the notice about a program from outside."""
DATA = (".csv", ".tsv", ".xlsx", ".parquet")
PROGRAMS = tr("Python programs (*.py);;All files (*)")
OPENED = tr(
    "Programs, runs, sessions and set-ups (*.py *{suffix} *{suffix_2} "
    "*{suffix_3} *{session_suffix} *{setup});;All files (*)",
    suffix=notebooks.SUFFIX,
    suffix_2=tape_files.SUFFIX,
    suffix_3=watch_file.SUFFIX,
    session_suffix=documents.SESSION_SUFFIX,
    setup=setup.SETUP,
)


def open_path(context: CommandContext, path: str) -> None:
    """Open the program, the recorded run, the training session or the set-up at ``path``.

    Unsaved changes of a program are restored from its draft.

    Raises:
        Refused: it cannot be read, is not text, or is too much for the editor.
    """
    file = documents.resolve(Path(path))
    if documents.exists(file) and not (file.is_file() or file.is_dir()):
        # Reading a pipe without a writer would block for ever.
        raise Refused(tr("{file} is no plain file", file=file))
    if file.suffix.lower() in DATA:
        raise Refused(tr("{name} holds data: choose it in Training, under Data", name=file.name))
    if _open_other_kind(context, file):
        return
    context.recovery.file.finish()
    text = documents.read(file)
    if why := length_problem(text):
        raise Refused(tr("{name} is not opened: {why}", name=file.name, why=why))
    context.recovery.stash()
    draft = context.recovery.find_draft(str(file))
    source = draft.source if draft else text
    # The draft of a trusted file is trusted, too.
    known = draft.saved if draft else text
    foreign = not context.settings.is_trusted(str(file), known)
    doc = Doc(
        source=source,
        saved=text,
        path=str(file),
        title=file_name(file.name),
        foreign=foreign,
        seen=foreign and context.settings.is_read(str(file), known),
        slides=draft.slides if draft else (),
    )
    context.session.load(doc)
    context.workspaces.show_workspace("program")
    context.settings.add_recent(str(file))
    context.say(
        tr("Opened {title}", title=doc.title)
        + (tr(" with changes that are not saved yet") if draft else "")
    )
    if draft:
        context.recovery.adopt_draft(str(file))
        if draft.saved != text:
            context.recovery.file.notify_changed()


def _open_other_kind(context: CommandContext, file: Path) -> bool:
    """Open a file that is no program in text; False if it may be one."""
    if file.suffix == documents.SESSION_SUFFIX:
        train.open_session(context, file)
    elif tape_files.is_tape(file):
        saved_run.open_run(context, file)
    elif notebooks.is_notebook(file):
        open_notebook(context, file)
    elif file.suffix.lower() == setup.SETUP:
        setup.open_setup(context, file)
    elif file.suffix.lower() == watch_file.SUFFIX:
        open_watch(context, file)
    else:
        return False
    return True


def open_watch(context: CommandContext, path: Path) -> None:
    """Show a watched training loop, in a window and a process of its own.

    Raises:
        Refused: it cannot be read, is no watched loop, or no process can be started.
    """
    WatchReader(path).close()
    command = ["-P", "-m", "gradscribe", "watch", str(path)]
    if not QProcess.startDetached(launch.python_executable(), command):
        raise Refused(tr("{name} is not opened: no window can be started", name=path.name))
    context.say(tr("{name} opens in a window of its own", name=path.name))


def open_notebook(context: CommandContext, path: Path) -> None:
    """Show the code cells of a notebook as one program, which waits until the user trusts it.

    Raises:
        Refused: it cannot be read, is no notebook of Python, or is too long for the editor.
    """
    context.recovery.file.finish()
    cells = notebooks.read(path)
    source, skipped = notebooks.to_program(cells)
    if why := length_problem(source):
        raise Refused(tr("{name} is not opened: {why}", name=path.name, why=why))
    context.recovery.stash()
    # Without a path: Save must not write a program over the notebook.
    title = formatting.file_name(path.stem)
    file = str(documents.resolve(path))
    foreign = not context.settings.is_trusted(file, source)
    doc = Doc(source=source, saved=source, made_of=file, title=title, foreign=foreign)
    context.session.load(doc)
    context.workspaces.show_workspace("program")
    context.settings.add_recent(str(path))
    count = ngettext(
        "{count:,} cell", "{count:,} cells", sum(cell.kind == "code" for cell in cells)
    )
    words = tr("Opened {name}, {count}", name=path.name, count=count)
    if skipped:
        lines = ngettext("{count:,} line", "{count:,} lines", len(skipped))
        first = skipped[0] if len(skipped[0]) <= 30 else f"{skipped[0][:29]}…"
        words += tr(
            " · {lines} for IPython became comments, the first {first}", lines=lines, first=first
        )
    context.say(words)


def open_request(context: CommandContext, request: OpenRequest) -> None:
    """Show the file of a request at the line or position that it names.

    A program that is open already stays as it stands, with what was typed into it.

    Raises:
        Refused: it cannot be read, is not text, or is too much for the editor.
    """
    file = documents.resolve(Path(request.path))
    if request.is_temporary:
        saved_run.open_temporary(context, file)
    elif str(file) != context.session.doc.path:
        open_path(context, str(file))
    else:
        context.workspaces.show_workspace("program")
    if request.line > 0:
        context.editor.go_to_line(request.line)
        context.editor.setFocus()
    if request.position >= 0:
        context.session.move(request.position)


def offer_trust(context: CommandContext) -> None:
    """Notify that a program from outside waits to be read, and offer to run or trust it."""
    doc = context.session.doc
    if doc.may_run:
        context.notices.drop(OUTSIDE)
        return
    if doc.lesson:
        text = tr(
            "The lesson {title} came from outside. Its programs wait until you let them run.",
            title=doc.title,
        )
        labels = (tr("Let them run"), tr("Trust this lesson"))
    elif doc.shows_file is not None:
        text = tr(
            "{origin}. Read the program before you run it here.",
            origin=tape_files.origin(doc.shows_file),
        )
        labels = (tr("Run it again here"), tr("Trust this program"))
    else:
        text = tr("{title} came from outside. Read it, then run it.", title=doc.title)
        labels = (tr("Run"), tr("Trust this file"))
    actions = (context.session.run_now, lambda: trust(context))
    choices = tuple(zip(labels, actions, strict=True))
    more = tr("Until you trust it, it runs without files, the network and other programs")
    context.notices.show_now(Notice(OUTSIDE, text, choices, more))


@command(
    "run.trust",
    tr("Trust this file"),
    menu="Run/1",
    when=lambda context: context.session.doc.foreign,
)
def trust(context: CommandContext) -> None:
    """Let the program from outside run as if you had typed it, now and the next time."""
    doc, lesson = context.session.doc, context.lessons.lesson
    if lesson is not None and lesson.path:
        context.settings.trust(lesson.path, lesson.text)
    else:
        context.settings.trust(doc.path or doc.made_of, doc.source)
    context.session.trust()
    context.notices.drop(OUTSIDE)
    context.say(tr("{title} is trusted as it now stands", title=doc.title))


def open_first(context: CommandContext, path: str) -> None:
    """Open the file given at start-up, else unsaved work, else the first example.

    Raises:
        Refused: the file cannot be read, or is not text.
    """
    if path:
        open_path(context, path)
    if context.recovery.recover(context.session.doc.path) or path:
        return
    draft = context.recovery.find_draft("")
    if draft:
        title = draft.title or tr("Untitled")
        doc = Doc(
            source=draft.source,
            saved=draft.saved,
            title=title,
            foreign=draft.foreign,
            slides=draft.slides,
        )
        context.session.load(doc)
        context.recovery.adopt_draft("")
        context.say(tr("Here is what you were typing last time"))
    else:
        first = examples.load()[0]
        context.session.load(Doc(source=first.source, saved=first.source, title=first.title))


def open_example(context: CommandContext, title: str, source: str) -> None:
    """Start from an example; undo leads back to the previous text."""
    context.recovery.stash()
    context.session.load(Doc(source=source, saved=source, title=title))
    context.workspaces.show_workspace("program")
    context.say(tr("Opened the example {title}", title=title))


@command("file.new", tr("New"), menu="File/1", keys=("Ctrl+N",))
def new(context: CommandContext) -> None:
    """Start with an empty program."""
    context.recovery.stash()
    context.session.load(Doc())
    context.workspaces.show_workspace("program")
    context.editor.setFocus()


@command("file.new_window", tr("New window"), menu="File/1", keys=("Ctrl+Shift+N",))
def new_window(context: CommandContext) -> None:
    """Open another window with an empty program; either can be closed without the other."""
    context.open_window()
    context.say(tr("Another window is opening"))


@command("file.start", tr("Start page"), menu="File/1", keys=("Ctrl+Alt+Home",))
def start(context: CommandContext) -> None:
    """Choose among recent files, examples, lessons and set-ups."""
    context.show_start()


@command("file.open", tr("Open…"), menu="File/1", keys=("Ctrl+O",))
def open_file(context: CommandContext) -> None:
    """Open a Python program, a notebook, a recorded run, a training session or a set-up."""
    if path := context.dialogs.ask_open(tr("Open a file"), OPENED):
        open_path(context, str(path))


@submenu("file.recent", tr("Open recent"), menu="File/1")
def recent(context: CommandContext) -> list[MenuChoice]:
    """Programs you opened or saved last."""

    def choice(path: str) -> MenuChoice:
        return MenuChoice(Path(path).name, lambda at: open_path(at, path), tip=path)

    return [choice(path) for path in context.settings.recent()]


@submenu("file.examples", pgettext("programs", "Examples"), menu="File/1")
def list_examples(_: CommandContext) -> list[MenuChoice]:
    """Short programs to start from."""

    def choice(example: examples.Example) -> MenuChoice:
        title, source = example.title, example.source
        return MenuChoice(title, lambda at: open_example(at, title, source), example.about)

    return [choice(example) for example in examples.load()]


@command("file.gallery", tr("Choose an example…"), menu="File/1", keys=("Ctrl+E",))
def gallery(context: CommandContext) -> None:
    """See all examples with a sentence about each; in Training all set-ups."""
    context.show_examples(context.workspaces.current)


def _can_save(context: CommandContext) -> bool:
    return not train.on_training_page(context) or train.has_runs(context)


@command("file.save", tr("Save"), menu="File/2", keys=("Ctrl+S",), when=_can_save)
def save(context: CommandContext) -> None:
    """Write the program to its file; in Training the session, whose file is asked for."""
    if train.on_training_page(context):
        train.save_session(context)
        return
    path = context.session.doc.path
    if path:
        _save(context, Path(path))
    else:
        save_as(context)


@command("file.save_as", tr("Save as…"), menu="File/2", keys=("Ctrl+Shift+S",), page="program")
def save_as(context: CommandContext) -> None:
    """Write the program to another file."""
    doc = context.session.doc
    name = doc.path or f"{slug(doc.title)}.py"
    if path := context.dialogs.ask_save(tr("Save the program"), name, PROGRAMS):
        _save(context, path if path.suffix else path.with_suffix(".py"))


def _save(context: CommandContext, path: Path, sure: bool = False) -> None:
    """Write the program to ``path``; ``sure`` overrides the objections of the file watch."""
    path = documents.resolve(path)
    objection = "" if sure else context.recovery.file.write_conflict(path)
    if objection == "disk":
        context.recovery.file.notify_changed()
        return
    if objection == "twice":
        text = tr("{name} is open in another window too", name=path.name)
        choices = (
            (tr("Save as…"), lambda: save_as(context)),
            (tr("Save anyway"), lambda: _save(context, path, sure=True)),
        )
        context.notices.show_now(Notice("save", text, choices, str(path)))
        return
    doc = context.session.doc

    def saved() -> None:
        context.drafts.drop(str(path))
        context.session.mark_saved(str(path), file_name(path.name), doc.source)
        if not doc.foreign:
            context.settings.trust(str(path), doc.source)
        elif doc.seen:
            context.settings.mark_read(str(path), doc.source)
        context.recovery.file.mark_saved()
        context.settings.add_recent(str(path))
        context.say(tr("Saved {name}", name=path.name))

    def refused(refusal: Refused) -> None:
        choices = (
            (tr("Save as…"), lambda: save_as(context)),
            (tr("Try again"), lambda: _save(context, path, sure)),
        )
        context.notices.show_now(Notice("save", str(refusal), choices))
        context.say(str(refusal))

    context.recovery.file.write(path, doc, saved, refused)


@command("file.quit", tr("Quit"), menu="File/4", keys=("Ctrl+Q",))
def leave(context: CommandContext) -> None:
    """Close the window; what is not saved is there again next time."""
    context.close_window()
