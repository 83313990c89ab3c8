"""Programs in another Python: with its packages, and refused with the command that helps."""

import json
import sys

import pytest
import torch

from gradscribe.app.cli import main as command_line
from gradscribe.app.link import interpreters
from gradscribe.app.link.interpreters import UnusablePython, ask_interpreter, lent_source
from tests.environments import make_environment

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(sys.platform == "win32", reason="the fake Pythons are scripts"),
]
SCRIPT = """\
import torch, sys
from neighbour import points
x = torch.tensor(points())
w = torch.ones(2, requires_grad=True)
(x @ w).sum().backward()
print(sys.prefix)
"""


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """Return the Python of an environment with torch and a package of its own."""
    return make_environment(tmp_path_factory.mktemp("other") / "env")


def fake(folder, answer, code=0):
    """Return a program that answers like a Python, with what is given."""
    program = folder / "python"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{answer}\nEND\nexit {code}\n")
    program.chmod(0o755)
    return str(program)


def run(capsys, *words):
    code = command_line.main([*map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize("trust", [(), ("--trust",)])
def test_a_script_runs_with_the_packages_of_another_python(other, tmp_path, capsys, trust):
    script = tmp_path / "script.py"
    # Of a script from outside, imports are limited to what the policy knows.
    text = SCRIPT if trust else SCRIPT.replace("from neighbour import points", "points = list")
    text = text if trust else text.replace("points()", "[[1.0, 2.0], [3.0, 5.0]]")
    text = (
        text
        if trust
        else text.replace("import torch, sys", "import torch").replace("print(sys.prefix)", "")
    )
    script.write_text(text)
    out = tmp_path / "out.json"
    code, printed, _ = run(capsys, "record", script, "--python", other, "--json", out, *trust)
    assert code == 0
    tape = json.loads(out.read_text())
    x = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    w = torch.ones(2, requires_grad=True)
    (x @ w).sum().backward()
    leaf = next(leaf for leaf in tape["leaves"] if leaf["name"] == "w")
    assert leaf["grad"] == w.grad.tolist()
    if trust:
        assert printed.splitlines()[0] == str(other.parents[1])


def test_without_it_the_package_is_not_there(tmp_path, capsys):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    code, _, err = run(capsys, "record", script, "--trust")
    assert code != 0
    assert "No module named 'neighbour'" in err


def test_the_doctor_tries_its_fixes_there(other, tmp_path, capsys):
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\nfrom neighbour import points\nx = torch.tensor(points())\n"
        "w = torch.zeros(2, requires_grad=True)\n"
        "for _ in range(3):\n    loss = (x @ w - 1).square().mean()\n    loss.backward()\n"
        "    with torch.no_grad():\n        w -= 0.01 * w.grad\n"
    )
    code, printed, _ = run(capsys, "doctor", script, "--python", other, "--trust")
    assert code == 1
    assert "missing-zero-grad" in printed
    assert "Not tried" not in printed


def test_a_run_trains_there_to_the_same_losses(other, tmp_path, capsys):
    setup = tmp_path / "setup.json"
    setup.write_text('{"data": {"name": "line"}, "model": {"name": "linear"}, "steps": 5}')
    losses = []
    for words in ((), ("--python", other)):
        code, _, _ = run(capsys, "train", setup, "--json", tmp_path / "out.json", *words)
        assert code == 0
        losses.append(json.loads((tmp_path / "out.json").read_text())["series"]["loss"])
    assert losses[0] == losses[1]


def test_a_python_says_what_it_has(other):
    found = ask_interpreter(str(other))
    assert found.path == str(other)
    assert found.version == ".".join(map(str, sys.version_info[:3]))
    assert found.torch == torch.__version__


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ('[[3, 9, 1], "p", {}]', "is Python 3.9.1: Gradscribe runs programs in 3.10 or newer"),
        ('[[3, 12, 0], "p", {"numpy": "2"}]', "has no torch and no msgspec: "),
        (
            '[[3, 12, 0], "p", {"numpy": "2", "msgspec": "0.18", "torch": "2.2.1+cu118"}]',
            "has torch 2.2.1+cu118, 2.6 or newer is needed",
        ),
        ("hello", "is no Python"),
        ("", "is no Python"),
        ('{"a": 1}', "is no Python"),
        ('[[3, 12, 0], "p", 7]', "is no Python"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(tmp_path, answer, words):
    with pytest.raises(UnusablePython) as refused:
        ask_interpreter(fake(tmp_path, answer))
    assert words in str(refused.value)


def test_the_command_that_helps_is_whole(tmp_path):
    folder = tmp_path / "my env"
    folder.mkdir()
    python = fake(folder, '[[3, 12, 0], "p", {"numpy": "2"}]')
    with pytest.raises(UnusablePython) as refused:
        ask_interpreter(python)
    assert str(refused.value).endswith(f'"{python}" -m pip install torch msgspec')


def test_a_python_that_is_not_there_is_refused_on_the_command_line(tmp_path, capsys):
    script = tmp_path / "a.py"
    script.write_text("x = 1")
    code, _, err = run(capsys, "record", script, "--python", tmp_path / "none")
    assert code == 2
    assert "There is no Python at" in err


def test_a_python_that_hangs_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(interpreters, "TIMEOUT_S", 0.2)
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    with pytest.raises(UnusablePython, match="does not answer"):
        ask_interpreter(str(program))


def test_the_lent_source_is_the_engine_alone_and_is_written_again(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    lent_source.cache_clear()
    folder = lent_source()
    try:
        assert sorted(path.name for path in (folder / "gradscribe").iterdir()) == [
            "__init__.py",
            "engine",
        ]
        (folder / "gradscribe" / "engine" / "system.py").unlink()
        lent_source.cache_clear()
        assert lent_source() == folder
        assert (folder / "gradscribe" / "engine" / "system.py").exists()
        assert [*folder.parent.iterdir()] == [folder]
        assert not list(folder.rglob("*.pyc"))
    finally:
        lent_source.cache_clear()


def test_a_cache_that_cannot_be_written_is_named(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    lent_source.cache_clear()
    script = tmp_path / "a.py"
    script.write_text("x = 1")
    code, _, err = run(capsys, "record", script, "--python", sys.executable)
    lent_source.cache_clear()
    assert code == 2
    assert "cannot be copied for another Python" in err
