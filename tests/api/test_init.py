"""`import gradscribe` is light, and has the names that it lists."""

import subprocess
import sys
import time

import pytest

import gradscribe


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


def best(code: str) -> float:
    """The shortest of some starts of Python with ``code``, in seconds."""

    def once() -> float:
        begun = time.perf_counter()
        run(code)
        return time.perf_counter() - begun

    return min(once() for _ in range(5))


def test_import_loads_neither_torch_nor_qt():
    code = "import sys, gradscribe as gs; print(*sorted(m.partition('.')[0] for m in sys.modules))"
    loaded = set(run(code).split())
    assert not loaded & {"torch", "PySide6", "numpy", "networkx", "msgspec", "matplotlib"}


def test_names_are_listed_before_they_are_imported():
    code = "import sys, gradscribe as gs; print(*dir(gs)); print('torch' in sys.modules)"
    names, has_torch = run(code).splitlines()
    assert {"record", "RunTape", "RecordingError"} <= set(names.split())
    assert has_torch == "False"


def test_import_costs_no_more_than_python_itself():
    # 100 ms on a machine that starts Python in 20 ms; a ratio, as machines differ.
    assert best("import gradscribe") < 2 * best("pass") + 0.05


@pytest.mark.parametrize("name", gradscribe.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert getattr(gradscribe, name).__doc__


def test_a_name_that_is_not_there_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'rekord'"):
        gradscribe.rekord  # noqa: B018
