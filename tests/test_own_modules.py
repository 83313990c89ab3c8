"""A script's own modules win, whatever they are called: nothing of ours but one name is taken."""

import subprocess
import sys
from pathlib import Path

import pytest

from gradscribe.app.link.client import Link
from gradscribe.engine.protocol import messages

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).resolve().parent.parent
NAMES = sorted(path.name for path in ROOT.iterdir() if path.is_dir() and path.name.isidentifier())
"""Every folder of the checkout that could be imported: app, engine, tests, tools, ..."""
GRAD = "x = torch.tensor(2.0, requires_grad=True)\n(x * x).backward()\nprint(x.grad)\n"


@pytest.fixture(params=["module", "package"])
def script(request, tmp_path):
    """A script beside modules, or packages, with the names of all folders."""
    for name in NAMES:
        own = tmp_path / f"{name}.py"
        if request.param == "package":
            own = tmp_path / name / "__init__.py"
            own.parent.mkdir()
        own.write_text(f"def train_one_epoch():\n    return 'own {name}'\n")
    lines = [f"from {name} import train_one_epoch as {name}\nprint({name}())" for name in NAMES]
    path = tmp_path / "script.py"
    path.write_text("\n".join(["import torch", *lines, GRAD]))
    return path


@pytest.fixture
def expected(script):
    """Return the output of plain Python."""
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.count("own ") == len(NAMES) > 8
    return done.stdout


def test_record_runs_it_as_plain_python(script, expected):
    done = subprocess.run(
        [sys.executable, "-m", "gradscribe", "record", str(script), "--trust"],
        capture_output=True,
        text=True,
        timeout=110,
        cwd=script.parent.parent,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(expected)


def test_the_window_runs_it_as_plain_python(script, expected, qtbot):
    link, heard = Link(), []
    link.received.connect(heard.append)
    run_id = link.run(script.read_text(), filename=str(script))

    def tape():
        return next(
            (m.tape for m in heard if isinstance(m, messages.Recorded) and m.run_id == run_id), None
        )

    qtbot.waitUntil(lambda: tape() is not None, timeout=60_000)
    link.close()
    link.deleteLater()
    assert (tape().status, tape().stdout) == ("ok", expected)


def test_the_engine_imports_none_of_our_folders_by_a_bare_name(qtbot):
    link, heard = Link(), []
    link.received.connect(heard.append)
    names = "".join(f"\n    {name!r}," for name in NAMES if name != "gradscribe")
    run_id = link.run(
        "import importlib.util\n"
        f"names = ({names}\n)\n"
        "print([name for name in names if importlib.util.find_spec(name)])"
    )

    def tape():
        return next(
            (m.tape for m in heard if isinstance(m, messages.Recorded) and m.run_id == run_id), None
        )

    qtbot.waitUntil(lambda: tape() is not None, timeout=60_000)
    link.close()
    link.deleteLater()
    assert tape().stdout == "[]\n"
