"""``%%gradscribe`` in notebooks: run a cell as always, recorded, and show its graph below."""

import ast
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, Protocol, cast

from gradscribe.run_tape import RunTape

MOST_FINDINGS = 5
"""Findings that are printed below a cell."""


class Compiler(Protocol):
    """IPython's compiler, by which tracebacks find the text of cells."""

    def cache(self, transformed_code: str, number: int = 0, raw_code: str | None = None) -> str:
        """Store a cell's text and return its file name."""
        ...

    def __call__(self, source: ast.AST, filename: str, symbol: str) -> CodeType:
        """Compile a cell with the futures of the cells before."""
        ...


class Shell(Protocol):
    """The parts of IPython's shell that the magic uses."""

    user_ns: dict[str, object]
    execution_count: int
    compile: Compiler

    def transform_cell(self, raw_cell: str) -> str:
        """Return a cell as Python: magics in it become calls."""
        ...

    def transform_ast(self, node: ast.Module) -> ast.Module:
        """Apply the transformers of the session."""
        ...

    def register_magic_function(
        self, func: Callable[..., object], magic_kind: str, magic_name: str
    ) -> None:
        """Add a magic."""
        ...


def add_to(shell: object) -> None:
    """Add the magic to a shell; a second time changes nothing."""
    own = cast("Shell", shell)

    def magic(line: str, cell: str) -> None:
        __tracebackhide__ = True
        run_cell(own, line, cell)

    magic.__doc__ = run_cell.__doc__
    own.register_magic_function(magic, "cell", "gradscribe")


def run_cell(shell: Shell, line: str, cell: str) -> None:
    """Record this cell and show its graph; variables, output and errors are as without it.

    %%gradscribe        shows the graph below the cell
    %%gradscribe NAME   also stores the tape in the variable NAME

    Raises:
        ValueError: NAME is no name of a variable.
        RecordingError: a recording is running already.
    """
    __tracebackhide__ = True
    name = line.strip()
    if name and not name.isidentifier():
        raise ValueError(f"%%gradscribe takes the name of a variable, not {name!r}")
    parts = _compiled(shell, cell)
    tape = RunTape()
    try:
        _run(shell, tape, parts)
    except KeyboardInterrupt:
        raise
    except Exception:
        _show(shell, tape, name)
        raise
    _show(shell, tape, name)


def _compiled(shell: Shell, cell: str) -> list[CodeType]:
    """Return the code of a cell, that of its last expression apart."""
    text = shell.transform_cell(cell)
    filename = shell.compile.cache(text, shell.execution_count, raw_code=cell)
    body = shell.transform_ast(ast.parse(text, filename)).body
    last: list[ast.stmt] = []
    # A semicolon at its end means that the last expression is not shown.
    if body and isinstance(body[-1], ast.Expr) and not cell.rstrip().endswith(";"):
        body, last = body[:-1], body[-1:]
    parts = [shell.compile(ast.Module(body, []), filename, "exec")]
    if last:
        parts.append(shell.compile(ast.Interactive(last), filename, "single"))
    return parts


def _run(shell: Shell, tape: RunTape, parts: list[CodeType]) -> None:
    __tracebackhide__ = True
    from gradscribe.recording import Recording

    recording, failure = Recording(tape), None
    recording.begin(sys._getframe(), parts[0])
    try:
        for part in parts:
            exec(part, shell.user_ns)  # The user's own cell, in the user's own namespace.
    except BaseException as error:
        failure = error
        raise
    finally:
        recording.end(_variables(shell), failure)


def _variables(shell: Shell) -> dict[str, object]:
    """Return the user's variables, without IPython's history of inputs and results."""
    history = ("In", "Out")
    return {
        name: thing
        for name, thing in shell.user_ns.items()
        if name == "__name__" or not (name.startswith("_") or name in history)
    }


def _show(shell: Shell, tape: RunTape, name: str) -> None:
    """Show the graph and the first findings below the cell, and store the tape."""
    from IPython.display import display  # type: ignore[import-not-found, unused-ignore]

    if name:
        shell.user_ns[name] = tape
    show = cast("Callable[[Any], object]", display)
    show(tape)
    found = tape.findings
    for finding in found[:MOST_FINDINGS]:
        _print(f"line {finding.place.line}: {finding.title}")
    if len(found) > MOST_FINDINGS:
        _print(f"and {len(found) - MOST_FINDINGS:,} more findings, in tape.findings")


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
