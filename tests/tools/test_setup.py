"""Set-up: it installs once, again when the pins change, and says in one line what is wrong."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def tools(monkeypatch):
    """The modules of tools/, imported as `python tools/setup.py` would."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    for name in ("system", "setup"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module("setup"), importlib.import_module("system")
    for name in ("system", "setup"):
        sys.modules.pop(name, None)


@pytest.fixture
def place(tools, tmp_path, monkeypatch):
    """A project with its recipes, and an environment that looks made; counts what is installed."""
    setup, _ = tools
    for name in setup.RECIPES:
        (tmp_path / name).write_text("torch==1\nnumpy==2\n")
    monkeypatch.setattr(setup, "ROOT", tmp_path)
    python = setup.python_of(tmp_path / "env")
    python.parent.mkdir(parents=True)
    python.touch()
    installed = []
    monkeypatch.setattr(setup, "install", lambda python, keep_torch: installed.append(keep_torch))
    monkeypatch.setattr(setup, "has_torch", lambda python: bool(installed))
    return setup, tmp_path / "env", installed


def test_a_second_set_up_installs_nothing(place):
    setup, env, installed = place
    setup.prepare(env, keep_torch=False)
    setup.prepare(env, keep_torch=False)
    assert installed == [False]


@pytest.mark.parametrize("recipe", ["pyproject.toml", "constraints.txt"])
def test_a_changed_recipe_is_installed_again(place, recipe):
    setup, env, installed = place
    setup.prepare(env, keep_torch=False)
    (setup.ROOT / recipe).write_text("torch==2\n")
    setup.prepare(env, keep_torch=False)
    assert len(installed) == 2


def test_a_failed_install_is_tried_again(place, monkeypatch, tools):
    setup, env, installed = place
    _, system = tools

    def fail(python, keep_torch):
        raise system.Missing("no network")

    with monkeypatch.context() as patch:
        patch.setattr(setup, "install", fail)
        with pytest.raises(system.Missing):
            setup.prepare(env, keep_torch=False)
    setup.prepare(env, keep_torch=False)
    assert installed == [False]


def test_a_torch_that_somebody_else_installed_is_kept(place, monkeypatch):
    setup, env, installed = place
    monkeypatch.setattr(setup, "has_torch", lambda python: True)
    setup.prepare(env, keep_torch=False)
    assert installed == [True]


def test_our_own_torch_is_not_mistaken_for_somebody_elses(place, monkeypatch):
    setup, env, installed = place
    monkeypatch.setattr(setup, "has_torch", lambda python: True)
    setup.python_of(env).unlink()
    monkeypatch.setattr(setup, "make_environment", lambda place, keep_torch: None)
    monkeypatch.setattr(setup, "install", lambda python, keep_torch: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        setup.prepare(env, keep_torch=False)
    setup.python_of(env).touch()
    monkeypatch.setattr(setup, "install", lambda python, keep_torch: installed.append(keep_torch))
    setup.prepare(env, keep_torch=False)
    assert installed == [False]


def test_a_torch_once_kept_stays_kept_when_the_pins_change(place):
    setup, env, installed = place
    setup.prepare(env, keep_torch=True)
    setup.prepare(env, keep_torch=False)
    assert installed == [True]
    (setup.ROOT / "constraints.txt").write_text("torch==2\n")
    setup.prepare(env, keep_torch=False)
    assert installed == [True, True]


def test_keeping_torch_leaves_its_pin_out_and_all_others_in(tools, tmp_path, monkeypatch):
    setup, _ = tools
    seen = []

    def pretend(command, **_):
        if "-c" in command and command[-2] == "-c" and "pip" in command:
            seen.append(Path(command[-1]).read_text())
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(setup.subprocess, "run", pretend)
    setup.install(Path("python"), keep_torch=True)
    setup.install(Path("python"), keep_torch=False)
    assert "\ntorch==" not in seen[0]
    assert "\nnumpy==" in seen[0]
    assert "\ntorch==" in seen[1]


def test_keeping_a_torch_that_is_not_there_says_so(tools, monkeypatch):
    setup, system = tools
    monkeypatch.setattr(setup, "has_torch", lambda python: False)
    with pytest.raises(system.Missing, match="has no torch"):
        setup.install(Path("python"), keep_torch=True)


def test_a_problem_is_one_line_and_exit_code_1(tools, monkeypatch, capsys):
    setup, system = tools

    def fail(libraries):
        raise system.Missing("Qt needs this")

    monkeypatch.setattr(setup.system, "provide", fail)
    monkeypatch.setenv("SYSTEM", "")
    assert setup.main() == 1
    assert capsys.readouterr().err == "Qt needs this\n"


def test_this_python_sees_its_own_torch(tools):
    setup, _ = tools
    assert setup.has_torch(Path(sys.executable))
