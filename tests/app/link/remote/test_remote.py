"""Engines over a real ssh server on the loopback: equal to those here, and refused in a line."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from gradscribe.app.cli import main as command_line
from gradscribe.app.cli import record
from gradscribe.app.link.interpreters import UnusablePython
from gradscribe.app.link.remote import ask
from gradscribe.engine.protocol import messages
from tests.sshd import needs_sshd, serving

pytestmark = [pytest.mark.e2e, needs_sshd]
SCRIPT = """\
import torch
x = torch.linspace(0.0, 1.0, 5, requires_grad=True)
y = (x.sin() * x).sum()
y.backward()
print(y.item())
"""
SETUP = {"data": "circle", "steps": 40, "model": {"name": "mlp", "layers": [4]}}
PATIENCE_S = 60


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("far")) as running:
        yield running


@pytest.fixture(autouse=True)
def plain(request):
    """Undo what a test did to the client's configuration."""
    yield
    if "server" in request.fixturenames:
        request.getfixturevalue("server").write_config()


def run(capsys, *words):
    code = command_line.main([*map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


def wait_until(holds):
    until = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)  # noqa: TID251 (another process is to do something)


def fake_python(folder, text, name="python"):
    program = folder / name
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return program


def test_a_recording_equals_the_one_made_here_and_leaves_the_engine_alone_behind(
    server, tmp_path, capsys
):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    outs = [tmp_path / "here.json", tmp_path / "far.json"]
    for out, where in zip(outs, [(), ("--engine", server.url())], strict=True):
        assert run(capsys, "record", script, "--json", out, *where)[0] == 0
    here, far = (json.loads(out.read_text()) for out in outs)
    for tape in (here, far):
        tape.pop("times", None)
        tape.pop("seconds", None)
    assert far == here
    wait_until(lambda: not list(server.temporary.iterdir()))
    # The engine has its list of fonts there, as it has here.
    left = {path.name.partition("-")[0] for path in (server.cache / "gradscribe").iterdir()}
    assert left <= {"engine", "matplotlib"}
    assert len(list((server.cache / "gradscribe" / "engine").iterdir())) == 1


def test_training_equals_the_one_made_here(server, tmp_path, capsys):
    setup = tmp_path / "setup.json"
    setup.write_text(json.dumps(SETUP))
    outs = [tmp_path / "here.json", tmp_path / "far.json"]
    for out, where in zip(outs, [(), ("--engine", server.url())], strict=True):
        code, _, err = run(capsys, "train", setup, "--json", out, *where)
        assert code == 0, err
    here, far = (json.loads(out.read_text()) for out in outs)
    assert far["weights"] == here["weights"]
    assert far["series"] == here["series"]


def test_the_doctor_finds_the_same(server, tmp_path, capsys):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + "y2 = (x * x).sum()\ny2.backward()\ny2.backward()\n")
    here = run(capsys, "doctor", script, "--no-trials")
    far = run(capsys, "doctor", script, "--no-trials", "--engine", server.url())
    assert far == here
    assert far[0] != 0


def test_a_crash_there_is_told_with_its_line(server):
    python = ask.ask_machine(server.url()).python
    source = "import ctypes\nimport torch\nctypes.string_at(0)\n"
    tape = record.record_source(source, is_open=True, interpreter=python)
    assert tape.status == "died"
    assert tape.error.place.line == 3


def test_a_program_without_end_is_ended_there(server, monkeypatch):
    monkeypatch.setattr(record.launch, "FAR_GRACE_S", 1.0)
    python = ask.ask_machine(server.url()).python
    source = "import torch\nfrom ctypes import pythonapi, c_uint\npythonapi.sleep(c_uint(600))\n"
    tape = record.record_source(source, is_open=True, interpreter=python, timeout=0.5)
    assert tape.status == "timeout"
    wait_until(lambda: not server.sessions())


def test_a_session_whose_process_is_killed_is_gone(server):
    python = ask.ask_machine(server.url()).python
    with record.BlockingEngine(interpreter=python) as engine:
        assert isinstance(engine.wait_ready(), messages.Ready)
        wait_until(lambda: len(server.sessions()) == 1)  # One of another test may be on its end.
        (folder,) = server.sessions()
        os.kill(json.loads((folder / "about.json").read_text())["pid"], signal.SIGKILL)
        with pytest.raises(record.EngineGone):
            engine.next(time.monotonic() + PATIENCE_S)
        assert "The engine on far is gone" in engine.exit_reason()
    wait_until(lambda: not server.sessions())


def test_a_login_that_prints_is_no_trouble(server, tmp_path):
    noisy = fake_python(tmp_path, f'echo "Welcome!"; echo hi >&2; exec {sys.executable} "$@"')
    assert ask.ask_machine(server.url(noisy)).python.path == str(noisy)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"UserKnownHostsFile": "none"}, "far is unknown: connect once with ssh far"),
        ({"IdentityFile": "other_key"}, "far accepts no key of yours and asks for a password"),
        ({"Port": 1}, "far refuses connections"),
        ({"HostName": "nowhere.invalid"}, "There is no machine named far"),
        ({"ProxyCommand": "false"}, "far hung up"),
        ({"Nonsense": "yes"}, "Bad configuration option: nonsense"),
    ],
)
def test_a_machine_that_is_not_reached_is_refused_in_a_line(
    server, tmp_path, capsys, options, words
):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    options = {k: server.folder / v if k == "IdentityFile" else v for k, v in options.items()}
    server.write_config(**options)
    code, out, err = run(capsys, "record", script, "--engine", server.url())
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


OLD = "echo 'gradscribe far side 3 8'; cat > /dev/null"


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (None, "far has no Python at /nowhere/python"),
        ("cat < /dev/null", "is no Python that Gradscribe can use"),
        ("yes", "is no Python that Gradscribe can use"),
        (OLD, "is Python 3.8: Gradscribe runs programs in 3.10 or newer"),
        (f'exec {sys.executable} -S "$@"', "has no torch and no numpy and no msgspec: ssh far"),
        (f'ulimit -f 8; exec {sys.executable} "$@"', "cannot be written: File too large"),
        ("exit 3", "is no Python that Gradscribe can use"),
    ],
)
def test_a_python_that_cannot_be_used_is_refused_in_a_line(
    server, tmp_path, capsys, program, words
):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    python = Path("/nowhere/python")
    if program:
        cache = f"export XDG_CACHE_HOME={tmp_path / 'cache'}"
        python = fake_python(tmp_path, f"{cache}\n{program}")
    code, out, err = run(capsys, "record", script, "--engine", server.url(python))
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    # A disk that is full is left as it was.
    assert not list(tmp_path.glob("cache/gradscribe/engine/*"))


def test_without_a_client_it_is_refused(server, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnusablePython, match="install the OpenSSH client"):
        ask.ask_machine(server.url())


def test_no_address_is_refused_before_anything_runs(capsys, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    code, _, err = run(capsys, "record", script, "--engine", "lab")
    assert code == 2
    assert "write ssh://user@host/path/to/python" in err
    with pytest.raises(SystemExit):
        command_line.main(["record", str(script), "--engine", "ssh://a", "--python", "b"])
