"""Places of instructions in a program's text, on any Python.

From Python 3.11 on a code object has them. For Python 3.10, which stores lines alone, the program's
tree is compiled a second time with a line of its own for each node: the same instructions then say
which node they belong to.
"""

import ast
import copy
import dis
import sys
import warnings
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

Position = tuple[int | None, int | None, int | None, int | None]
"""First line, last line, first byte column, last byte column, as in ``co_positions``."""

HAS_COLUMNS = sys.version_info >= (3, 11)
MOST_PROGRAMS = 16
"""Most programs that are stored, the last ones; a training run is in several."""
_FILLERS = frozenset(
    "NOP EXTENDED_ARG CACHE RESUME LOAD_CONST RETURN_VALUE POP_TOP RERAISE".split()
)
"""Instructions, next to jumps, that Python leaves out or repeats for lines of their own."""

_programs: dict[str, tuple[CodeType, Callable[[], ast.Module]]] = {}
"""Compiled programs and what returns their trees, by file name; empty on newer Pythons."""
_known: dict[int, list[Position]] = {}
"""Positions in those programs, by ``id()`` of the code, which `_programs` refers to."""


def compile_text(text: str, filename: str) -> CodeType:
    """Return the compiled program, and note its tree if its code object has no columns.

    Raises:
        SyntaxError: the text is no Python.
    """
    code = compile(text, filename, "exec", dont_inherit=True)
    remember_tree(code, lambda: ast.parse(text, filename))
    return code


def remember_tree(code: CodeType, tree: Callable[[], ast.Module]) -> None:
    """Note the tree that a program was compiled from, if its code object has no columns.

    ``tree`` returns it, and is called once a position is asked for.
    """
    if HAS_COLUMNS:
        return
    _programs.pop(code.co_filename, None)
    _programs[code.co_filename] = code, tree
    for name in list(_programs)[:-MOST_PROGRAMS]:
        del _programs[name]
    _known.clear()


def positions(code: CodeType) -> list[Position]:
    """Return the position of each instruction of two bytes; without columns if they are unknown."""
    if sys.version_info >= (3, 11):
        return list(code.co_positions())
    if id(code) not in _known and code.co_filename in _programs:
        program, tree = _programs[code.co_filename]
        with warnings.catch_warnings():
            # Python has warned of the program's text already.
            warnings.simplefilter("ignore")
            _known.update((id(part), found) for part, found in tree_positions(program, tree()))
    return _known.get(id(code)) or _lines_alone(code)


def tree_positions(
    program: CodeType, tree: ast.Module
) -> Iterator[tuple[CodeType, list[Position]]]:
    """Yield the code objects of a program compiled from ``tree`` with their positions.

    Those whose instructions cannot be matched are left out.
    """
    numbered = copy.deepcopy(tree)
    nodes: list[Any] = [n for n in ast.walk(numbered) if hasattr(n, "lineno")]
    places: list[Position] = [
        (n.lineno, n.end_lineno, n.col_offset, n.end_col_offset) for n in nodes
    ]
    number = {id(node): index for index, node in enumerate(nodes)}
    # The call of a method has the line where the method's name ends.
    calls = {
        number[id(node.func)]: index
        for index, node in enumerate(nodes)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    for index, node in enumerate(nodes, 1):
        node.lineno = node.end_lineno = index
        node.col_offset = node.end_col_offset = 0
    twin = compile(numbered, program.co_filename, "exec", dont_inherit=True)

    def place(line: int | None, operation: str) -> Position:
        index = (line or 0) - 1
        if "CALL" in operation:
            index = calls.get(index, index)
        return places[index] if 0 <= index < len(places) else (None, None, None, None)

    for part, other in _pairs(program, twin):
        mine, its = _operations(part), _operations(other)
        if [name for _, name in mine] != [name for _, name in its]:
            continue
        lines = _line_of_each(other)
        found = _lines_alone(part)
        for (index, name), (twin_index, _) in zip(mine, its, strict=True):
            found[index] = place(lines[twin_index], name)
        yield part, found


def _pairs(code: CodeType, twin: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Yield the code objects inside two that were compiled from trees of the same shape."""
    yield code, twin
    inner, others = (
        [constant for constant in part.co_consts if isinstance(constant, CodeType)]
        for part in (code, twin)
    )
    if [part.co_name for part in inner] == [part.co_name for part in others]:
        for pair in zip(inner, others, strict=True):
            yield from _pairs(*pair)


def _operations(code: CodeType) -> list[tuple[int, str]]:
    """Return index and name of each instruction that computes."""
    names = (dis.opname[number] for number in code.co_code[::2])
    return [
        (index, name)
        for index, name in enumerate(names)
        if name not in _FILLERS and "JUMP" not in name
    ]


def _line_of_each(code: CodeType) -> list[int | None]:
    lines: list[int | None] = [None] * (len(code.co_code) // 2)
    for start, end, line in code.co_lines():
        lines[start // 2 : end // 2] = [line] * (end // 2 - start // 2)
    return lines


def _lines_alone(code: CodeType) -> list[Position]:
    return [(line, None, None, None) for line in _line_of_each(code)]
