"""The wheel: what is in it, and whether it works in an environment of its own."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = """
x = torch.tensor(3.0, requires_grad=True)
(x * x).backward()
print(x.grad)
"""


def run(*words: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=110, **options
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel of this checkout, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    # A copy, so that the build leaves nothing in the checkout.
    source.mkdir()
    files = [*ROOT.glob("*.toml"), *ROOT.glob("*.py"), *ROOT.glob("*.md"), ROOT / "LICENSE"]
    for path in (*files, *(ROOT / name for name in FOLDERS), ROOT / "docs"):
        (source / path.name).symlink_to(path)
    command = "-m pip wheel . --no-deps --no-build-isolation --no-index -q -w".split()
    done = run(sys.executable, *command, folder, cwd=source)
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("*.whl")
    return made


FOLDERS = ("api", "engine", "playback", "widgets", "app", "assets")


@pytest.fixture(scope="module")
def fresh(wheel, tmp_path_factory):
    """The scripts' folder of a fresh environment: the wheel, and what the wheel depends on."""
    place = tmp_path_factory.mktemp("fresh")
    venv.create(place, with_pip=False)
    scripts = place / ("Scripts" if os.name == "nt" else "bin")
    packages = run(
        scripts / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"
    ).stdout.strip()
    # A folder in a .pth file has its own .pth files, the editable install's too, left alone.
    Path(packages, "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    install = f"-m pip --python {scripts / 'python'} install --no-deps --no-index -q".split()
    done = run(sys.executable, *install, wheel)
    assert done.returncode == 0, done.stderr
    return scripts


def environment() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}


def test_the_wheel_holds_one_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"gradscribe", next(top for top in tops if top.endswith(".dist-info"))}
    sources = {
        f"gradscribe/{path.relative_to(ROOT).as_posix()}"
        for folder in FOLDERS[1:]
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }
    sources |= {
        f"gradscribe/{path.relative_to(ROOT / 'docs').as_posix()}"
        for path in (ROOT / "docs" / "manual").rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }
    assert sources <= set(names)
    assert {"gradscribe/__init__.py", "gradscribe/__main__.py"} <= set(names)


def test_the_wheel_needs_no_torch_unless_it_is_asked_for(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode().splitlines()
    needed = [line.partition(": ")[2] for line in lines if line.startswith("Requires-Dist: ")]
    torch = [line for line in needed if line.startswith("torch>")]
    assert torch
    assert all(line.endswith('; extra == "engine"') for line in torch)
    assert any(line.startswith("PySide6-Essentials") for line in needed)


def test_the_wheel_works_in_a_fresh_environment(fresh, tmp_path):
    where = run(
        fresh / "python",
        *("-c", "import gradscribe.engine as e; print(e.__file__)"),
        cwd=tmp_path,
        env=environment(),
    ).stdout
    assert str(fresh.parent) in where
    script = tmp_path / "own.py"
    script.write_text(f"import torch\n{PROGRAM}")
    done = run(fresh / "gradscribe", "record", script, "--trust", cwd=tmp_path, env=environment())
    assert (done.returncode, done.stderr) == (0, "")
    assert "tensor(6.)" in done.stdout
    done = run(fresh / "python", "-m", "gradscribe", "--version", env=environment())
    assert done.stdout.startswith("gradscribe ")


def test_pytest_finds_the_plugin_of_the_wheel(fresh, tmp_path):
    test = tmp_path / "test_own.py"
    test.write_text(
        """
import torch
from gradscribe.testing import assert_gradients

def test_square(tape):
    x = torch.tensor(3.0, requires_grad=True)
    (x * x).backward()
    assert_gradients(tape, {"x": 6.0})

def test_wrong(tape):
    x = torch.tensor(3.0, requires_grad=True)
    (x * x).backward()
    assert_gradients(tape, {"x": 7.0})
"""
    )
    command = [fresh / "python", "-m", "pytest", "-q", "-p", "no:randomly", test]
    done = run(*command, cwd=tmp_path, env=environment())
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert "it is 6.0, expected 7.0" in done.stdout
    assert "gradscribe opens it" in done.stdout


def test_the_window_of_the_wheel_finds_its_themes_and_examples(fresh, tmp_path):
    out = tmp_path / "window.png"
    done = run(fresh / "gradscribe", "--screenshot", out, cwd=tmp_path, env=environment())
    assert (done.returncode, done.stderr) == (0, "")
    assert out.stat().st_size > 20_000
