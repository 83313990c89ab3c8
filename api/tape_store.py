"""Recorded runs on the disk: `load`, and what `RunTape.save` does."""

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gradscribe.run_tape import RunTape

if TYPE_CHECKING:
    from gradscribe.engine.protocol.tape import Finding, Snapshot, Tape


def load(path: "str | os.PathLike[str]") -> RunTape:
    """Read a run that `RunTape.save`, ``gradscribe record --tape`` or the window has written.

    Nothing of it is run, and torch is not needed. Of a file that is cut or spoilt what is whole is
    read, with a warning that says what is lost.

    Raises:
        ValueError: the file cannot be read, or is no recorded run; the message says why.
    """
    from gradscribe.app.files import documents, tape_files

    try:
        found = tape_files.read(Path(path))
    except documents.Refused as error:
        raise ValueError(str(error)) from error
    if found.trouble:
        warnings.warn(f"{path}: {found.trouble}", stacklevel=2)
    tape = RunTape()
    tape.begin(found.program.source, found.program.title)
    tape.fill(found.tape, found.tape.findings, found.big)
    return tape


def save(
    tape: "Tape",
    findings: "tuple[Finding, ...]",
    source: str,
    title: str,
    path: "str | os.PathLike[str]",
    big: "Mapping[int, Snapshot]",
) -> None:
    """Write a run with its findings to a file, in one step: no half of it is ever there.

    ``big``: see `RunFile`.

    Raises:
        ValueError: it is too long, or the file cannot be written; the message says why.
    """
    from gradscribe.app.files import documents, tape_files
    from gradscribe.engine.protocol.structs import replace

    whole = replace(tape, findings=findings)
    try:
        described = tape_files.describe(source, Path(title).name, 0, whole)
        documents.write_bytes(Path(path), tape_files.encode(described, whole, big=big))
    except documents.Refused as error:
        raise ValueError(str(error)) from error


def write_page(page: str, path: "str | os.PathLike[str]") -> None:
    """Write a page to a file, in one step.

    Raises:
        ValueError: the file cannot be written; the message says why.
    """
    from gradscribe.app.files import documents

    try:
        documents.write_bytes(Path(path), page.encode())
    except documents.Refused as error:
        raise ValueError(str(error)) from error
