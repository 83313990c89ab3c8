"""Description of a table's file: the columns as they are understood, and a setup to begin with."""

import json
from pathlib import Path

from gradscribe.app.cli.record import BlockingEngine
from gradscribe.app.cli.train import RUN_ID, next_message, wait_ready
from gradscribe.app.files.documents import Refused
from gradscribe.app.training.setup import csv_sample
from gradscribe.app.training.setup.default_columns import default_columns
from gradscribe.app.training.setup.files import DEFAULT_ROWS
from gradscribe.engine.protocol.training import replies, requests
from gradscribe.playback.text import formatting

LONGEST_NAME = 40


def look_into(path: str) -> replies.FileSummary:
    """Return the summary of a table's file.

    Raises:
        Refused: it cannot be read.
        EngineDied: the engine ended.
    """
    with BlockingEngine() as engine:
        wait_ready(engine)
        engine.send(csv_sample.read_file(path, DEFAULT_ROWS))
        engine.send(requests.InspectFile(RUN_ID, path))
        while True:
            match next_message(engine):
                case replies.FileSummary() as found:
                    break
    if found.problem is not None:
        raise Refused(found.problem.message)
    return found


def first_setup(found: replies.FileSummary) -> dict[str, object]:
    """Return a setup that trains on a table; where nothing suits, names are left to the user."""
    inputs, target = default_columns(found)
    data: dict[str, object] = {"name": "csv", "path": found.path, "inputs": inputs}
    data["target"] = target
    if not found.header:
        data["header"] = False
    if target and not found.numeric[found.columns.index(target)]:
        data["classes"] = True
    used = {*inputs, target}
    if any(detail.blanks and detail.name in used for detail in found.details):
        data["missing"] = "leave rows out"
    return {"data": data, "model": "mlp", "standardize": True}


def described(found: replies.FileSummary) -> str:
    """Return the columns of a table as text, one a line, and a setup to begin with."""
    names = [formatting.elide_middle(name, LONGEST_NAME) for name in found.columns]
    width = max(map(len, names))
    lines = [f"{Path(found.path).name}: {formatting.count(found.count, 'row')} · {found.facts}", ""]
    for name, detail in zip(names, found.details, strict=True):
        lines.append(f"{name:<{width}}   {detail.words}")
        if detail.problem:
            lines.append(f"{'':<{width}}   {detail.problem}")
    setup = json.dumps(first_setup(found), ensure_ascii=False, indent=1)
    return "\n".join([*lines, "", "A setup to begin with:", setup, ""])
