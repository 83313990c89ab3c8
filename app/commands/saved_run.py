"""Recorded runs as files: saved, and opened again without running anything."""

import contextlib
from functools import partial
from pathlib import Path

from gradscribe.app.commands import command
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.document.state import Doc
from gradscribe.app.files import tape_files
from gradscribe.app.files.documents import Refused
from gradscribe.app.ranks import rank_files
from gradscribe.app.runtime.notice import Notice
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape_file import RunFile, RunView
from gradscribe.playback.text.formatting import file_name, slug
from gradscribe.playback.translation import ngettext, tr, translated
from gradscribe.widgets.editor.source_text import length_problem

SPOILT = "spoilt"
"""Key of the notice about a file that is not whole."""
ReadRuns = tuple[RunFile, tuple[RunFile | None, ...], str]
MOST_AT_ONCE = 2 << 20
"""Largest file in bytes that is read in the GUI thread."""
RUNS = tr("Recorded runs (*{suffix})", suffix=tape_files.SUFFIX)


def open_run(context: CommandContext, path: Path) -> None:
    """Show the run in a file as it was recorded; its program does not run.

    A long file is read in another thread, and refused in the status line.

    Raises:
        Refused: a short one cannot be read, or is no recorded run.
    """
    show = partial(_show_all, context, path)
    if context.export_queue.busy or not _is_long(path):
        context.say(show(_read_all(path)))
        return
    from gradscribe.app.export.run_job import OpenRunJob

    context.export_queue.begin(OpenRunJob(path, partial(_read_all, path), show))


def _is_long(path: Path) -> bool:
    try:
        return path.stat().st_size > MOST_AT_ONCE
    except OSError:
        return False  # The reader refuses it with its reason.


def _read_all(path: Path) -> ReadRuns:
    """Return the run in a file, the runs of all ranks, and which are missing. Thread-safe."""
    found = tape_files.read(path)
    return found, *rank_files.read_all(path, found)


def _show_all(context: CommandContext, path: Path, read: ReadRuns) -> str:
    """Show a run, or those of all ranks; return what happened."""
    found, runs, missing = read
    words = _show(context, path, path.name, found)
    context.settings.add_recent(str(path))
    if len(runs) > 1 and found.has_numbers:
        context.ranks.show(runs)
        words = tr(
            "Opened {runs_count} ranks as they were recorded; nothing has run", runs_count=len(runs)
        )
    if missing:
        context.notices.show_now(
            Notice(SPOILT, tr("Tapes of other ranks are {missing}", missing=missing))
        )
    return words


def open_temporary(context: CommandContext, path: Path) -> None:
    """Show the run in a file that another process wrote for this window, and remove the file.

    Raises:
        Refused: it cannot be read, or is no recorded run.
    """
    if not tape_files.is_tape(path):
        raise Refused(tr("{path} is no recorded run", path=path))
    context.say(_show(context, path, "", tape_files.read(path)))
    with contextlib.suppress(OSError):
        path.unlink()


def _show(context: CommandContext, path: Path, name: str, found: RunFile) -> str:
    """Show the run of a file and return what happened; without a name, by its program's title."""
    context.recovery.file.finish()
    about, shown = found.program, found.view
    if why := length_problem(about.source):
        raise Refused(tr("{name} is not opened: {why}", name=path.name, why=why))
    context.recovery.stash()
    calls = None if shown.open_calls is None else frozenset(shown.open_calls)
    doc = Doc(
        source=about.source,
        saved=about.source,
        title=file_name(about.title or path.stem),
        seed=about.seed,
        device=about.device or "cpu",
        open_calls=calls,
        recorded=replace(about, source=""),
        foreign=True,
        slides=found.slides,
        saved_slides=found.slides,
    )
    view = replace(context.session.view, position=shown.position)
    context.session.load(doc, view, found.tape, found.big)
    context.session.select(shown.selection)
    if found.slides:
        context.lecture.open()
        context.lecture.go(0)
    context.workspaces.show_workspace("program")
    context.notices.drop(SPOILT)
    if found.trouble:
        text = tr(
            "{value} is not whole: {trouble}",
            value=name or doc.title,
            trouble=translated(found.trouble),
        )
        lost = "" if found.has_numbers else tr(". Its program is here, its numbers are lost")
        context.notices.show_now(Notice(SPOILT, text + lost))
    name = name or doc.title
    what = (
        tr("{name} as it was recorded", name=name)
        if found.has_numbers
        else tr("the program of {name}", name=name)
    )
    words = tr("Opened {what}; nothing has run", what=what)
    if not found.slides:
        return words
    slides = ngettext("{count:,} slide", "{count:,} slides", len(found.slides))
    return words + tr(" · {slides}", slides=slides)


def has_run(context: CommandContext) -> bool:
    """Return whether a run is shown that has ended."""
    result, session = context.session.result, context.session
    return bool(result.tape.events) and not session.shows_draft and result.shown_id != 0


@command("file.save_run", tr("Save run…"), menu="File/2", when=has_run, page="program")
def save_run(context: CommandContext) -> None:
    """Write the program, every number of the run, your place in it and the slides to a file."""
    session = context.session
    doc = session.doc
    name = f"{slug(doc.title)}{tape_files.SUFFIX}"
    path = context.dialogs.ask_save(tr("Save the run"), name, RUNS)
    if path is None:
        return
    if not tape_files.is_tape(path):
        path = path.with_name(path.name + tape_files.SUFFIX)
    from gradscribe.app.export.run_job import RunJob

    view = session.view
    calls = None if doc.open_calls is None else tuple(sorted(doc.open_calls))
    source, tape = session.result.source, session.hiding.recorded(session.result.tape)
    if doc.shows_file is not None:
        about = replace(doc.shows_file, source=source)
    else:
        about = tape_files.describe(source, doc.title, session.shown_seed, tape)
    shown = RunView(view.position, calls, view.selection)
    slides = doc.slides
    encode = partial(tape_files.encode, about, tape, shown, slides=slides)
    written = partial(context.lecture.slides.mark_saved, slides)
    context.export_queue.begin(RunJob(path, tape, encode, session.numbers, written))
