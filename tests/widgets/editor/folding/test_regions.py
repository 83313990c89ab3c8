"""Blocks end where Python's own parser says they do."""

import ast
from pathlib import Path

import pytest
from PySide6.QtGui import QTextDocument

from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor.code_edit import CodeEdit
from gradscribe.widgets.editor.folding import regions

COMPOUND = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.For, ast.While, ast.With)
ROOT = Path(__file__).parents[4]
FILES = ["engine/run/run.py", "widgets/editor/code_edit.py", "engine/record/freeze.py"]


@pytest.fixture
def read(qtbot):
    edit = CodeEdit(Theme.load("light"))
    qtbot.addWidget(edit)

    def document(source: str) -> QTextDocument:
        edit.set_source(source)
        edit.grab()
        return edit.document()

    return document


def blocks_by_python(source: str) -> dict[int, int]:
    """Return the first and last line of each compound statement of more than a line."""
    found: dict[int, int] = {}
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, COMPOUND):
            continue
        # The body: of a loop with ``else`` that is a block of its own.
        last = max(child.end_lineno for child in node.body)
        if last > node.lineno:
            found[node.lineno] = last
    return found


@pytest.mark.parametrize("name", FILES)
def test_blocks_of_real_programs_are_those_of_python(read, name):
    source = (ROOT / name).read_text()
    document = read(source)
    for first, last in blocks_by_python(source).items():
        block = document.findBlockByNumber(first - 1)
        assert regions.is_header(block), first
        assert regions.last_block(block).blockNumber() + 1 == last, first


@pytest.mark.parametrize(
    "line",
    [
        "x = 1",
        "format(1)",
        "iffy = 2",
        "forward = 3",
        "if x: y = 1",
        "match = 3",
        "case.a = 4",
        "class A: pass",
    ],
)
def test_a_line_without_a_block_is_no_header(read, line):
    assert not regions.is_header(read(line + "\nz = 1\n").firstBlock())


def test_words_in_strings_begin_no_block(read):
    document = read('text = """\ndef f():\n    pass\n"""\n')
    assert not regions.is_header(document.findBlockByNumber(1))


def test_every_kind_of_block_has_a_header(read):
    source = (
        "try:\n    a\nexcept E:\n    b\nelse:\n    c\nfinally:\n    d\n"
        "match x:\n    case 1:\n        e\nasync def f():\n    g\nif h:\n    i\nelif j:\n    k\n"
    )
    document = read(source)
    heads = [n for n in range(17) if regions.is_header(document.findBlockByNumber(n))]
    assert heads == [0, 2, 4, 6, 8, 9, 11, 13, 15]


def test_a_text_that_is_being_typed_is_no_fault(read):
    for source in ("def f(\n", "if x:\n", "class", "for i in (\n\n\n", "\tif x:\n  y\n"):
        document = read(source)
        block = document.firstBlock()
        while block.isValid():
            regions.last_block(block)
            regions.header_around(block)
            block = block.next()
