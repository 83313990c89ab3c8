"""Notebooks through the window: opened as a program, written with output and graph."""

import json

import nbformat
import pytest

from gradscribe.app.commands import export, file
from gradscribe.app.files import notebooks
from gradscribe.app.files.documents import Refused
from gradscribe.app.files.notebooks import NotebookCell

CELLS = [
    NotebookCell("markdown", "# A square"),
    NotebookCell("code", "%matplotlib inline\nx = param(3.0)"),
    NotebookCell("code", "(x * x).backward()\nprint(x.grad)"),
]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "square.ipynb"
    path.write_bytes(notebooks.encode(CELLS, []))
    return path


@pytest.fixture
def exported(settled, qtbot):
    def run(command):
        with qtbot.waitSignal(settled.export_queue.ended, timeout=20_000) as ended:
            command(settled.context)
        return ended.args[0]

    return run


def test_a_notebook_opens_as_a_program_that_waits_and_is_not_overwritten(
    settled, path, monkeypatch
):
    before, sent = path.read_bytes(), len(settled.session._link.sources)
    said = []
    monkeypatch.setattr(settled.context, "say", said.append)
    file.open_path(settled.context, str(path))
    doc = settled.session.doc
    assert doc.title == "square"
    assert doc.foreign
    assert "# %%\n# not run: %matplotlib inline\nx = param(3.0)" in settled.editor.source()
    assert len(settled.session._link.sources) == sent, "it waits until the user lets it run"
    assert "1 line for IPython became comments" in said[0]
    file.save(settled.context)
    assert path.read_bytes() == before


def test_a_bad_notebook_loses_nothing(settled, tmp_path):
    settled.session.edit("mine = 1")
    (tmp_path / "bad.ipynb").write_text("{")
    with pytest.raises(Refused, match="no notebook"):
        file.open_path(settled.context, str(tmp_path / "bad.ipynb"))
    assert settled.session.doc.source == "mine = 1"


@pytest.fixture
def run(settled, path, link, record):
    """Open the notebook and run it."""
    file.open_path(settled.context, str(path))
    settled.session.run_now()
    link.answer(record(settled.session.doc.source))
    return settled


def test_the_cells_come_back_with_output_and_graph(run, exported, tmp_path):
    run.answers["save"] = tmp_path / "out"
    assert exported(export.export_notebook) == "Wrote out.ipynb"
    data = (tmp_path / "out.ipynb").read_bytes()
    assert notebooks.decode(data) == CELLS
    made = json.loads(data)
    nbformat.validate(made)
    outputs = made["cells"][-1]["outputs"]
    assert outputs[0]["text"] == "tensor(6.)\n"
    assert outputs[1]["data"]["image/svg+xml"].startswith("<svg")


def test_a_notebook_that_is_trusted_stays_so_until_it_changes(settled, path):
    """*Trust this file* was forgotten: the notebook came from outside each time."""
    file.open_path(settled.context, str(path))
    file.trust(settled.context)
    file.new(settled.context)
    file.open_path(settled.context, str(path))
    assert not settled.session.doc.foreign
    path.write_bytes(notebooks.encode([*CELLS, NotebookCell("code", "import os")], []))
    file.open_path(settled.context, str(path))
    assert settled.session.doc.foreign


def test_a_notebook_written_here_does_not_come_from_outside(settled, exported, tmp_path):
    settled.session.edit("x = param(2.0)\n# %%\n(x * x).backward()\n")
    settled.answers["save"] = tmp_path / "mine.ipynb"
    exported(export.export_notebook)
    file.open_path(settled.context, str(tmp_path / "mine.ipynb"))
    assert not settled.session.doc.foreign
    (tmp_path / "copy.ipynb").write_bytes((tmp_path / "mine.ipynb").read_bytes())
    file.open_path(settled.context, str(tmp_path / "copy.ipynb"))
    assert settled.session.doc.foreign, "only what was written is known"


def test_a_notebook_of_a_program_from_outside_is_from_outside(run, exported, tmp_path):
    run.answers["save"] = tmp_path / "out.ipynb"
    exported(export.export_notebook)
    file.open_path(run.context, str(tmp_path / "out.ipynb"))
    assert run.session.doc.foreign


def test_markdown_has_the_picture_next_to_it(run, exported, tmp_path):
    run.answers["save"] = tmp_path / "my page.md"
    assert exported(export.export_markdown) == "Wrote my page.md"
    text = (tmp_path / "my page.md").read_text(encoding="utf-8")
    assert text.startswith("# A square\n\n```python\n%matplotlib inline\nx = param(3.0)\n```\n")
    assert "```text\ntensor(6.)\n```" in text
    assert "(<my page_files/graph.svg>)" in text
    assert (tmp_path / "my page_files" / "graph.svg").read_text().startswith("<svg")


def test_a_run_of_another_text_is_left_out(run, exported, tmp_path):
    run.session.edit(run.session.doc.source + "\nz = 2")
    run.answers["save"] = tmp_path / "out.ipynb"
    exported(export.export_notebook)
    assert json.loads((tmp_path / "out.ipynb").read_bytes())["cells"][-1]["outputs"] == []


def test_a_folder_that_is_in_the_way_is_refused(run, exported, tmp_path):
    (tmp_path / "page_files").touch()
    run.answers["save"] = tmp_path / "page.md"
    assert "cannot be made" in exported(export.export_markdown)
    assert not (tmp_path / "page.md").exists()
