"""The job of all ranks of a machine: a script, and the folder of the tapes."""

from pathlib import Path

import msgspec
from msgspec import Struct

from gradscribe.engine.protocol import tape_file
from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.protocol.tape_file import RunFile, RunProgram, RunView


class RankJob(Struct, frozen=True):
    """A script with its arguments; ``timeout`` in seconds, ``memory`` in bytes a rank."""

    source: str
    filename: str
    folder: str = ""
    """The folder of the tapes: ``rank0.tape`` and so on."""
    run: str = ""
    """A name that the tapes of this run share."""
    arguments: tuple[str, ...] = ()
    seed: int = 0
    device: str = "cpu"
    timeout: float = 60.0
    event_limit: int = 200_000
    memory: int = 256 << 20
    examine: bool = True
    product: str = ""
    """The version of Gradscribe."""


def read(path: str) -> RankJob:
    """Read a job. Raises OSError and msgspec.DecodeError."""
    return msgspec.json.decode(Path(path).read_bytes(), type=RankJob)


def tape_path(folder: str, rank: int) -> Path:
    """Return the file of a rank's tape."""
    return Path(folder, f"rank{rank}{tape_file.SUFFIX}")


def write_tape(path: Path, program: RunProgram, tape: Tape) -> None:
    """Write a tape in one step: no half of it is ever there. Raises OSError, UnreadableTape."""
    pieces = tape_file.encode(RunFile(program, tape, RunView(position=len(tape.events))))
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.part")
    draft.write_bytes(b"".join(pieces))
    draft.replace(path)
