"""Notebooks as programs and back."""

import ast
import json
import time

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.app.files import notebooks
from gradscribe.app.files.documents import Refused
from gradscribe.app.files.notebooks import NotebookCell


def whole(*cells, **more):
    made = [{"cell_type": kind, "source": source, "metadata": {}} for kind, source in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more})


def program(*sources):
    return notebooks.to_program([NotebookCell("code", source) for source in sources])


def test_cells_become_one_program_with_marks():
    cells = notebooks.decode(
        whole(
            ("markdown", ["# Title\n", "text"]), ("code", "x = 1"), ("code", ["y = 2\n", "x + y"])
        ).encode()
    )
    text, skipped = notebooks.to_program(cells)
    assert text == "# %% [markdown]\n# # Title\n# text\n\n# %%\nx = 1\n\n# %%\ny = 2\nx + y\n"
    assert skipped == ()


@pytest.mark.parametrize(
    "line",
    [
        "%matplotlib inline",
        "!pip install torch",
        "x?",
        "?torch.ones",
        "torch.ones??",
        "%time y = 1",
        "files = !ls",
        "t = %timeit -o 1",
        "%%time",
        "%cd ..",
    ],
)
def test_lines_for_ipython_become_comments(line):
    text, skipped = program(f"{line}\nx = 1")
    assert skipped == (line,)
    names = {}
    exec(text, names)
    assert names["x"] == 1
    assert notebooks.to_cells(text) == [NotebookCell("code", f"{line}\nx = 1")]


@pytest.mark.parametrize(
    "cell",
    [
        "x = (7\n%2)",
        's = """\n%d\n!no\n"""',
        "a = 7\\\n%2",
        "# x?\nx = '?'",
        "x = 'a' # (\ny = 3",
        "f = '''it''s\n! '''",
        "x = {\n'a': 1,\n}\n",
    ],
)
def test_python_that_only_looks_like_it_is_left_alone(cell):
    text, skipped = program(cell)
    assert skipped == ()
    assert cell in text
    ast.parse(text)


def test_a_block_of_magics_alone_stays_valid_python():
    cell = "if False:\n    !pip install \\\n        torch\n    %cd x\nx = 1"
    text, skipped = program(cell)
    assert len(skipped) == 3
    ast.parse(text)
    assert notebooks.to_cells(text) == [NotebookCell("code", cell)]


@pytest.mark.parametrize("magic", ["%%bash", "%%html", "%%writefile a.py", "%%javascript"])
def test_a_cell_of_another_language_is_a_comment_as_a_whole(magic):
    cell = f"{magic}\n<b>text</b>\n\nrm -rf x"
    text, skipped = program(cell, "x = 1")
    assert len(skipped) == 4
    ast.parse(text)
    assert notebooks.to_cells(text)[0] == NotebookCell("code", cell)


def test_the_user_s_own_comments_never_run():
    text = "# not run: launch()\nx = 1\n    # not run: go()\n"
    assert notebooks.to_cells(text) == [NotebookCell("code", text.rstrip("\n"))]
    cell = "# not run: launch()"
    assert notebooks.to_cells(program(cell)[0]) == [NotebookCell("code", cell)]


def test_texts_in_strings_are_left_alone():
    cell = 's = """\n# not run: %cd x\n"""'
    text, skipped = program(cell)
    assert skipped == ()
    assert cell in text
    assert notebooks.to_cells(text) == [NotebookCell("code", cell)]


LINES = st.sampled_from(
    [
        "",
        "x = 1",
        "%time x",
        "!ls \\",
        "    %cd x",
        "# not run: x",
        "'''",
        "f(",
        ")",
        "%%bash",
        "a?",
        "if x:",
        "# comment",
        "pass  # not run: %cd x",
        "y = !ls",
        "é = '\u2028'",
    ]
)
TEXTS = st.lists(LINES, max_size=6).map("\n".join)


@given(
    st.lists(
        st.builds(NotebookCell, st.sampled_from(["code", "markdown", "raw"]), TEXTS), min_size=1
    )
)
def test_every_notebook_comes_back_as_it_was(cells):
    text, _ = notebooks.to_program(cells)
    assert notebooks.to_cells(text) == cells
    data = notebooks.encode(cells, [])
    assert notebooks.decode(data) == cells
    nbformat.validate(json.loads(data))


def test_a_program_without_marks_is_one_cell():
    assert notebooks.to_cells("x = 1\n\ny = 2\n") == [NotebookCell("code", "x = 1\n\ny = 2")]
    assert notebooks.to_cells("import a\n# %%\nb") == [
        NotebookCell("code", "import a"),
        NotebookCell("code", "b"),
    ]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no notebook"),
        (b"{", "no notebook"),
        (b"[1, 2]", "no notebook"),
        (b"{}", "it has no cells"),
        (b'{"cells": 3}', "no notebook"),
        (b'{"cells": [{"source": {}}]}', "no notebook"),
        (b'{"cells": [{"metadata": 3}]}', "no notebook"),
        (b"\xff\xfe{}", "no notebook"),
        (b'{"cells": [], "x": ' + b"[" * 200_000, "no notebook"),
        (b'{"worksheets": [], "nbformat": 3}', "format 3 is old"),
        (b'{"cells": [{"source": "a\\u0000"}]}', "zero bytes"),
        (b'{"cells": [], "metadata": {"language_info": {"name": "R"}}}', "its language is r"),
        (b'{"cells": [], "metadata": {"kernelspec": {"language": "julia"}}}', "is julia"),
    ],
)
def test_a_bad_file_is_refused_in_a_line(tmp_path, data, words):
    path = tmp_path / "bad.ipynb"
    path.write_bytes(data)
    with pytest.raises(Refused, match=words) as refused:
        notebooks.read(path)
    assert "\n" not in str(refused.value)
    with pytest.raises(Refused):
        notebooks.read(tmp_path / "gone.ipynb")


def test_outputs_are_not_read_and_long_cells_take_no_time(tmp_path):
    big = json.loads(whole(("code", "x = 1")))
    big["cells"][0]["outputs"] = [{"data": {"image/png": "A" * 20_000_000}}]
    assert notebooks.decode(json.dumps(big).encode()) == [NotebookCell("code", "x = 1")]
    begun = time.process_time()
    for line in ("'" * 50_000, "(" * 50_000, "x" * 50_000 + "?", "\\" * 50_000, "a.b, " * 10_000):
        program(f"{line}\n" * 2)
    assert time.process_time() - begun < 60


def test_the_window_s_names_are_given_to_a_notebook_that_needs_them():
    setup = notebooks.setup_for("x = param(2)\n(x * x).backward()", 5)
    names = {}
    exec(setup + "\nx = param(2)\n(x * x).backward()", names)
    assert names["x"].grad.item() == 4.0
    assert names["torch"].initial_seed() == 5
    assert notebooks.setup_for("import torch\nx = torch.ones(2)", 5) == ""
    data = notebooks.encode([NotebookCell("code", "x = param(2)")], [], setup)
    assert notebooks.decode(data) == [NotebookCell("code", "x = param(2)")]
    nbformat.validate(json.loads(data))


def test_markdown_fences_are_longer_than_those_in_the_text():
    text = notebooks.to_markdown(
        [NotebookCell("markdown", "# T"), NotebookCell("code", "x = '```'")],
        "a ```` b\n",
        "a b_files/graph.svg",
    )
    assert text == (
        "# T\n\n````python\nx = '```'\n````\n\n`````text\na ```` b\n`````\n\n"
        "![Graph of the run](<a b_files/graph.svg>)\n"
    )
