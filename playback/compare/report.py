"""A comparison as text for a terminal and as plain data for JSON."""

from gradscribe.engine.protocol.tape import FORMAT, Tape
from gradscribe.playback.compare.comparison import SAME, Comparison
from gradscribe.playback.compare.differences import Cause, Difference
from gradscribe.playback.translation import tr

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def text(compared: Comparison) -> str:
    """Return the causes in order of execution, each with a line about what follows from it."""
    if not compared.causes:
        return f"{SAME}.\n"
    lines = []
    for cause in compared.causes:
        lines.append(cause.title())
        consequence = cause.consequence() or tr("nothing else differs because of it")
        lines.append(f"  {consequence}")
    return "\n".join(lines) + "\n"


def to_json(compared: Comparison) -> dict[str, Json]:
    """Return a comparison as plain dicts and lists; ids are those of each run's own JSON.

    ``causes`` are in order of execution. ``lines`` and ``values`` are pairs of left and right, null
    where a run has none.
    """
    return {
        "format": FORMAT,
        "same": not compared.causes,
        "summary": compared.summary(),
        "left": _run(compared.left.tape),
        "right": _run(compared.right.tape),
        "causes": [_cause(cause) for cause in compared.causes],
    }


def _run(tape: Tape) -> Json:
    error = None if tape.error is None else f"{tape.error.type}: {tape.error.message}"
    return {"status": tape.status, "error": error}


def _cause(cause: Cause) -> Json:
    return {
        "title": cause.title(),
        "kind": cause.kind,
        "words": cause.words,
        "lines": [line or None for line in cause.lines],
        "path": cause.path,
        "times": cause.times,
        "differences": [_difference(one) for one in cause.differences],
        "consequence": cause.consequence(),
        "following": [_difference(one) for one in cause.following],
    }


def _difference(one: Difference) -> Json:
    return {
        "kind": one.kind,
        "name": one.name,
        "words": one.words,
        "values": [one.left, one.right],
    }
