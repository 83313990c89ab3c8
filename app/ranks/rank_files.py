"""The tapes of the ranks of one run: ``NAME.rank0.tape`` and so on, one beside the other."""

import re
from pathlib import Path

from gradscribe.app.files import tape_files
from gradscribe.app.files.documents import Refused
from gradscribe.engine.protocol.tape_file import RunFile
from gradscribe.playback.translation import tr

_NAME = re.compile(r"(?P<stem>.+)\.rank(?P<rank>\d{1,5})\.tape", re.IGNORECASE)


def path_of(path: Path, rank: int) -> Path:
    """Return the file of a rank's tape, from the name that the user gave for all of them."""
    return path.with_name(f"{path.stem}.rank{rank}{tape_files.SUFFIX}")


def read_all(path: Path, first: RunFile) -> tuple[tuple[RunFile | None, ...], str]:
    """Return the runs of all ranks, None for those that are not there, and a line on what is not.

    ``first`` is the run in ``path``, of any rank; its own is always there. Those of another run are
    left out, and none is looked for if the file has another name than ranks give it.
    """
    info = first.tape.rank
    found = _NAME.fullmatch(path.name)
    if info is None or found is None:
        return (first,), ""
    runs: list[RunFile | None] = []
    missing: list[str] = []
    for rank in range(info.world):
        if rank == info.rank:
            runs.append(first)
            continue
        sibling = path.with_name(f"{found['stem']}.rank{rank}{tape_files.SUFFIX}")
        run = _same_run(sibling, first)
        runs.append(run)
        if run is None:
            missing.append(sibling.name)
    return tuple(runs), tr(
        "not there or of another run: {join}", join=", ".join(missing[:4])
    ) if missing else ""


def _same_run(path: Path, first: RunFile) -> RunFile | None:
    try:
        run = tape_files.read(path)
    except Refused:
        return None
    one, other = run.tape.rank, first.tape.rank
    same = (
        one is not None and other is not None and (one.run, one.world) == (other.run, other.world)
    )
    return run if same and run.has_numbers else None
