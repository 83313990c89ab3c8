"""Tests of tensors as text: pytest runs them, in a process of its own, and they pass."""

import subprocess
import sys

import pytest

from gradscribe.engine.run import run
from gradscribe.playback.code.value_test import value_test
from gradscribe.playback.tape.index import Index

pytestmark = pytest.mark.e2e

PROGRAM = r'''
text = """quotes, a backslash \\ and \x41: ü"""
odd = torch.tensor([0.0, -0.0, float("inf"), -float("inf"), float("nan"), 0.1, 1e-45, 16777217.0])
w = torch.tensor([[1.0, -0.0], [float("inf"), 3.3333333]], requires_grad=True)
h = torch.nan_to_num(w, posinf=2.0) * odd[:2]
z = torch.tensor([1 + 2j, complex(float("nan"), -0.0)]) * 1
half = torch.tensor([0.1, -0.0], dtype=torch.bfloat16) * 1
count = torch.tensor([2**62, -1]) + 0
mask = odd > 0
tall = torch.empty(0, 3) * 2
wide = torch.randn(60, 50, requires_grad=True)
loss = h.sum() + (wide.double() ** 2).mean()
for _ in range(3):
    s = odd * 2
loss.backward()
'''


def outcome(folder, texts):
    for number, text in enumerate(texts):
        (folder / f"test_{number}.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=115, cwd=folder)
    return done.stdout


@pytest.fixture(scope="module")
def index():
    return Index(run.record(PROGRAM, seed=3))


def test_tests_of_tensors_of_all_kinds_pass(index, tmp_path):
    """All in a file, so that the program runs once for all."""
    values = [v.id for v in index.tape.values if v.snapshot is not None]
    assert len(values) > 20
    texts = [value_test(index, value, PROGRAM, seed=3) for value in values]
    whole = [texts[0].replace("run_program(PROGRAM, seed=3)", "RUN")]
    whole += [text[text.index("\ndef test_") :] for text in texts[1:]]
    joined = "\n".join(whole).replace("run_program(PROGRAM, seed=3)", "RUN")
    head, _, tests = joined.partition("\ndef test_")
    numbered = tests.split("\ndef test_")
    parts = [f"\ndef test_n{at}_{text}" for at, text in enumerate(numbered)]
    text = f"import numpy as np\n{head}\nRUN = run_program(PROGRAM, seed=3)\n{''.join(parts)}"
    assert f"{len(values)} passed" in outcome(tmp_path, [text])


def named(index, name):
    return next(v.id for v in reversed(index.tape.values) if v.name == name)


def test_a_test_says_the_numbers_to_the_bit(index):
    text = value_test(index, named(index, "odd"), PROGRAM)
    assert "0.0, -0.0, float('inf'), float('-inf'), float('nan'), 0.1, 1e-45, 16777216.0" in text
    assert "tape['odd']" in text
    text = value_test(index, next(v.id for v in index.tape.values if v.name == "s"), PROGRAM)
    assert "tape.all('s')[0]" in text


def test_a_test_fails_where_a_bit_differs(index, tmp_path):
    text = value_test(index, named(index, "h"), PROGRAM, seed=3)
    assert "-0.0" in text
    wrong = text.replace("-0.0", "0.0", text.count("-0.0"))
    wrong = text[: text.index("def test_")] + wrong[wrong.index("def test_") :]
    other = value_test(index, named(index, "wide"), PROGRAM, seed=3)
    assert "norm=" in other
    found = outcome(tmp_path, [wrong, other.replace("seed=3", "seed=4")])
    assert "2 failed" in found, found


@pytest.mark.parametrize("text", ["x = '''", "a\\", "a'", "\0\r", "", "ü\n", '"""', "\\'''\n"])
def test_every_program_text_is_quoted_as_it_is(text):
    from gradscribe.playback.code.value_test import _literal

    assert eval(_literal(text)) == text


def test_a_tensor_without_numbers_is_refused():
    index = Index(run.record("x = torch.ones(2, device='meta') * 2"))
    with pytest.raises(LookupError, match="no numbers"):
        value_test(index, index.tape.values[-1].id, "")
