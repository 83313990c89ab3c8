"""``%load_ext gradscribe`` and ``%%gradscribe``, in kernels that Jupyter's own client drives."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.e2e

NOTEBOOKS = sorted((Path(__file__).parent / "notebooks").glob("*.ipynb"))
RUNNER = Path(__file__).parent / "notebook_runner.py"
RAISES = "07_error"


def executed(folder, *paths):
    """Run notebooks and return the cells of each, with what was said about errors."""
    done = subprocess.run(
        [sys.executable, str(RUNNER), *map(str, paths), str(folder)],
        capture_output=True,
        text=True,
        timeout=115,
    )
    found = {}
    for path in paths:
        assert (folder / path.name).exists(), done.stderr
        found[path.stem] = json.loads((folder / path.name).read_text(encoding="utf-8"))["cells"]
    return found, done.stdout


def notebook(folder, *sources):
    """Write a notebook of code cells and return the cells with their outputs."""
    cells = [
        {
            "cell_type": "code",
            "id": f"c{number}",
            "metadata": {"tags": ["raises-exception"]},
            "execution_count": None,
            "outputs": [],
            "source": source,
        }
        for number, source in enumerate(sources)
    ]
    path = folder / "own.ipynb"
    whole = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(whole), encoding="utf-8")
    return executed(folder, path)[0]["own"]


def shown(cell, kind):
    """Return what a cell shows of a MIME type."""
    return ["".join(o["data"][kind]) for o in cell["outputs"] if kind in o.get("data", {})]


def printed(cell):
    return "".join("".join(o["text"]) for o in cell["outputs"] if o["output_type"] == "stream")


def errors(cell):
    return [output for output in cell["outputs"] if output["output_type"] == "error"]


def test_there_are_ten_notebooks():
    assert len(NOTEBOOKS) == 10


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs_and_its_assertions_hold(path, tmp_path):
    found, said = executed(tmp_path, path)
    cells = [cell for cell in found[path.stem] if cell["cell_type"] == "code"]
    failed = [cell for cell in cells if errors(cell)]
    assert said == ""
    assert len(failed) == (path.stem == RAISES)
    for cell in cells:
        if "".join(cell["source"]).startswith("%%gradscribe"):
            (svg,) = shown(cell, "image/svg+xml")
            assert ElementTree.fromstring(svg).tag.endswith("svg")
            assert any("<RunTape of a cell: " in text for text in shown(cell, "text/plain"))


def test_an_interrupted_cell_leaves_torch_as_it_was(tmp_path):
    state = """import torch, signal, os, threading, json
def state():
    return [str(torch.autograd.graph._engine_run_backward), str(torch.nn.Module.__call__),
            str(torch.compile), str(torch.optim.Optimizer.zero_grad),
            str(threading.Thread._bootstrap_inner), torch.is_grad_enabled(),
            len(torch.overrides._get_current_function_mode_stack())]
before = state()"""
    cells = notebook(
        tmp_path,
        "%load_ext gradscribe",
        state,
        "%%gradscribe tape\nw = torch.ones(2, requires_grad=True)\n(w * 2).sum().backward()\n"
        "os.kill(os.getpid(), signal.SIGINT)\nfor _ in range(10**9): w * 2",
        "print(state() == before, w.grad.tolist(), 'tape' in globals())",
        "%%gradscribe tape\n(w * 3).sum().backward()",
        "print(tape['w'].grad.tolist())",
    )
    assert [error["ename"] for error in errors(cells[2])] == ["KeyboardInterrupt"]
    assert printed(cells[3]) == "True [2.0, 2.0] False\n"
    assert not errors(cells[4])
    assert printed(cells[5]) == "[5.0, 5.0]\n"


def test_clumsy_cells_are_refused_and_harm_nothing(tmp_path):
    cells = notebook(
        tmp_path,
        "%load_ext gradscribe\nimport torch\nimport gradscribe as gs",
        "%%gradscribe\nx = (",
        "%%gradscribe 2 tapes\nx = 1",
        "%%gradscribe\nawait nothing",
        "%%gradscribe\nwith gs.record():\n    pass",
        "%%gradscribe\n",
        "%%gradscribe\nx = torch.ones(3)\nprint('own output')\nx.sum()",
        "%%gradscribe\nraise SystemExit",
        "%%gradscribe\n%timeit -n1 -r1 x + 1\n!echo shell",
        "print(len(torch.overrides._get_current_function_mode_stack()), 'tape' in globals())",
    )
    assert [errors(cell)[0]["ename"] for cell in cells[1:5]] == [
        *("SyntaxError", "ValueError", "SyntaxError", "RecordingError")
    ]
    assert not errors(cells[5])
    assert printed(cells[6]) == "own output\n"
    assert "tensor(3.)" in shown(cells[6], "text/plain")
    assert "shell" in printed(cells[8])
    assert printed(cells[9]) == "0 False\n"


def test_output_below_a_cell_is_bounded(tmp_path):
    cells = notebook(
        tmp_path,
        "%load_ext gradscribe\nimport torch",
        "%%gradscribe tape\nx = torch.ones(2, requires_grad=True)\n"
        "for n in range(3000):\n    x = x * 1.0001 + x.sin()\n",
        "from gradscribe.run_tape import MOST_SVG\nprint(MOST_SVG)",
    )
    assert not errors(cells[1])
    most = int(printed(cells[2]))
    size = sum(
        len(text) for kind in ("image/svg+xml", "text/plain") for text in shown(cells[1], kind)
    )
    assert size <= most + 1000
    assert len(printed(cells[1]).splitlines()) <= 6
