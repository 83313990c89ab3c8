"""A device that fails for good is told in one line, and nothing of it is read any more.

What a real device does is tested in tests/cuda; here it is said to have failed.
"""

import pytest
import torch

from gradscribe.app.link import launch
from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol.training import requests
from gradscribe.engine.record.forward import bounds_checks, function_mode
from gradscribe.engine.run import async_devices, run
from tests.engine.driver import Engine

ASSERT = "CUDA error: device-side assert triggered"
ADVICE = f"{ASSERT}\nCUDA kernel errors might be asynchronously reported at some other API call."


def fail(*_args):
    raise RuntimeError(ADVICE)


@pytest.fixture
def broken(monkeypatch):
    """A machine whose device was used and has failed."""
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda index: index)
    monkeypatch.setattr(torch.cuda, "synchronize", fail)
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", fail)


def test_without_a_device_nothing_is_lost_and_nothing_is_asked_of_it(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    monkeypatch.setattr(torch.cuda, "synchronize", fail)
    monkeypatch.setattr(torch.cuda, "empty_cache", fail)
    monkeypatch.setattr(torch.cuda, "set_stream", fail)
    assert async_devices.device_failure() == ""
    async_devices.release_cached_memory()
    async_devices.reset_devices()
    bounds_checks.synchronize(torch.ones(2))


@pytest.mark.usefixtures("broken")
def test_a_device_that_failed_is_told_in_one_line():
    assert async_devices.device_failure() == ASSERT
    async_devices.release_cached_memory()
    async_devices.reset_devices()


def test_a_device_that_was_never_used_is_not_waited_for(broken, monkeypatch):
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _index: 0)
    assert async_devices.device_failure() == ""


def test_what_only_the_end_of_a_program_tells_is_its_error(monkeypatch):
    monkeypatch.setattr(async_devices, "device_failure", lambda: ASSERT)
    tape = run.record("x = torch.ones(2, requires_grad=True)\n(x * 2).sum().backward()")
    assert (tape.status, tape.error.message) == ("error", ASSERT)
    assert "out of bounds" in tape.error.hint
    assert tape.events[-1].kind == "error"
    assert tape.snapshots[tape.leaves[0].grad].array().tolist() == [2, 2], "the CPU is not lost"


def test_the_error_of_the_program_itself_stays(monkeypatch):
    monkeypatch.setattr(async_devices, "device_failure", lambda: ASSERT)
    error = run.record("x = 1\n1 / 0").error
    assert (error.type, error.place.line) == ("ZeroDivisionError", 2)


def test_numbers_on_a_lost_device_are_told_by_their_shape(monkeypatch):
    source = "x = torch.ones(2, 3, dtype=torch.float16)\ny = x * 2"
    monkeypatch.setattr(async_devices, "device_failure", lambda: ASSERT)
    with monkeypatch.context() as patch:
        patch.setattr("gradscribe.engine.record.recorder.is_in_host_memory", lambda _copy: False)
        tape = run.record(source)
    assert {(s.shape, s.dtype, s.data) for s in tape.snapshots} == {((2, 3), "float16", None)}


def test_ops_that_check_their_bounds_on_the_device_are_waited_for(monkeypatch):
    """Their failure is told by the call itself; others are not made to wait."""
    waited = []
    monkeypatch.setattr(function_mode, "synchronize", lambda t: waited.append(tuple(t.shape)))
    run.record(
        "x = torch.zeros(4, 3)\ny = x * 2\nz = x[torch.tensor([1])]\nw = x.gather(0, torch.ones(1, "
        "1).long())\nl = F.cross_entropy(x, torch.tensor([0, 1, 2, 0]))\nv = x @ x.T"
    )
    assert waited == [(4, 3)] * 3


def test_a_failure_of_the_device_is_the_error_of_its_line(monkeypatch):
    monkeypatch.setattr(function_mode, "synchronize", fail)
    tape = run.record("x = torch.zeros(4, 3)\ny = x * 2\nz = x[torch.tensor([1])]\nprint('after')")
    error = tape.error
    assert (error.message, error.place.line, tape.stdout) == (ASSERT, 3, "")
    assert tape.fault.op == "getitem"


OWN = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        if self.calls > 20:
            from gradscribe.engine.run import async_devices as asynchronous
            from gradscribe.engine.train import checkpoints
            def fail(*args):
                raise RuntimeError({ASSERT!r})
            asynchronous.lost = lambda: {ASSERT!r}
            checkpoints.take = checkpoints.put_back = fail
            fail()
        return self.layer(x)
"""


def end_of_run(source, **given):
    """Train a module of one's own until its engine ends; returns the cause that is told."""
    engine = Engine()
    try:
        engine.next()
        given = {"data": "moons", "model": {"name": "own", "source": source}, **given}
        engine.send(requests.Train(1, setup.parse(given), play=True))
        code = engine.wait_end()
        told = engine.errors.decode()
        assert code == 1, told
        return launch.exit_reason(code, False, told)
    finally:
        engine.close()


@pytest.mark.e2e
def test_a_run_whose_device_failed_ends_its_engine_with_a_word():
    assert end_of_run(OWN) == f"the device failed: {ASSERT}"
