"""Output of what differs between two runs: text on the terminal, or JSON."""

from pathlib import Path

import msgspec

from gradscribe.app.cli import report
from gradscribe.app.cli.terminal import say
from gradscribe.app.files import documents
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.compare import report as compare_report
from gradscribe.playback.compare.comparison import Comparison

STDOUT = "-"
"""Name that stands for the standard output."""


def write(left: Tape, right: Tape, heading: str, json: str | None) -> bool:
    """Write what differs between two runs; return whether anything does.

    Args:
        left: a run.
        right: another run.
        heading: lines above the text.
        json: file for the differences as JSON, `STDOUT`, or None for no JSON. With `STDOUT`
            there is no text.

    Raises:
        Refused: the file cannot be written.
    """
    compared = Comparison(left, right)
    if json is not None:
        data = msgspec.json.encode(compare_report.to_json(compared)) + b"\n"
        if json == STDOUT:
            say(data)
        else:
            documents.write_bytes(Path(json), data)
    if json != STDOUT:
        say(report.strip_controls(f"{heading}{compare_report.text(compared)}"))
    return bool(compared.causes)
