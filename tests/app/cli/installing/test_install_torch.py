"""``gradscribe install-torch``, and programs in a window's Python that has no PyTorch."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gradscribe.app.cli import main as command_line
from gradscribe.app.link import own_engine, torch_install
from tests.environments import make_torchless_environment, make_wheels

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(sys.platform == "win32", reason="paths of environments on Unix"),
]
PROGRAM = "x = torch.tensor(3.0, requires_grad=True)\n(x * x).backward()\nprint(x.grad)\n"


@pytest.fixture(scope="module")
def torchless(tmp_path_factory):
    """The Python of an environment that has all but torch."""
    return make_torchless_environment(tmp_path_factory.mktemp("torchless") / "env")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    return make_wheels(tmp_path_factory.mktemp("wheels"))


@pytest.fixture
def data(monkeypatch, tmp_path):
    """The user's data folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "gradscribe"


@pytest.fixture
def script(tmp_path):
    (tmp_path / "own.py").write_text(f"import torch\n{PROGRAM}")
    return tmp_path / "own.py"


def gradscribe(python, *words, **options):
    return subprocess.run(
        [python, "-P", "-m", "gradscribe", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=100,
        stdin=subprocess.DEVNULL,
        **options,
    )


def run(capsys, *words):
    code = command_line.main(["install-torch", *map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_program_without_pytorch_is_refused_with_the_next_step(torchless, data, script, tmp_path):
    for words in (["record", script], ["doctor", script], ["--screenshot", tmp_path / "w.png"]):
        done = gradscribe(torchless, *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"gradscribe: {own_engine.NO_TORCH}\n"
    assert not (tmp_path / "w.png").exists()


def test_what_needs_no_pytorch_works_without(torchless, data):
    done = gradscribe(torchless, "--version")
    assert (done.returncode, done.stderr) == (0, "")


def test_programs_run_in_the_python_that_was_named(torchless, data, script, tmp_path):
    done = gradscribe(torchless, "install-torch", "--use", sys.executable)
    assert (done.returncode, done.stderr) == (0, "")
    done = gradscribe(torchless, "record", script)
    assert (done.returncode, done.stderr) == (0, "")
    assert "tensor(6.)" in done.stdout
    picture = tmp_path / "window.png"
    done = gradscribe(torchless, script, "--screenshot", picture, "--trust")
    assert (done.returncode, done.stderr) == (0, "")
    assert picture.stat().st_size > 20_000
    done = gradscribe(torchless, "install-torch", "--remove")
    assert "is yours and stays" in done.stdout
    assert own_engine.read() is None


def test_a_python_without_pytorch_is_refused(torchless, data, capsys):
    code, _, err = run(capsys, "--use", torchless)
    assert code == 2
    assert "has no torch" in err
    assert own_engine.read() is None


def test_the_size_is_named_before_anything_happens(data, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", open(os.devnull, encoding="utf-8"))  # noqa: SIM115
    code, out, err = run(capsys)
    sys.stdin.close()
    assert code == 2
    assert "about 250 MB to download, about 950 MB in" in out
    assert "add --yes" in err
    assert not data.exists()


def test_the_build_for_the_graphics_card_is_larger(data, capsys, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda _: "n")
    monkeypatch.setattr(sys, "stdin", type("Terminal", (), {"isatty": lambda _: True})())
    code, out, _ = run(capsys, "--gpu")
    assert code == 1
    assert "graphics card: about 3.0 GB to download, about 5.5 GB in" in out
    assert not data.exists()


def test_wheels_are_installed_and_removed(data, wheels, capsys, tmp_path):
    place = tmp_path / "big disk"
    code, out, err = run(capsys, "--wheels", wheels, "--yes", "--folder", place)
    assert (code, err) == (0, "")
    assert "Installed torch 2.9.0 in" in out
    assert own_engine.read().folder == str(place / torch_install.NAME)
    code, out, _ = run(capsys, "--remove")
    assert (code, out) == (0, f"Removed {place / torch_install.NAME}\n")
    assert run(capsys, "--remove")[:2] == (0, "Nothing to remove\n")
    assert list(place.iterdir()) == []


def test_reports_are_lines_for_a_program(data, wheels, capsys):
    code, out, _ = run(capsys, "--wheels", wheels, "--reports")
    assert code == 0
    reports = [json.loads(line) for line in out.splitlines()]
    assert reports[-1]["phase"] == "Checking"
    assert all(isinstance(report["mb"], int) for report in reports)


def test_a_stopped_installation_says_how_to_go_on(data, wheels, tmp_path):
    uv = tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    uv.write_text("#!/bin/sh\nexec sleep 600\n")
    uv.chmod(0o755)
    program = (
        "import sys; sys.modules['uv'] = None; from gradscribe.app.cli.main import main; "
        f"sys.exit(main(['install-torch', '--yes', '--wheels', {str(wheels)!r}]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", program],
        env={**os.environ, "PATH": f"{uv.parent}:{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    first = process.stdout.readline(), process.stdout.readline()
    assert first[1] == "Making an environment\n"
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run it again to continue, or with --remove" in errors
    assert torch_install.half_made() == data / torch_install.NAME


@pytest.mark.parametrize(
    "words",
    [
        ["--use", "/no/such/python"],
        ["--wheels", "/no/such/folder", "--yes"],
        ["--remove", "--folder", "/tmp"],
        ["--use", sys.executable, "--folder", "/tmp"],
    ],
)
def test_bad_words_are_refused_in_a_line(data, capsys, words):
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith("gradscribe: ")
    assert err.count("\n") == 1
    assert not Path(data).exists()
