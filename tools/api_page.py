"""Write docs/manual/python-api.md from the docstrings of the Python API, for `make docs`."""

import ast
import inspect
import itertools
import re
from pathlib import Path

import gradscribe
from gradscribe import testing

PAGE = Path(__file__).resolve().parents[1] / "docs" / "manual" / "python-api.md"
START = """# The Python API

`import gradscribe as gs` loads neither torch nor Qt; each name is imported when it is first used.
This page is made from the docstrings by `make docs`.
"""
CALLED_BY_RECORDING = {"begin", "fill", "end_when_asked"}
"""Members that what fills a tape or a watch calls, and no program."""
_MODULE = re.compile(r"\b(?:collections\.abc|gradscribe)(?:\.[a-z_]+)*\.(?=[A-Z])")


def page() -> str:
    """Return the text of the page: every public name, with the public members of classes."""
    parts = [START]
    for name in gradscribe.__all__:
        found = getattr(gradscribe, name)
        parts += _class(name, found) if inspect.isclass(found) else [_function(name, found)]
    parts.append(f"# Tests: `gradscribe.testing`\n\n{_text(testing)}\n")
    for name in testing.__all__:
        parts.append(_function(name, getattr(testing, name), "testing."))
    return "\n".join(parts)


def _function(name: str, found: object, prefix: str = "gs.") -> str:
    return f"## `{prefix}{name}{_signature(found)}`\n\n{_text(found)}\n"


def _class(name: str, found: type) -> list[str]:
    parts = [f"## `gs.{name}`\n\n{_text(found)}\n"]
    for member, thing in vars(found).items():
        is_public = not member.startswith("_") or member in ("__getitem__", "__contains__")
        is_public = is_public and member not in CALLED_BY_RECORDING
        if not is_public or not getattr(thing, "__doc__", None):
            continue
        if inspect.isfunction(thing):
            parts.append(f"### `{member}{_signature(thing)}`\n\n{_text(thing)}\n")
        elif not isinstance(thing, int | str):
            parts.append(f"### `{member}`\n\n{_text(thing)}\n")
    parts += [f"### `{field}`\n\n{text}\n" for field, text in _fields(found).items()]
    return parts


def _fields(found: type) -> dict[str, str]:
    """Return the documented attributes that ``__init__`` sets, with their docstrings."""
    try:
        tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(found)))
    except (OSError, TypeError):
        return {}
    fields = {}
    for function in ast.walk(tree):
        body = function.body if isinstance(function, ast.FunctionDef) else []
        for line, after in itertools.pairwise(body):
            if not (isinstance(line, ast.Assign) and isinstance(after, ast.Expr)):
                continue
            target, text = line.targets[0], after.value
            is_field = isinstance(target, ast.Attribute) and not target.attr.startswith("_")
            if is_field and isinstance(text, ast.Constant):
                fields[target.attr] = str(text.value)
    return fields


def _signature(found: object) -> str:
    """Return a signature without ``self`` and without the modules of types."""
    if not callable(found):
        return ""
    words = str(inspect.signature(found)).replace("'", "").replace('"', "")
    return _MODULE.sub("", re.sub(r"^\(self(, )?", "(", words))


def _text(found: object) -> str:
    """Return a docstring as Markdown: literals in single backticks, sections as lists."""
    lines = (inspect.getdoc(found) or "").replace("``", "`").splitlines()
    shown = []
    for line in lines:
        if line in ("Args:", "Raises:"):
            shown += [f"**{line}**", ""]
        elif line.startswith("    "):
            name, colon, rest = line.strip().partition(": ")
            shown.append(f"- `{name}`: {rest}" if colon else f"  {line.strip()}")
        else:
            shown.append(line)
    return "\n".join(shown)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
