"""Every command of the manual in a block marked ``sh`` works as printed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gradscribe.app.manual import pages

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(280)]

ROOT = Path(__file__).resolve().parents[3]
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROGRAM = """import torch

w = torch.tensor([{}, 3.0], requires_grad=True)
loss = (w * w).sum()
loss.backward()
print(loss.item())
"""
DIFFERS = re.compile(r"gradscribe (compare|diff) ")
"""Commands that end with 1 where two runs differ."""


def blocks():
    return [
        pytest.param(block, id=f"{page.name}-{number}")
        for page in pages.load()
        for number, block in enumerate(BLOCK.findall(page.text), 1)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the files that the pages speak of, and the programs on the path."""
    made = tmp_path_factory.mktemp("manual")
    for name, number in (("script", 2.0), ("other", 2.5), ("left", 1.0), ("right", 1.5)):
        (made / f"{name}.py").write_text(PROGRAM.format(number))
    (made / "assets").symlink_to(ROOT / "assets")
    (made / "my-lessons").mkdir()
    lesson = ROOT / "assets" / "lessons" / "01_tensor.md"
    (made / "my-lessons" / lesson.name).write_text(lesson.read_text(encoding="utf-8"))
    programs = made / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "gradscribe"):
        module = " -m gradscribe" if name == "gradscribe" else ""
        script = programs / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}"{module} "$@"\n')
        script.chmod(0o755)
    return made


@pytest.mark.skipif(os.name != "posix", reason="the blocks are for a POSIX shell")
@pytest.mark.parametrize("block", blocks())
def test_a_block_works_as_printed(block, folder):
    path = os.pathsep.join((str(folder / ".venv" / "bin"), os.environ["PATH"]))
    environment = os.environ | {"PATH": path, "HOME": str(folder), "QT_QPA_PLATFORM": "offscreen"}
    environment.setdefault("PYTHONPATH", str(ROOT / ".links"))
    ended = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    expected = {0, 1} if DIFFERS.search(block) else {0}
    assert ended.returncode in expected, ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_pages_have_commands():
    assert len(blocks()) > 8
