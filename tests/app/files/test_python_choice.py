"""The Python of a document: found, chosen, remembered, refused, made usable."""

import json
import sys

import pytest
import torch

from gradscribe.app.commands import run as run_commands
from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.link.client import Link
from gradscribe.app.window.window import Window
from tests.app.fakes import FakeDialogs
from tests.environments import POINTS, make_environment

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(sys.platform == "win32", reason="the fake Pythons are scripts"),
]
SCRIPT = """\
import sys
import torch
from neighbour import points
x = torch.tensor(points())
w = torch.ones(2, requires_grad=True)
(x @ w).sum().backward()
print(sys.prefix)
"""
SUMS = [sum(row[column] for row in POINTS) for column in (0, 1)]
"""Gradient of w: the sum over the rows of x."""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a folder with a script and, in .venv, the environment that it is meant for."""
    folder = tmp_path_factory.mktemp("project")
    make_environment(folder / ".venv")
    (folder / "fit.py").write_text(SCRIPT)
    return folder


@pytest.fixture
def make_window(qtbot, tmp_path):
    """Make windows of one user with real engines."""
    made = []

    def make():
        link = Link()
        window = Window(link, Settings(tmp_path / "s.ini"), Drafts(tmp_path / "drafts"))
        window.context.dialogs = FakeDialogs()
        qtbot.addWidget(window)
        link.start()
        made.append(window)
        return window

    yield make
    for window in made:
        window.recovery._warned = True
        window.close()
        window._link.close()


def open_trusted(window, path):
    """Open a script of the user's own."""
    window.settings.trust(str(path), path.read_text())
    window.open_first(str(path))


def choose(window, part):
    """Choose the entry of Run > Python whose title has this part."""
    choices = run_commands.python(window.context)
    choice = next(choice for choice in choices if part in choice.title)
    window.menus.choose(choice)


def fake_python(folder, answer):
    """Return a program that answers like a Python, with what is given."""
    program = folder / "python"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(answer)}\nEND\n")
    program.chmod(0o755)
    return program


def has_gradient(window):
    leaves = {leaf.name: leaf for leaf in window.session.result.tape.leaves}
    return "w" in leaves and leaves["w"].grad is not None


def test_a_script_runs_in_the_environment_next_to_it(make_window, project, qtbot):
    window = make_window()
    open_trusted(window, project / "fit.py")
    qtbot.waitUntil(lambda: window.session.result.problem is not None, timeout=60_000)
    assert "neighbour" in window.session.result.problem.message
    choose(window, f"{project.name}/.venv")
    qtbot.waitUntil(lambda: has_gradient(window), timeout=60_000)
    tape = window.session.result.tape
    leaf = next(leaf for leaf in tape.leaves if leaf.name == "w")
    assert tape.snapshots[leaf.grad].array().tolist() == SUMS
    assert window.session.result.stdout.strip() == str(project / ".venv")
    assert ".venv" in window.status.engine.text()
    titles = [choice.title for choice in run_commands.python(window.context) if choice.checked]
    python = window.session.doc.interpreter
    assert titles == [f"{project.name}/.venv · Python {python.version} · torch {torch.__version__}"]


def test_it_is_remembered_by_the_file_and_by_nothing_else(make_window, project, qtbot):
    window = make_window()
    open_trusted(window, project / "fit.py")
    choose(window, ".venv")
    qtbot.waitUntil(lambda: has_gradient(window), timeout=60_000)
    window.open_empty()
    assert window.session.doc.interpreter is None
    window.settings.flush()
    again = make_window()
    open_trusted(again, project / "fit.py")
    assert again.session.doc.interpreter.path == str(project / ".venv" / "bin" / "python")
    qtbot.waitUntil(lambda: has_gradient(again), timeout=60_000)
    choose(again, "own")
    qtbot.waitUntil(lambda: again.session.result.problem is not None, timeout=60_000)
    again.open_empty()
    open_trusted(again, project / "fit.py")
    assert again.session.doc.interpreter is None


def test_one_without_torch_is_refused_with_the_command_and_a_button(make_window, tmp_path, qtbot):
    window = make_window()
    window.open_first()
    python = fake_python(tmp_path, [[3, 12, 1], "x", {"numpy": "2.0", "msgspec": "0.19"}])
    window.context.dialogs.answers["open"] = python
    before = window.session.doc
    choose(window, "Other")
    qtbot.waitUntil(lambda: window.notices.notice is not None, timeout=60_000)
    assert window.notices.notice.text == f"{python} has no torch: {python} -m pip install torch"
    assert window.session.doc == before
    # pip of this Python says what it is asked for; afterwards it has torch.
    answer = json.dumps([[3, 12, 1], "x", {"torch": "2.6.0", "numpy": "2.0", "msgspec": "1"}])
    python.write_text(
        f'#!/bin/sh\nif [ "$1" = -m ]; then echo "$@" > {tmp_path}/asked; echo Collecting torch\n'
        f"else echo '{answer}'; fi\n"
    )
    window.notices.buttons[0].click()
    qtbot.waitUntil(lambda: "Collecting torch" in window.console.text(), timeout=60_000)
    qtbot.waitUntil(lambda: window.session.doc.interpreter is not None, timeout=60_000)
    assert window.below.currentWidget() is window.console
    assert (tmp_path / "asked").read_text() == "-m pip install --progress-bar off torch\n"
    assert window.session.doc.interpreter.torch == "2.6.0"


def test_an_installation_that_fails_is_said(make_window, tmp_path, qtbot):
    window = make_window()
    window.open_first()
    python = fake_python(tmp_path, [[3, 12, 1], "x", {"numpy": "2.0", "msgspec": "0.19"}])
    window.python.choose(str(python))
    qtbot.waitUntil(lambda: window.notices.notice is not None, timeout=60_000)
    python.write_text("#!/bin/sh\necho no network >&2\nexit 1\n")
    window.notices.buttons[0].click()
    qtbot.waitUntil(lambda: "Not installed" in window.notices.text.text(), timeout=60_000)
    assert "no network" in window.console.text()
    assert window.session.doc.interpreter is None


def test_a_remembered_python_that_is_gone_is_said(make_window, tmp_path, project, qtbot):
    script = tmp_path / "fit.py"
    script.write_text("import torch\nx = torch.ones(2, requires_grad=True)\nx.sum().backward()\n")
    window = make_window()
    open_trusted(window, script)
    python = fake_python(
        tmp_path, [[3, 12, 1], "x", {"torch": "2.7.0", "numpy": "2", "msgspec": "1"}]
    )
    window.python.choose(str(python))
    qtbot.waitUntil(lambda: window.session.doc.interpreter is not None, timeout=60_000)
    python.unlink()
    window.open_empty()
    open_trusted(window, script)
    assert window.session.doc.interpreter is None
    assert f"{python} is gone" in window.notices.notice.text


def test_a_python_that_cannot_start_is_said_and_another_can_be_chosen(make_window, tmp_path, qtbot):
    window = make_window()
    window.open_first()
    python = fake_python(
        tmp_path, [[3, 12, 1], "x", {"torch": "2.7.0", "numpy": "2", "msgspec": "1"}]
    )
    window.python.choose(str(python))
    problem = lambda: window.session.result.problem  # noqa: E731
    qtbot.waitUntil(lambda: problem() is not None, timeout=90_000)
    choose(window, "own")
    events = lambda: window.session.result.tape.events  # noqa: E731
    qtbot.waitUntil(lambda: problem() is None and bool(events()), timeout=60_000)


def test_an_answer_that_comes_late_changes_no_other_document(make_window, tmp_path, qtbot):
    window = make_window()
    window.open_first()
    python = fake_python(
        tmp_path, [[3, 12, 1], "x", {"torch": "2.7.0", "numpy": "2", "msgspec": "1"}]
    )
    window.python.choose(str(python))
    window.python.choose_own()
    window.python._worker.close()
    qtbot.wait(0)
    assert window.session.doc.interpreter is None


def test_a_package_installed_in_editable_mode_is_read(make_window, project, qtbot):
    script = project / "edited.py"
    script.write_text(SCRIPT.replace("neighbour", "workshop"))
    window = make_window()
    open_trusted(window, script)
    choose(window, ".venv")
    qtbot.waitUntil(lambda: has_gradient(window), timeout=60_000)


def python_with_devices(folder, names):
    """Return a program that answers like a Python with these devices; it counts in `asked`."""
    answer = json.dumps([[3, 12, 1], "x", {"torch": "2.7.0", "numpy": "2", "msgspec": "1"}])
    program = folder / "python"
    program.write_text(
        f'#!/bin/sh\ncase "$2" in\n*get_device*) echo x >> {folder}/asked; '
        f"echo '{json.dumps(names)}';;\n*) echo '{answer}';;\nesac\n"
    )
    program.chmod(0o755)
    return program


def titles(window):
    return [choice.title for choice in run_commands.python(window.context)]


def test_the_devices_of_a_python_are_listed_and_asked_for_once(make_window, tmp_path, qtbot):
    program = python_with_devices(tmp_path, ["NVIDIA H100", "NVIDIA H100"])
    window = make_window()
    window.open_first()
    window.python.choose(str(program))
    qtbot.waitUntil(lambda: window.session.doc.interpreter is not None, timeout=60_000)
    with qtbot.waitSignal(window.python.listed, timeout=60_000):
        assert not any("H100" in title for title in titles(window))
    words = "Python 3.12.1 · torch 2.7.0 · cpu and 2 × NVIDIA H100"
    assert any(title.endswith(words) for title in titles(window))
    window.settings.flush()
    again = make_window()
    again.open_first()
    assert any(title.endswith(words) for title in titles(again))
    assert (tmp_path / "asked").read_text() == "x\n"
    # A new executable may have other devices.
    program.unlink()
    python_with_devices(tmp_path, ["mps"])
    with qtbot.waitSignal(again.python.listed, timeout=60_000):
        titles(again)
    assert any(title.endswith("cpu and mps") for title in titles(again))


def test_a_python_that_came_with_a_program_is_not_run_for_the_list(make_window, tmp_path):
    folder = tmp_path / "sent"
    (folder / ".venv" / "bin").mkdir(parents=True)
    packages = folder / ".venv" / "lib" / "python3.12" / "site-packages"
    (packages / "torch-2.7.0.dist-info").mkdir(parents=True)
    python_with_devices(folder / ".venv" / "bin", [])
    (folder / "fit.py").write_text("import torch\n")
    window = make_window()
    window.open_first(str(folder / "fit.py"))
    assert window.session.doc.foreign
    assert any("sent/.venv" in title for title in titles(window))
    assert not window.python._query.is_asking(str(folder / ".venv" / "bin" / "python"))
    window.settings.trust(str(folder / "fit.py"), "import torch\n")
    window.open_first(str(folder / "fit.py"))
    titles(window)
    assert window.python._query.is_asking(str(folder / ".venv" / "bin" / "python"))
