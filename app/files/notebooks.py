"""Jupyter notebooks as programs and back: cells with ``# %%`` marks between them, as editors do.

Lines for IPython alone (``%matplotlib``, ``!pip``, ``x?``) become comments that say so, and become
such lines again. Read with msgspec, which skips outputs unread; nbformat would bring a validator of
JSON schemas into every window.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct, field

from gradscribe.app.files import documents
from gradscribe.app.files.documents import Refused
from gradscribe.playback.translation import tr

SUFFIX = ".ipynb"
MAX_FILE = 256 << 20
"""Most bytes of a notebook; outputs may be long."""
NOT_RUN = "# not run: "
"""Comment in front of a line for IPython."""
SETUP = "gradscribe-setup"
"""Tag of the cell with the names that a program of the window has by itself."""
_OWN_NAMES = {"torch", "nn", "F", "optim", "math", "np", "tensor", "param", "device"}
_NAMES = """import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim, tensor

device = torch.device("cpu")


def param(value, dtype=None):
    value = torch.as_tensor(value).detach().clone()
    if dtype is None and not (value.is_floating_point() or value.is_complex()):
        dtype = torch.get_default_dtype()
    return value.to(dtype or value.dtype).requires_grad_()


torch.manual_seed({seed})"""
_MARK = re.compile(r"# %%(?: \[(markdown|raw)\])?[ \t]*$")
_MAGIC = re.compile(r"\s*(?:[%!]\S|\?{1,2}\w|[\w.%]+\?{1,2}\s*$|[A-Za-z_][\w., ]*=\s*(?:!\S|%\w))")
_PYTHON_MAGICS = ("time", "timeit", "capture", "prun", "gradscribe")
"""NotebookCell magics whose cell is Python."""
_TOKEN = re.compile(r"'''|\"\"\"|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|#.*|[()\[\]{}]")


class NotebookCell(Struct, frozen=True):
    """One cell of a notebook; ``source`` as Jupyter has it, magics included."""

    kind: str
    source: str


class _CellData(Struct):
    cell_type: str = "code"
    source: str | list[str] = ""
    metadata: dict[str, msgspec.Raw] = field(default_factory=dict)


class _Notebook(Struct):
    cells: list[_CellData] | None = None
    metadata: dict[str, msgspec.Raw] = field(default_factory=dict)
    nbformat: int = 0


def is_notebook(path: Path) -> bool:
    """Return whether a file has the name of a notebook."""
    return path.suffix.lower() == SUFFIX


def read(path: Path) -> list[NotebookCell]:
    """Return the cells of a notebook; nothing of it is run.

    Raises:
        Refused: it cannot be read, is no notebook, or not one of Python; a line for the user.
    """
    try:
        with documents.open_plain(path) as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise Refused(
            tr("{path} cannot be read: {value}", path=path, value=error.strerror or error)
        ) from error
    if len(data) > MAX_FILE:
        raise Refused(
            tr(
                "{path} is not opened: it is longer than {value} MB",
                path=path,
                value=MAX_FILE >> 20,
            )
        )
    try:
        return decode(data)
    except ValueError as error:
        raise Refused(tr("{path} is no notebook: {error}", path=path, error=error)) from error


def decode(data: bytes) -> list[NotebookCell]:
    """Return the cells of a notebook's JSON.

    Raises:
        ValueError: it is none; the message says why.
    """
    try:
        found = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=_Notebook)
        language = _language(found.metadata)
        cells = [cell for cell in found.cells or () if SETUP.encode() not in _tags(cell)]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error).partition("\n")[0]) from error
    if found.cells is None:
        old = 0 < found.nbformat < 4
        why = (
            tr("its format {nbformat} is old: save it with Jupyter", nbformat=found.nbformat)
            if old
            else tr("it has no cells")
        )
        raise ValueError(why)
    if language not in ("", "python", "python3", "ipython"):
        raise ValueError(f"its language is {language}, not Python")
    made = []
    for cell in cells:
        text = cell.source if isinstance(cell.source, str) else "".join(cell.source)
        if "\0" in text:
            raise ValueError("it has zero bytes in its text")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        made.append(NotebookCell(cell.cell_type, text))
    return made


def _language(metadata: dict[str, msgspec.Raw]) -> str:
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        about = msgspec.json.decode(metadata.get(key, b"{}"))
        if isinstance(about, dict) and isinstance(about.get(name), str):
            return str(about[name]).lower()
    return ""


def _tags(cell: _CellData) -> bytes:
    return bytes(cell.metadata.get("tags", b""))


def to_program(cells: list[NotebookCell]) -> tuple[str, tuple[str, ...]]:
    """Return cells as one program, and the lines for IPython that are comments in it."""
    parts, skipped = list[str](), list[str]()
    for cell in cells:
        if cell.kind == "code":
            lines = list(_as_python(cell.source.split("\n"), skipped))
            parts.append("\n".join(["# %%", *lines]))
        else:
            kind = "raw" if cell.kind == "raw" else "markdown"
            lines = [f"# {line}" if line else "#" for line in cell.source.split("\n")]
            parts.append("\n".join([f"# %% [{kind}]", *lines]))
    return "\n\n".join(parts) + "\n", tuple(skipped)


def _as_python(lines: list[str], skipped: list[str]) -> Iterator[str]:
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    word = re.match(r"%%(\w*)", lines[first])
    state = _Statements()
    for at, line in enumerate(lines):
        body = line.lstrip()
        blank = line[: len(line) - len(body)]
        if word is not None and at >= first and (at == first or word[1] not in _PYTHON_MAGICS):
            skipped.append(line.strip())
            yield f"{blank}{NOT_RUN}{body}"
        elif state.in_magic or (state.begins and _MAGIC.match(line)):
            skipped.append(line.strip())
            # A block needs a statement.
            yield f"{blank}{'pass  ' if blank and not state.in_magic else ''}{NOT_RUN}{body}"
            state.in_magic = line.endswith("\\")
        elif state.begins and _NOTE.match(line):
            # A comment of the user's that looks like one of these.
            yield NOT_RUN + line
        else:
            state.follow(line)
            yield line


class _Statements:
    """Position in a cell: a line for IPython stands where a statement begins."""

    def __init__(self) -> None:
        self._quote, self._depth, self._goes_on = "", 0, False
        self.in_magic = False
        """True if the next line continues one for IPython."""

    @property
    def begins(self) -> bool:
        """True if a statement begins with the next line."""
        return not (self._quote or self._depth or self._goes_on)

    def follow(self, line: str) -> None:
        """Go past a line of Python."""
        at = 0
        while at < len(line):
            if self._quote:
                end = _ENDS[self._quote].match(line, at)
                if end is None:
                    break
                self._quote, at = "", end.end()
                continue
            token = _TOKEN.search(line, at)
            if token is None:
                break
            at, text = token.end(), token[0]
            if text in _ENDS:
                self._quote = text
            elif text in "([{":
                self._depth += 1
            elif text in ")]}":
                self._depth = max(0, self._depth - 1)
        self._goes_on = not self._quote and line.endswith("\\")


_ENDS = {mark: re.compile(rf"(?:\\.|[^\\])*?{mark}") for mark in ("'''", '"""')}


def to_cells(program: str) -> list[NotebookCell]:
    """Return a program as cells, divided at its ``# %%`` marks; the inverse of `to_program`."""
    cells, kind, lines, is_marked = list[NotebookCell](), "code", list[str](), False
    for line in [*program.removesuffix("\n").split("\n"), "", "# %%"]:
        mark = _MARK.match(line)
        if mark is None:
            lines.append(line)
            continue
        if is_marked or any(map(str.strip, lines)):
            cells.append(_cell(kind, lines))
        kind, lines, is_marked = mark[1] or "code", [], True
    return cells


def _cell(kind: str, lines: list[str]) -> NotebookCell:
    # The empty line between two cells belongs to neither.
    text = lines[:-1] if lines and not lines[-1] else lines
    if kind == "code":
        return NotebookCell(kind, "\n".join(_as_cell(text)))
    return NotebookCell(kind, "\n".join(re.sub(r"^# ?", "", line) for line in text))


_NOTE = re.compile(rf"(\s*)(?:pass  )?{NOT_RUN}(.*)", re.DOTALL)


def _as_cell(lines: list[str]) -> Iterator[str]:
    """Yield lines with those for IPython as they were; other comments stay comments."""
    state, is_whole, is_first = _Statements(), False, True
    for line in lines:
        note = _NOTE.fullmatch(line) if state.begins or state.in_magic else None
        if note is None:
            state.in_magic = False
            state.follow(line)
            is_first = is_first and not line.strip()
            yield line
            continue
        rest = note[2]
        word = re.match(r"%%(\w*)", rest) if is_first else None
        is_whole = is_whole or (word is not None and word[1] not in _PYTHON_MAGICS)
        is_first = False
        if state.in_magic or is_whole or word or _MAGIC.match(rest):
            state.in_magic = rest.endswith("\\") and not word
            yield note[1] + rest
        else:
            yield note[1] + rest if _NOTE.match(rest) else line


def setup_for(program: str, seed: int) -> str:
    """Return the cell that a notebook needs before a program of the window; empty if it needs none.

    It has the names that the window gives to programs, and the seed.
    """
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError):
        return _NAMES.format(seed=seed)
    bound, used = set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
    return _NAMES.format(seed=seed) if used & _OWN_NAMES - bound else ""


def encode(cells: list[NotebookCell], outputs: list[dict[str, object]], setup: str = "") -> bytes:
    """Return a notebook's JSON; ``outputs`` belong to its last code cell.

    ``setup`` is the text of a cell before all others, which opening it here leaves out.
    """
    made = [_encoded(number, cell) for number, cell in enumerate(cells)]
    for cell in reversed(made):
        if cell["cell_type"] == "code":
            cell["outputs"] = outputs
            break
    if setup:
        first = _encoded(len(cells), NotebookCell("code", setup))
        first["metadata"] = {"tags": [SETUP]}
        made.insert(0, first)
    about = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    whole = {"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _encoded(number: int, cell: NotebookCell) -> dict[str, object]:
    made: dict[str, object] = {
        "cell_type": cell.kind if cell.kind in ("code", "raw") else "markdown",
        "id": f"cell-{number}",
        "metadata": {},
        "source": cell.source.splitlines(keepends=True) if "\n" in cell.source else cell.source,
    }
    if cell.kind == "code":
        made |= {"execution_count": None, "outputs": []}
    return made


def outputs_of(stdout: str, svg: str) -> list[dict[str, object]]:
    """Return what a program printed, and its graph, as the outputs of a cell."""
    made: list[dict[str, object]] = []
    if stdout:
        made.append({"output_type": "stream", "name": "stdout", "text": stdout})
    if svg:
        data = {"image/svg+xml": svg, "text/plain": tr("The graph of the run")}
        made.append({"output_type": "display_data", "data": data, "metadata": {}})
    return made


def to_markdown(cells: list[NotebookCell], stdout: str, picture: str) -> str:
    """Return cells as Markdown: text as it is, code and output fenced, the graph as a picture."""
    parts = [
        _fenced(cell.source, "python") if cell.kind == "code" else cell.source for cell in cells
    ]
    if stdout:
        parts.append(_fenced(stdout.rstrip("\n"), "text"))
    if picture:
        parts.append(tr("![Graph of the run](<{picture}>)", picture=picture))
    return "\n\n".join(parts) + "\n"


def _fenced(text: str, language: str) -> str:
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
