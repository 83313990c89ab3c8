"""Recorded runs on the disk; what they are made of is in `engine.protocol.tape_file`."""

import platform
import time
from collections.abc import Mapping
from pathlib import Path

from gradscribe.app.files import documents
from gradscribe.app.files.documents import Refused
from gradscribe.app.runtime.version import version
from gradscribe.engine.protocol import tape_file
from gradscribe.engine.protocol.lecture.slides import Slide
from gradscribe.engine.protocol.tape import Snapshot, Tape
from gradscribe.engine.protocol.tape_file import RunFile, RunProgram, RunView, UnreadableTape
from gradscribe.playback.translation import tr, translated

SUFFIX = tape_file.SUFFIX


def is_tape(path: Path) -> bool:
    """Return whether a file has the name of a recorded run."""
    return path.suffix.lower() == SUFFIX


def read(path: Path) -> RunFile:
    """Read a recorded run, as far as it is whole; nothing of it is run.

    Raises:
        Refused: it cannot be read, or is no recorded run; a line for the user.
    """
    try:
        with documents.open_plain(path) as file:
            if path.stat().st_size > tape_file.MAX_FILE:
                most = tape_file.MAX_FILE >> 20
                raise Refused(
                    tr("{path} cannot be opened: it is longer than {most} MB", path=path, most=most)
                )
            data = file.read(tape_file.MAX_FILE + 1)
    except OSError as error:
        raise Refused(
            tr("{path} cannot be read: {value}", path=path, value=error.strerror or error)
        ) from error
    try:
        found = tape_file.decode(data)
    except UnreadableTape as error:
        raise Refused(
            tr("{path} cannot be opened: {error}", path=path, error=translated(str(error)))
        ) from error
    if len(found.program.source.encode()) > documents.MAX_PROGRAM_BYTES:
        most = documents.MAX_PROGRAM_BYTES >> 20
        raise Refused(
            tr(
                "{path} cannot be opened: its program is longer than {most} MB",
                path=path,
                most=most,
            )
        )
    return found


def describe(source: str, title: str, seed: int, tape: Tape) -> RunProgram:
    """Return the program of a run that has just ended on this machine, with its environment."""
    return RunProgram(
        source,
        title,
        time.time(),
        tape.torch,
        platform.python_version(),
        platform.platform(),
        tape.device,
        seed,
        version(),
    )


def encode(
    program: RunProgram,
    tape: Tape,
    view: RunView | None = None,
    big: Mapping[int, Snapshot] | None = None,
    slides: tuple[Slide, ...] = (),
) -> list[bytes]:
    """Return the bytes of a run's file in pieces; ``big`` and ``slides``: see `RunFile`.

    Raises:
        Refused: it is too long.
    """
    # At its end, a run is seen whole.
    view = view or RunView(position=len(tape.events))
    try:
        return tape_file.encode(RunFile(program, tape, view, big=big or {}, slides=slides))
    except UnreadableTape as error:
        raise Refused(
            tr("The run cannot be saved: {error}", error=translated(str(error)))
        ) from error


def left_out(count: int) -> str:
    """Return what a file lacks of ``count`` big tensors, in a few words."""
    tensors = tr("a big tensor") if count == 1 else tr("{count:,} big tensors", count=count)
    return tr("no more than statistics of {tensors}", tensors=tensors)


def origin(program: RunProgram) -> str:
    """Return when and with what a run was recorded, in a few words."""
    day = time.strftime("%Y-%m-%d %H:%M", time.localtime(program.recorded))
    on = tr("Recorded on {day}", day=day) if program.recorded else tr("Recorded")
    torch = tr("torch {torch}", torch=program.torch) if program.torch else ""
    return ", ".join(part[:60] for part in (on, torch, program.device) if part)
