"""The pytest plugin and its assertions, in sessions of pytest of their own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import gradscribe as gs
from gradscribe import recording
from gradscribe.testing import (
    assert_gradients,
    assert_no_findings,
    assert_same_graph,
    assert_tensor,
    golden_files,
)

pytestmark = pytest.mark.e2e

HEAD = """
import torch
from gradscribe.testing import assert_gradients, assert_no_findings, assert_same_graph
"""


@pytest.fixture
def session(tmp_path):
    """Return a function that runs a test file in a session of its own, the plugin alone loaded."""

    def run(text: str, *options: str, name: str = "test_it.py") -> subprocess.CompletedProcess[str]:
        (tmp_path / name).write_text(HEAD + text)
        # By name: an environment may have the plugin's entry point or not.
        environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        command = [sys.executable, "-m", "pytest", "-p", "gradscribe.pytest_plugin", "-q", name]
        return subprocess.run(
            [*command, "--rootdir", str(tmp_path), *options],
            capture_output=True,
            text=True,
            timeout=110,
            cwd=tmp_path,
            env=environment,
        )

    return run


def recorded(power=2.0):
    with gs.record() as tape:
        w = torch.tensor([1.0, 2.0, -3.0], requires_grad=True)
        (w**power).sum().backward()
    return tape


def test_the_fixture_records_the_test_until_it_is_asked(session):
    done = session(
        """
def test_square(tape):
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    h = w.square()
    h.sum().backward()
    assert_gradients(tape, {"w": [2.0, 4.0], "h": [1.0, 1.0]})
    assert_no_findings(tape)
    assert tape["h"].line == 7 and [op.name for op in tape.ops] == ["square", "sum"]
    torch.ones(2).exp()
    assert len(tape.ops) == 2

def test_it_never_asks(tape):
    torch.ones(2).exp()

def test_torch_is_as_it_was():
    assert not torch.overrides._get_current_function_mode_stack()
"""
    )
    assert "3 passed" in done.stdout, done.stdout


def test_a_session_without_tapes_imports_nothing_for_the_plugin(session, tmp_path):
    done = session(
        """
import sys
def test_light():
    assert not {"gradscribe.run_tape", "gradscribe.engine", "PySide6"} & set(sys.modules)
""".replace(
            "import sys",
            "import sys; [sys.modules.pop(n) for n in list(sys.modules)"
            " if n.startswith('gradscribe.') and n != 'gradscribe.pytest_plugin']",
        )
    )
    assert "1 passed" in done.stdout, done.stdout
    code = (
        "import sys, gradscribe.pytest_plugin;"
        "print({'torch', 'PySide6', 'numpy', 'msgspec', 'gradscribe.run_tape'} & set(sys.modules))"
    )
    alone = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert alone.stdout.strip() == "set()"


def test_the_tape_of_a_failed_test_is_a_file_whose_path_is_printed(session, tmp_path):
    done = session(
        """
def test_wrong(tape):
    w = torch.tensor(3.0, requires_grad=True)
    (w * w).backward()
    assert_gradients(tape, {"w": 5.0})

def test_raises(tape):
    h = torch.ones(2, 3)
    h @ h
""",
        "--junitxml=out/report.xml",
    )
    assert "2 failed" in done.stdout, done.stdout
    assert "gradient of w (line 6): it is 6.0, expected 5.0" in done.stdout
    saved = [
        Path(path)
        for path in re.findall(
            r"The run is in (\S+): gradscribe opens it$", done.stdout, re.MULTILINE
        )
    ]
    assert [path.parent for path in saved] == [tmp_path / "out" / "tapes"] * 2
    assert gs.load(saved[0])["w"].grad.tolist() == 6.0
    again = gs.load(saved[1])
    assert again.error.type == "RuntimeError"
    assert again.error.place.line == 12
    assert "h" in again
    assert "tape saved" in (tmp_path / "out" / "report.xml").read_text()


def test_without_a_report_the_tape_goes_into_the_cache_or_where_the_option_says(session, tmp_path):
    text = "def test_wrong(tape):\n    torch.ones(2).exp()\n    assert 0\n"
    session(text)
    assert len(list((tmp_path / ".pytest_cache" / "d" / "gradscribe").glob("*.tape"))) == 1
    session(text, "--tapes", "mine")
    assert len(list((tmp_path / "mine").glob("*.tape"))) == 1
    (tmp_path / "a file").touch()
    done = session(text, "--tapes", "a file")
    assert "The run could not be saved" in done.stdout
    assert "1 failed" in done.stdout


NET = """
from torch import nn
def test_graph(tape):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.{kind}(), nn.Linear(4, 1))
    net({x}).sum().backward()
    assert_same_graph(tape, "golden/net.tape")
"""


def test_a_golden_graph_is_written_on_request_and_then_compared(session, tmp_path):
    golden = tmp_path / "golden" / "net.tape"
    relu = NET.format(kind="ReLU", x="torch.randn(2, 3)")
    missing = session(relu)
    assert "net.tape is not there: pytest --update-tapes writes it" in missing.stdout
    written = session(relu, "--update-tapes")
    assert f"Wrote {golden}" in written.stdout
    assert "1 passed" in written.stdout
    first = golden.stat().st_mtime_ns
    # Other numbers, other lines, other names: the same graph, whose file is not touched.
    same = "\n\n" + relu.replace("seed(0)", "seed(7)").replace("net", "model")
    same = same.replace("golden/model", "golden/net")
    assert "1 passed" in session(same).stdout
    assert "Wrote" not in session(same, "--update-tapes").stdout
    assert golden.stat().st_mtime_ns == first
    other = session(NET.format(kind="GELU", x="torch.randn(2, 3)")).stdout
    assert "The graph is not that of net.tape. The first difference is action 2:" in other
    assert "golden line 9: relu(tensor 2 × 4, inplace=False) → tensor 2 × 4 in net.1" in other
    assert "now    line 9: gelu(tensor 2 × 4" in other
    assert "net(torch.randn(2, 3)).sum().backward()" in other
    shape = session(NET.format(kind="ReLU", x="torch.randn(5, 3)")).stdout
    assert "different: inputs, results" in shape


def test_a_spoilt_golden_file_is_refused_in_a_line(tmp_path):
    (tmp_path / "net.tape").write_bytes(b"no tape")
    with pytest.raises(ValueError, match=r"net\.tape"):
        assert_same_graph(recorded(), tmp_path / "net.tape")


@pytest.fixture
def golden(tmp_path):
    def save(tape):
        tape.save(tmp_path / "golden.tape")
        return tmp_path / "golden.tape"

    yield save
    golden_files.begin(Path())


def graph(call):
    w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    x = torch.ones(2, 2)

    def run():
        call(w, x)

    recording = gs.record(run)
    recording()
    return recording.tape


BASE = {"softmax": lambda w, x: (w @ x).softmax(dim=0).sum().backward()}


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (lambda w, x: (w @ x).softmax(dim=1).sum().backward(), "literals"),
        (lambda w, x: (x @ w).softmax(dim=0).sum().backward(), "inputs"),
        (lambda w, x: (w @ x).detach().softmax(dim=0).sum(), "detach"),
        (lambda w, x: (w @ x).softmax(dim=0).sum(), "the program has ended"),
        (lambda w, x: (w @ x).softmax(dim=0).mean().backward(), "mean"),
        (lambda w, x: (w.double() @ x.double()).softmax(dim=0).sum().backward(), "double"),
    ],
)
def test_each_kind_of_difference_is_named(golden, other, words):
    base = lambda w, x: (w @ x).softmax(dim=0).sum().backward()  # noqa: E731
    path = golden(graph(base))
    assert_same_graph(graph(base), path)
    with pytest.raises(AssertionError, match=re.escape(words)):
        assert_same_graph(graph(other), path)


def test_gradients_are_compared_with_the_tolerances_of_torch():
    tape = recorded()
    w = torch.tensor([1.0, 2.0, -3.0], requires_grad=True)
    (w**2).sum().backward()
    assert_gradients(tape, {"w": w.grad})
    assert_gradients(tape, {"w": w.grad.numpy() * (1 + 1e-6)})
    with pytest.raises(AssertionError):
        assert_gradients(tape, {"w": w.grad * 1.001})
    assert_gradients(tape, {"w": w.grad * 1.001}, rtol=0.01)
    with pytest.raises(AssertionError):
        assert_gradients(tape, {"w": w.grad * (1 + 1e-6)}, atol=0.0)


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ({"w": [2.0, 4.0, 6.0]}, r"1 of 3 elements differs .*first at \[2\]: it is -6.0, expected"),
        ({"w": [2.0, 4.0]}, r"its shape is \(3,\), expected \(2,\)"),
        ({"w": None}, r"expected none, but it is \[2.0, 4.0, -6.0\]"),
        ({"v": 1.0}, r"No tensor 'v' on the tape"),
        ({"w": [2.0, 4.0, float("nan")]}, r"expected nan"),
    ],
)
def test_a_wrong_gradient_says_how(expected, words):
    with pytest.raises(AssertionError, match=words):
        assert_gradients(recorded(), expected)


def test_nan_gradients_are_equal_and_all_troubles_are_listed():
    with gs.record() as tape:
        a = torch.tensor(-1.0, requires_grad=True)
        b = torch.tensor(2.0, requires_grad=True)
        (a.sqrt() + b).backward()
    assert_gradients(tape, {"a": float("nan"), "b": 1.0})
    with pytest.raises(AssertionError) as raised:
        assert_gradients(tape, {"a": 0.0, "b": 2.0})
    assert len(str(raised.value).splitlines()) == 2


def test_a_big_gradient_is_compared_or_refused_rather_than_passed(monkeypatch):
    with gs.record() as tape:
        w = torch.ones(2000, requires_grad=True)
        (w * w).sum().backward()
    assert_gradients(tape, {"w": 2 * torch.ones(2000)})
    with pytest.raises(AssertionError, match="gradient of w"):
        assert_gradients(tape, {"w": torch.ones(2000)})
    monkeypatch.setattr(recording, "NUMBERS_BUDGET", 0)
    with gs.record() as tape:
        w = torch.ones(2000, requires_grad=True)
        w.sum().backward()
    with pytest.raises(ValueError, match="only statistics of w"):
        assert_gradients(tape, {"w": torch.ones(2000)})
    assert_tensor(tape["w"], mean=1.0, grad_norm=float(np.sqrt(2000)))


def test_findings_fail_unless_they_are_allowed():
    with gs.record() as tape:
        w = torch.ones(3, requires_grad=True)
        for _ in range(4):
            loss = (w * 2).sum()
            loss.backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
    ids = {finding.id for finding in tape.findings}
    assert ids
    with pytest.raises(AssertionError, match=re.escape(f"[{min(ids)}]")):
        assert_no_findings(tape)
    assert_no_findings(tape, allow=ids)
    with pytest.raises(ValueError, match=f"No finding is called .*{min(ids)!r}"):
        assert_no_findings(tape, allow=[min(ids)[:-1]])


def test_bits_are_compared_with_the_sign_of_zero():
    with gs.record() as tape:
        x = torch.tensor([0.0, -0.0, float("inf"), float("nan"), 0.1])
        _ = x * 1.0
    assert_tensor(tape["x"], value=[0.0, -0.0, float("inf"), float("nan"), 0.1])
    for wrong in ([0.0, 0.0], [-0.0, -0.0]):
        with pytest.raises(AssertionError, match="1 of 5"):
            assert_tensor(tape["x"], value=[*wrong, float("inf"), float("nan"), 0.1])


def test_no_tape_is_a_type_error():
    with pytest.raises(TypeError, match="A tape is needed, not Tensor"):
        assert_gradients(torch.ones(1), {})
