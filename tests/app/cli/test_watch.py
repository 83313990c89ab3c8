"""``gradscribe watch`` as a shell sees it."""

import os
import subprocess
import sys

import pytest
import torch

import gradscribe as gs

pytestmark = pytest.mark.e2e


def gradscribe(*words):
    return subprocess.run(
        [sys.executable, "-P", "-m", "gradscribe", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )


@pytest.mark.parametrize("words", [("watch",), ()])
def test_a_watched_loop_is_drawn(tmp_path, words):
    model = torch.nn.Linear(2, 1)
    with gs.watch(model, to=tmp_path / "a.watch") as watch:
        for step in range(30):
            watch.step(1.0 / (step + 1))
    done = gradscribe(*words, tmp_path / "a.watch", "--screenshot", tmp_path / "a.png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("watch", "none.watch"), "cannot be read"),
        (("watch", "bad.watch"), "no watched training loop"),
        (("bad.watch", "--goto", "3"), "do not go with a watched"),
        (("watch", "bad.watch", "--theme", "dark"), "goes with --screenshot"),
    ],
)
def test_what_can_not_be_shown_is_refused_in_a_line(tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.watch").write_bytes(b"\x80\x04K\x01.")
    done = gradscribe(*options)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
