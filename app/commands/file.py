"""Open and save programs."""

from pathlib import Path

from gradscribe.app.commands import MenuChoice, command, setup, submenu, train
from gradscribe.app.commands.context import Shell
from gradscribe.app.commands.export import slug
from gradscribe.app.document import examples
from gradscribe.app.document.state import Doc
from gradscribe.app.files import documents
from gradscribe.app.files.documents import Refused
from gradscribe.app.runtime.notice import Notice
from gradscribe.playback.text.formatting import file_name
from gradscribe.widgets.editor.source_text import length_problem

OUTSIDE = "outside"
"""Key of the notice about a program from outside."""
DATA = (".csv", ".tsv")
PROGRAMS = "Python programs (*.py);;All files (*)"


def open_path(shell: Shell, path: str) -> None:
    """Open the program, the training session or the set-up at ``path``.

    Unsaved changes of a program are restored from its draft.

    Raises:
        Refused: it cannot be read, is not text, or is too much for the editor.
    """
    file = documents.resolve(Path(path))
    if documents.exists(file) and not (file.is_file() or file.is_dir()):
        # Reading a pipe without a writer would block for ever.
        raise Refused(f"{file} is no plain file")
    if file.suffix.lower() in DATA:
        raise Refused(f"{file.name} holds data: choose it in Training, under Data")
    if file.suffix == documents.SESSION_SUFFIX:
        train.open_session(shell, file)
        return
    if file.suffix.lower() == setup.SETUP:
        setup.open_setup(shell, file)
        return
    shell.recovery.file.finish()
    text = documents.read(file)
    if why := length_problem(text):
        raise Refused(f"{file.name} is not opened: {why}")
    shell.recovery.stash()
    draft = shell.recovery.find_draft(str(file))
    source = draft.source if draft else text
    # The draft of a trusted file is trusted, too.
    foreign = not shell.settings.is_trusted(str(file), draft.saved if draft else text)
    doc = Doc(
        source=source, saved=text, path=str(file), title=file_name(file.name), foreign=foreign
    )
    shell.session.load(doc)
    shell.show_workspace("program")
    shell.settings.add_recent(str(file))
    shell.say(f"Opened {doc.title}" + (" with changes that are not saved yet" if draft else ""))
    if draft:
        shell.recovery.adopt_draft(str(file))
        if draft.saved != text:
            shell.recovery.file.notify_changed()


def offer_trust(shell: Shell) -> None:
    """Notify that a program from outside waits to be read, and offer to run or trust it."""
    doc = shell.session.doc
    if doc.may_run:
        shell.notices.drop(OUTSIDE)
        return
    if doc.lesson:
        text = (
            f"The lesson {doc.title} came from outside. Its programs wait until you let them run."
        )
        labels = ("Let them run", "Trust this lesson")
    else:
        text = f"{doc.title} came from outside. Read it, then run it."
        labels = ("Run", "Trust this file")
    actions = (shell.session.run_now, lambda: trust(shell))
    choices = tuple(zip(labels, actions, strict=True))
    more = "Until you trust it, it runs without files, the network and other programs"
    shell.notices.show_now(Notice(OUTSIDE, text, choices, more))


@command("run.trust", "Trust this file", menu="Run/1", when=lambda shell: shell.session.doc.foreign)
def trust(shell: Shell) -> None:
    """Let the program from outside run as if you had typed it, now and the next time."""
    doc, lesson = shell.session.doc, shell.learning.lesson
    if lesson is not None and lesson.path:
        shell.settings.trust(lesson.path, lesson.text)
    else:
        shell.settings.trust(doc.path, doc.source)
    shell.session.trust()
    shell.notices.drop(OUTSIDE)
    shell.say(f"{doc.title} is trusted as it now stands")


def open_first(shell: Shell, path: str) -> None:
    """Open the file given at start-up, else unsaved work, else the first example.

    Raises:
        Refused: the file cannot be read, or is not text.
    """
    if path:
        open_path(shell, path)
    if shell.recovery.recover(shell.session.doc.path) or path:
        return
    draft = shell.recovery.find_draft("")
    if draft:
        title = draft.title or "Untitled"
        doc = Doc(source=draft.source, saved=draft.saved, title=title, foreign=draft.foreign)
        shell.session.load(doc)
        shell.recovery.adopt_draft("")
        shell.say("Here is what you were typing last time")
    else:
        first = examples.load()[0]
        shell.session.load(Doc(source=first.source, saved=first.source, title=first.title))


def open_example(shell: Shell, title: str, source: str) -> None:
    """Start from an example; undo leads back to the previous text."""
    shell.recovery.stash()
    shell.session.load(Doc(source=source, saved=source, title=title))
    shell.show_workspace("program")
    shell.say(f"Opened the example {title}")


@command("file.new", "New", menu="File/1", keys=("Ctrl+N",))
def new(shell: Shell) -> None:
    """Start with an empty program."""
    shell.recovery.stash()
    shell.session.load(Doc())
    shell.show_workspace("program")
    shell.editor.setFocus()


@command("file.open", "Open…", menu="File/1", keys=("Ctrl+O",))
def open_file(shell: Shell) -> None:
    """Open a Python program from a file."""
    if path := shell.ask_open("Open a program", PROGRAMS):
        open_path(shell, str(path))


@submenu("file.recent", "Open recent", menu="File/1")
def recent(shell: Shell) -> list[MenuChoice]:
    """Programs you opened or saved last."""

    def choice(path: str) -> MenuChoice:
        return MenuChoice(Path(path).name, lambda at: open_path(at, path), tip=path)

    return [choice(path) for path in shell.settings.recent()]


@submenu("file.examples", "Examples", menu="File/1")
def list_examples(_: Shell) -> list[MenuChoice]:
    """Short programs to start from."""

    def choice(example: examples.Example) -> MenuChoice:
        title, source = example.title, example.source
        return MenuChoice(title, lambda at: open_example(at, title, source), example.about)

    return [choice(example) for example in examples.load()]


@command("file.gallery", "Choose an example…", menu="File/1", keys=("Ctrl+E",))
def gallery(shell: Shell) -> None:
    """See all examples with a sentence about each."""
    shell.show_examples()


@command("file.save", "Save", menu="File/2", keys=("Ctrl+S",))
def save(shell: Shell) -> None:
    """Write the program to its file."""
    path = shell.session.doc.path
    if path:
        _save(shell, Path(path))
    else:
        save_as(shell)


@command("file.save_as", "Save as…", menu="File/2", keys=("Ctrl+Shift+S",))
def save_as(shell: Shell) -> None:
    """Write the program to another file."""
    doc = shell.session.doc
    name = doc.path or f"{slug(doc.title)}.py"
    if path := shell.ask_save("Save the program", name, PROGRAMS):
        _save(shell, path if path.suffix else path.with_suffix(".py"))


def _save(shell: Shell, path: Path, sure: bool = False) -> None:
    """Write the program to ``path``; ``sure`` overrides the objections of the file watch."""
    path = documents.resolve(path)
    objection = "" if sure else shell.recovery.file.write_conflict(path)
    if objection == "disk":
        shell.recovery.file.notify_changed()
        return
    if objection == "twice":
        text = f"{path.name} is open in another window too"
        choices = (
            ("Save as…", lambda: save_as(shell)),
            ("Save anyway", lambda: _save(shell, path, sure=True)),
        )
        shell.notices.show_now(Notice("save", text, choices, str(path)))
        return
    doc = shell.session.doc

    def saved() -> None:
        shell.drafts.drop(str(path))
        shell.session.mark_saved(str(path), file_name(path.name), doc.source)
        if not doc.foreign:
            shell.settings.trust(str(path), doc.source)
        shell.recovery.file.saved()
        shell.settings.add_recent(str(path))
        shell.say(f"Saved {path.name}")

    def refused(refusal: Refused) -> None:
        choices = (
            ("Save as…", lambda: save_as(shell)),
            ("Try again", lambda: _save(shell, path, sure)),
        )
        shell.notices.show_now(Notice("save", str(refusal), choices))
        shell.say(str(refusal))

    shell.recovery.file.write(path, doc, saved, refused)


@command("file.quit", "Quit", menu="File/4", keys=("Ctrl+Q",))
def leave(shell: Shell) -> None:
    """Close the window; what is not saved is there again next time."""
    shell.close_window()
