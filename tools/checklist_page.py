"""Write docs/CHECKLIST.md from docs/checklist.toml and the marks of the tests, for `make docs`.

Tests are read and not imported: ``@pytest.mark.checklist(10, 98)`` names the rows that a test
proves, above a function or as the ``marks`` of a ``pytest.param``, also in a list of the module.
"""

import ast
import tomllib
from collections.abc import Container, Iterator
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "CHECKLIST.md"
ITEMS = ROOT / "docs" / "checklist.toml"

HEADER = """# The checklist

All that the tutorials teach from which people learn PyTorch, and the test that shows it in the
window, on the training page or on the command line. `make docs` writes this page from
`docs/checklist.toml` and from the marks `@pytest.mark.checklist(number)` of the tests.

| No. | Item | Test |
|--:|---|---|
"""


def items() -> dict[int, str]:
    """Return number -> text of all rows."""
    return {int(number): text for number, text in _table()["items"].items()}


def open_rows() -> dict[int, str]:
    """Return number -> reason of the rows without a test."""
    return {int(number): text for number, text in _table().get("open", {}).items()}


def _table() -> dict[str, dict[str, str]]:
    return tomllib.loads(ITEMS.read_text(encoding="utf-8"))


def marked(folder: Path) -> dict[int, list[str]]:
    """Return number -> tests with its mark, as pytest names them, in order of their files.

    Raises:
        ValueError: a mark has something else than whole numbers, or stands at no test.
    """
    found: dict[int, list[str]] = {}
    for path in sorted(folder.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if ".checklist(" not in text:
            continue
        name = path.relative_to(folder.parent).as_posix()
        for test, numbers in _marks(ast.parse(text), name):
            for number in numbers:
                tests = found.setdefault(number, [])
                if test not in tests:
                    tests.append(test)
    return found


def _marks(tree: ast.Module, name: str) -> Iterator[tuple[str, list[int]]]:
    """Yield each test of a file with the numbers of a mark of it."""
    placed: set[int] = set()
    lists = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        for decorator in node.decorator_list:
            used = [lists[part.id] for part in ast.walk(decorator) if _is_name(part, lists)]
            for call, case in (found for part in [decorator, *used] for found in _calls(part)):
                placed.add(id(call))
                yield f"{name}::{node.name}{case}", _numbers(call, name)
    for node in ast.walk(tree):
        if _is_mark(node) and id(node) not in placed:
            raise ValueError(f"{name}:{getattr(node, 'lineno', 0)}: a mark at no test")


def _calls(decorator: ast.expr) -> Iterator[tuple[ast.Call, str]]:
    """Yield the marks in a decorator, each with the case of a parametrized test as ``[id]``."""
    case_of: dict[int, str] = {}
    for node in ast.walk(decorator):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "param":
                case = f"[{_id(node)}]"
                case_of |= {id(inner): case for inner in ast.walk(node) if _is_mark(inner)}
            if _is_mark(node):
                yield node, case_of.get(id(node), "")


def _is_name(node: ast.AST, known: Container[str]) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id in known


def _id(param: ast.Call) -> str:
    for keyword in param.keywords:
        if keyword.arg == "id" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    texts = [part.value for part in param.args if isinstance(part, ast.Constant)]
    return "-".join(map(str, texts))


def _is_mark(node: ast.AST) -> TypeGuard[ast.Call]:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "checklist"
    )


def _numbers(call: ast.Call, name: str) -> list[int]:
    try:
        numbers = [ast.literal_eval(part) for part in call.args]
    except ValueError:
        numbers = []
    if not numbers or call.keywords or any(type(number) is not int for number in numbers):
        raise ValueError(f"{name}:{call.lineno}: a mark takes whole numbers")
    return numbers


def page() -> str:
    """Return the text of the page."""
    tests, reasons = marked(ROOT / "tests"), open_rows()
    rows = []
    for number, text in sorted(items().items()):
        proof = "<br>".join(f"`{test.removeprefix('tests/')}`" for test in tests.get(number, ()))
        rows.append(f"| {number} | {text} | {proof or 'open: ' + reasons.get(number, '')} |\n")
    return HEADER + "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
