"""Catalogues: complete, up to date with the source, and nothing shown goes past them."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gradscribe.playback.translation import languages
from gradscribe.playback.translation.catalogue_file import parse, read

ROOT = Path(__file__).resolve().parent.parent
PLACEHOLDER = re.compile(r"\{[^{}]*\}")
SETTERS = frozenset(
    "setText setToolTip setStatusTip setAccessibleName setAccessibleDescription "
    "setPlaceholderText setWindowTitle setTitle setSuffix setPrefix addAction addMenu".split()
)
PROSE = re.compile(r"[A-Za-z]{2,}[,:;.…]? +[A-Za-z]|^[A-Z][a-z]+…?$")
NAMES = frozenset(["Gradscribe", "Computation graph", "Drawn by Gradscribe"])
"""Names, and what stands in files that the window writes."""


def entries(code):
    return read(languages.folder() / code / "LC_MESSAGES" / "gradscribe.po").entries[1:]


CODES = [code for code in languages.available() if code not in ("en", "qps")]


@pytest.mark.parametrize("code", CODES)
def test_every_message_has_a_translation_that_nobody_has_to_check(code):
    missing = [e.message for e in entries(code) if not e.texts or not all(e.texts)]
    assert missing == []
    assert [e.message for e in entries(code) if e.is_fuzzy] == []


@pytest.mark.parametrize("code", CODES)
def test_placeholders_of_a_translation_are_those_of_the_message(code):
    wrong = []
    for entry in entries(code):
        allowed = set(PLACEHOLDER.findall(entry.message + entry.plural))
        for text in entry.texts:
            found = set(PLACEHOLDER.findall(text))
            if found != allowed and found != set(
                PLACEHOLDER.findall(entry.plural or entry.message)
            ):
                wrong.append((entry.message, text))
    assert wrong == []


@pytest.mark.parametrize("code", CODES)
def test_a_catalogue_has_the_messages_of_the_template(code):
    template = {entry.message for entry in read(languages.template()).entries}
    assert {entry.message for entry in entries(code)} | {""} == template


def test_the_template_is_what_the_recipe_collects_from_the_source():
    collects = "import catalogues; print(catalogues.written(catalogues.template()), end='')"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, 'tools'); {collects}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    written = languages.template().read_text(encoding="utf-8")
    new, old = ({e.message for e in parse(text).entries} for text in (done.stdout, written))
    assert (new - old, old - new) == (set(), set()), "make catalogues"
    assert done.stdout == written, "make catalogues"


def unmarked(source):
    """Yield (line, text) of the literals that are shown past the catalogue."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in SETTERS:
            yield from ((node.lineno, text) for text in literals(node.args[0]) if is_prose(text))


def literals(node):
    """Yield what a text can be without a call: literals, and the branches of a condition."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(v.value if isinstance(v, ast.Constant) else "" for v in node.values)
    elif isinstance(node, ast.IfExp):
        yield from (*literals(node.body), *literals(node.orelse))


def is_prose(text):
    text = text.partition("\t")[0]  # the key of an entry of a menu
    return bool(PROSE.search(text)) and text not in NAMES and not text.startswith("<")


def test_no_text_is_given_to_qt_without_the_translation():
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for folder in ("app", "widgets")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, text in unmarked(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_no_message_is_marked_where_the_recipe_does_not_see_it():
    """A message within an f-string is not collected before Python 3.12, and never translated."""
    found = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for folder in ("app", "widgets", "playback", "engine")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for text in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(text, ast.JoinedStr)
        for call in ast.walk(text)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in ("tr", "ngettext")
        and isinstance(call.args[0], ast.Constant)
    ]
    assert found == []


def test_the_check_sees_what_is_not_marked():
    source = (
        'a.setText("Save it")\nb.setToolTip(f"Go to {x} now" if x else tr("Go"))\nc.setText("Save")'
    )
    assert [line for line, _ in unmarked(source)] == [1, 2, 3]
    assert [text for _, text in unmarked('menu.addAction("Rename\\tF2")')] == ["Rename\tF2"]
    assert [*unmarked('a.setText(tr("Save it"))\nb.setText("×")\nc.setObjectName("Save it")')] == []
