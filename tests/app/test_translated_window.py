"""The window in the pseudo-locale and in Chinese: all text translated, and space for it."""

import json
import os
import re
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

PROGRAM = """
import torch
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
w = torch.ones(2, 3, requires_grad=True)
for step in range(3):
    prediction = x @ w
    target = torch.zeros(2, 1)
    loss = ((prediction - target) ** 2).mean()
    loss.backward()
print(loss)
x @ x.T @ w.T
"""
OF_TORCH = re.compile(
    r"^(RuntimeError: |window Label: )?mat1 and mat2 shapes cannot be multiplied|^RuntimeError$"
)
NAMES = {"prog.py", "loss", "target", "prediction", "cpu", "Gradscribe", "OK", "Aa"}


def run(arguments, language="en"):
    env = {**os.environ, "GRADSCRIBE_LANGUAGE": language}
    done = subprocess.run(
        [sys.executable, "-m", *arguments], capture_output=True, text=True, timeout=200, env=env
    )
    assert done.returncode in (0, 1), done.stderr
    return done


@pytest.fixture(scope="module")
def tape(tmp_path_factory):
    """The file of a recorded run that ends in an error, with a finding."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "prog.py").write_text(PROGRAM, encoding="utf-8")
    run(["gradscribe", "record", str(folder / "prog.py"), "--tape", str(folder / "prog.tape")])
    return folder / "prog.tape"


@pytest.fixture(scope="module")
def pseudo(tape, tmp_path_factory):
    """Rows [part, widget, kind, text, is cut] of a window of 1440 x 900 in the pseudo-locale."""
    return shown("qps", tmp_path_factory.mktemp("home"), (1440, 900), tape)


def shown(language, folder, size, tape):
    words = [language, str(folder), *map(str, size), str(tape)]
    return json.loads(run(["tests.app.translated_window", *words], language).stdout)


def unmarked(rows):
    """Return the texts with words that did not come from the catalogue."""
    return [
        (part, widget, kind, text)
        for part, widget, kind, text, _ in rows
        if "⟦" not in text and re.search(r"[A-Za-z]{2,}", text)
        if text not in NAMES and not OF_TORCH.search(text)
    ]


def cut(rows):
    """Return the texts that have too little space."""
    return [(part, widget, text) for part, widget, _, text, is_cut in rows if is_cut and text]


def test_no_text_of_the_window_is_without_a_translation(pseudo):
    assert len({row[0] for row in pseudo}) > 15
    assert len(pseudo) > 3000
    assert unmarked(pseudo) == []


def test_texts_that_are_longer_by_two_fifths_are_not_cut_off(pseudo):
    assert cut(pseudo) == []


def test_a_text_that_was_left_out_or_is_cut_off_is_found(pseudo):
    rows = [*pseudo, ["window", "QPushButton", "text", "Save it", True]]
    assert unmarked(rows) == [("window", "QPushButton", "text", "Save it")]
    assert cut(rows)[-1:] == [("window", "QPushButton", "Save it")]


def test_the_window_in_chinese_fits_into_the_smallest_one(tape, tmp_path):
    rows = shown("zh_CN", tmp_path, (1000, 640), tape)
    assert {"程序", "训练", "播放", "检查器"} <= {row[3] for row in rows}
    assert cut(rows) == []


def test_a_finding_and_a_hint_of_a_recorded_run_are_in_the_language_of_the_window(tape, tmp_path):
    texts = [row[3] for row in shown("zh_CN", tmp_path, (1440, 900), tape)]
    assert any("内部大小 2 和 3 必须相等" in text for text in texts)
    assert any(
        "列与矩阵相遇" in text or "列与行相遇" in text or "梯度从不清零" in text for text in texts
    )
