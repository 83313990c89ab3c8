"""PyTorch for a window whose own Python has none."""

import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog

from gradscribe.app.commands import run as run_commands
from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.link import own_engine, torch_install
from gradscribe.app.link.client import Link
from gradscribe.app.link.interpreters import Interpreter
from gradscribe.app.link.own_engine import OwnEngine
from gradscribe.app.link.python_search import FoundPython
from gradscribe.app.link.torch_install import InstallPlan
from gradscribe.app.ui.torch_dialog import TorchChoice, TorchDialog
from gradscribe.app.window.torch_setup import TorchSetup
from gradscribe.app.window.window import Window
from tests.app.fakes import FakeDialogs
from tests.environments import make_wheels

pytestmark = [
    pytest.mark.gui,
    pytest.mark.e2e,
    pytest.mark.skipif(sys.platform == "win32", reason="paths of environments on Unix"),
]
FOUND = FoundPython("/srv/mnist/.venv/bin/python", "mnist/.venv", "3.12.1", "2.9.1")


@pytest.fixture
def place(monkeypatch, tmp_path):
    """The user's data folder, of a Python without torch."""
    monkeypatch.setattr(own_engine, "has_torch", lambda: False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "gradscribe"


@pytest.fixture
def window(qtbot, place, tmp_path):
    """A window with a real link, and what sets up PyTorch for it."""
    link = Link()
    window = Window(link, Settings(tmp_path / "s.ini"), Drafts(tmp_path / "drafts"))
    window.context.dialogs = FakeDialogs()
    window.answers = []
    window.setup = TorchSetup(
        window.session, window.python, window.notices, lambda _: window.answers.pop(), window
    )
    qtbot.addWidget(window)
    window.open_first("")
    link.start()
    yield window
    window.setup.close()
    window.recovery._warned = True
    window.close()
    link.close()


def choose(window, label):
    """Press the button of the notice that is shown."""
    labels = dict(window.notices.notice.choices)
    window.notices.buttons[list(labels).index(label)].click()


def notice(window):
    return window.notices.notice.text if window.notices.notice is not None else ""


def test_without_pytorch_the_window_says_so_and_offers_it(window, qtbot):
    qtbot.waitUntil(lambda: notice(window).startswith("Programs need PyTorch"))
    assert window.session.result.engine == "missing"
    titles = [choice.title for choice in run_commands.python(window.context)]
    assert titles[-1] == "Set up PyTorch…"


def test_a_window_whose_python_has_pytorch_offers_nothing(window, qtbot, monkeypatch):
    qtbot.waitUntil(lambda: bool(notice(window)))
    window.notices.drop("torch")
    monkeypatch.setattr(own_engine, "has_torch", lambda: True)
    window.setup.offer()
    assert notice(window) == ""


def test_the_program_runs_in_the_python_that_was_chosen(window, qtbot, monkeypatch):
    qtbot.waitUntil(lambda: bool(notice(window)))
    window.answers = [TorchChoice(python=sys.executable)]
    choose(window, "Set up PyTorch…")
    qtbot.waitUntil(lambda: bool(window.session.result.tape.events), timeout=60_000)
    assert own_engine.read().python.path == sys.executable
    assert own_engine.read().folder == ""
    assert window.session.result.problem is None
    assert notice(window) == ""


def test_a_python_that_cannot_be_used_is_named_and_another_can_be_chosen(window, qtbot, tmp_path):
    qtbot.waitUntil(lambda: bool(notice(window)))
    window.answers = [TorchChoice(python=str(tmp_path / "python"))]
    choose(window, "Set up PyTorch…")
    qtbot.waitUntil(lambda: "There is no Python at" in notice(window))
    assert [label for label, _ in window.notices.notice.choices] == ["Set up PyTorch…"]


def test_no_answer_leaves_the_offer(window, qtbot):
    qtbot.waitUntil(lambda: bool(notice(window)))
    window.answers = [None]
    choose(window, "Set up PyTorch…")
    assert notice(window).startswith("Programs need PyTorch")


def test_an_installation_shows_progress_and_takes_effect(window, qtbot, tmp_path):
    wheels = make_wheels(tmp_path / "wheels")
    qtbot.waitUntil(lambda: bool(notice(window)))
    shown = []
    show = window.notices.show_now
    window.notices.show_now = lambda news: (shown.append(news.text), show(news))
    said = []
    window.python.said.connect(said.append)
    window.answers = [TorchChoice(InstallPlan(wheels=str(wheels)))]
    choose(window, "Set up PyTorch…")
    assert window.setup.is_installing
    qtbot.waitUntil(lambda: own_engine.read() is not None, timeout=60_000)
    qtbot.waitUntil(lambda: not window.setup.is_installing)
    assert shown[0] == "Preparing: 0 % of about 950 MB"
    assert "PyTorch 2.9.0 is ready" in said
    assert window.session.result.engine == "starting"


def test_a_failed_installation_says_why_and_leaves_nothing(window, qtbot, tmp_path, place):
    (tmp_path / "empty").mkdir()
    qtbot.waitUntil(lambda: bool(notice(window)))
    window.setup.install(InstallPlan(wheels=str(tmp_path / "empty")))
    qtbot.waitUntil(lambda: notice(window).startswith("PyTorch is not installed: "), timeout=60_000)
    assert "was not found in the provided package locations" in notice(window)
    assert not (place / torch_install.NAME).exists()


def test_cancel_removes_what_was_made(window, qtbot, tmp_path, place, monkeypatch):
    qtbot.waitUntil(lambda: bool(notice(window)))
    # At the address nothing answers: uv tries again for a while.
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("UV_HTTP_RETRIES", "100")
    window.setup.install(InstallPlan())
    folder = place / torch_install.NAME
    qtbot.waitUntil((folder / torch_install.MARKER).exists, timeout=60_000)
    choose(window, "Cancel")
    qtbot.waitUntil(lambda: not window.setup.is_installing, timeout=60_000)
    qtbot.waitUntil(lambda: notice(window).startswith("Programs need PyTorch"), timeout=60_000)
    assert not folder.exists()
    assert torch_install.half_made() is None


def half_made(place):
    """Leave an installation as it was when the machine lost its power."""
    folder = place / torch_install.NAME
    torch_install._begin(folder)
    return folder


def test_an_interrupted_installation_is_offered_to_be_removed(window, qtbot, place):
    folder = half_made(place)
    window.setup.offer()
    assert notice(window) == "PyTorch is installed in part: it was interrupted"
    choose(window, "Remove")
    qtbot.waitUntil(lambda: notice(window).startswith("Programs need PyTorch"))
    assert not folder.exists()


def test_a_window_that_closes_leaves_an_installation_to_be_continued(
    window, qtbot, place, monkeypatch
):
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("UV_HTTP_RETRIES", "100")
    window.setup.install(InstallPlan())
    folder = place / torch_install.NAME
    qtbot.waitUntil((folder / torch_install.MARKER).exists, timeout=60_000)
    window.setup.close()
    assert torch_install.half_made() == folder


def test_an_environment_whose_python_is_gone_is_offered_to_be_repaired(window, place):
    gone = Interpreter(str(place / "gone" / "python"), "3.11.7", "2.13.0")
    own_engine.write(OwnEngine(gone, str(place / torch_install.NAME)))
    window.setup.offer()
    assert [label for label, _ in window.notices.notice.choices] == ["Repair", "Set up PyTorch…"]


# The dialog


@pytest.fixture
def dialog(qtbot, place):
    made = TorchDialog(None, [FOUND])
    qtbot.addWidget(made)
    return made


def test_a_python_that_was_found_is_proposed_first(dialog):
    assert dialog.answer() == TorchChoice(python=FOUND.path)
    assert not dialog.change.isEnabled()


def test_sizes_are_told_before(dialog):
    assert "250 MB to download, 950 MB on the disk" in dialog.cpu.text()
    assert "3.0 GB to download, 5.5 GB on the disk" in dialog.gpu.text()


def test_without_another_python_the_build_for_the_cpu_is_proposed(qtbot, place):
    made = TorchDialog(None)
    qtbot.addWidget(made)
    assert made.answer() == TorchChoice(InstallPlan())


def test_the_folder_is_shown_and_can_be_chosen(dialog, place, tmp_path, monkeypatch):
    dialog.cpu.setChecked(True)
    assert str(place / torch_install.NAME) in dialog.folder.text()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path / "disk"))
    dialog.change.click()
    assert str(tmp_path / "disk" / torch_install.NAME) in dialog.folder.text()
    dialog.gpu.setChecked(True)
    assert dialog.answer() == TorchChoice(InstallPlan(str(tmp_path / "disk"), gpu=True))


def test_a_folder_of_wheels_is_asked_for(dialog, tmp_path, monkeypatch):
    dialog.offline.setChecked(True)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "")
    dialog.buttons.accepted.emit()
    assert dialog.answer() is None
    assert not dialog.result()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))
    dialog.buttons.accepted.emit()
    assert dialog.answer() == TorchChoice(InstallPlan(wheels=str(tmp_path)))
    assert dialog.result()


def test_another_python_is_asked_for(dialog, monkeypatch):
    dialog.other.setChecked(True)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("/usr/local/python", ""))
    dialog.buttons.accepted.emit()
    assert dialog.answer() == TorchChoice(python="/usr/local/python")


def test_the_longest_names_fit_the_dialog(qtbot, place):
    name = Path("deep", *["a-very-long-name-of-a-project"] * 3, ".venv")
    made = TorchDialog(None, [FoundPython(f"/{name}/bin/python", str(name), "3.12", "2.9")] * 9)
    qtbot.addWidget(made)
    made.choose_folder("/" + "long-name/" * 30)
    made.cpu.setChecked(True)
    made.adjustSize()
    assert made.width() <= 1000
