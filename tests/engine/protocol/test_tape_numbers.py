"""A file has all numbers of big tensors, and of spoilt ones what is whole."""

import msgspec
import numpy as np
import pytest
import torch

from gradscribe.engine.inspect.peek import peek
from gradscribe.engine.protocol import tape_file
from gradscribe.engine.protocol.check_replies import MAX_PEEKED
from gradscribe.engine.protocol.messages import Peek
from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.engine.protocol.tape_file import RunFile, RunProgram
from gradscribe.engine.run import run
from tests.engine.protocol.test_tape_file import sections, with_section

PROGRAM = """torch.manual_seed(3)
w = torch.randn(40, 60, requires_grad=True)
x = torch.randn(60, 50, dtype=torch.float32)
y = (w @ x).relu()
mask = y > 1
half = y.detach().to(torch.bfloat16)
y.square().mean().backward()
"""


def plain():
    names = {}
    torch.manual_seed(3)
    exec(f"import torch\n{PROGRAM}", names)
    return names


@pytest.fixture(scope="module")
def recorded():
    tape = run.record(PROGRAM)
    found, left = tape_file.summarized(tape)
    run_id = run.last_run.request.run_id
    big = {at: peek(Peek(run_id, at, MAX_PEEKED)).full for at in found}
    assert left == 0
    return RunFile(RunProgram(PROGRAM, "big.py"), tape, big=big)


@pytest.fixture(scope="module")
def data(recorded):
    return b"".join(tape_file.encode(recorded))


def named(file, name):
    value = next(v for v in reversed(file.tape.values) if v.name == name)
    return file.big[value.snapshot].array()


def test_every_number_comes_back_as_plain_torch_has_it(data):
    file, names = tape_file.decode(data), plain()
    assert file.trouble == ""
    for name in ("w", "x", "y", "mask"):
        assert np.array_equal(named(file, name), names[name].detach().numpy())
    assert np.array_equal(named(file, "half"), names["half"].float().numpy())
    w = next(v for v in file.tape.leaves if v.name == "w")
    assert np.array_equal(file.big[w.grad].array(), names["w"].grad.numpy())


def test_statistics_of_a_completed_snapshot_are_those_of_the_tape(data):
    file = tape_file.decode(data)
    for at, full in file.big.items():
        assert full.mean == file.tape.snapshots[at].mean
        assert full.thumb == file.tape.snapshots[at].thumb


def test_small_tensors_come_first_and_the_budget_holds(recorded):
    tape = recorded.tape
    sizes = {at: full.array().nbytes for at, full in recorded.big.items()}
    least = min(sizes.values())
    chosen, left = tape_file.summarized(tape, least)
    assert [sizes[at] for at in chosen] == [least]
    assert left == len(sizes) - 1
    assert tape_file.summarized(tape, 0) == ((), len(sizes))


def test_long_numbers_stand_in_several_sections(recorded, monkeypatch):
    monkeypatch.setattr(tape_file, "NUMBERS_CHUNK", 10_000)
    data = b"".join(tape_file.encode(recorded))
    assert len([name for name, _, _ in sections(data) if name == "numbers"]) > 2
    assert set(tape_file.decode(data).big) == set(recorded.big)


def test_spoilt_numbers_leave_the_tape_and_are_said(data):
    begin, end = next((b, e) for n, b, e in sections(data) if n == "numbers")
    spoilt = bytearray(data)
    spoilt[(begin + end) // 2] ^= 1
    file = tape_file.decode(bytes(spoilt))
    assert file.has_numbers
    assert file.big == {}
    assert file.trouble == "a part of it is spoilt"


@pytest.mark.parametrize(
    "change",
    [
        lambda full: msgspec.structs.replace(full, data=full.data[:-4]),
        lambda full: msgspec.structs.replace(full, shape=(7, *full.shape)),
        lambda full: msgspec.structs.replace(full, store="O"),
        lambda full: msgspec.structs.replace(full, data=None),
        lambda full: msgspec.structs.replace(full, dtype="int3"),
    ],
    ids=["short", "shape", "store", "none", "dtype"],
)
def test_numbers_that_lie_are_left_out(recorded, data, change):
    at, full = next(iter(recorded.big.items()))
    wrong = with_section(data, "numbers", msgspec.msgpack.encode({at: change(full)}))
    file = tape_file.decode(wrong)
    assert file.big == {}
    assert file.trouble == "numbers of big tensors are spoilt"
    assert file.has_numbers


@pytest.mark.parametrize("at", [-1, 10**6])
def test_numbers_of_a_tensor_that_is_not_there_are_left_out(data, at):
    raw = msgspec.msgpack.encode({at: Snapshot((2,), "float32", "<f4", bytes(8))})
    file = tape_file.decode(with_section(data, "numbers", raw))
    assert file.big == {}
    assert file.trouble == "numbers of big tensors are spoilt"


def test_numbers_of_a_small_tensor_do_not_replace_those_of_the_tape(recorded, data):
    at = next(i for i, s in enumerate(recorded.tape.snapshots) if s.data is not None)
    small = recorded.tape.snapshots[at]
    raw = msgspec.msgpack.encode({at: msgspec.structs.replace(small, data=bytes(len(small.data)))})
    file = tape_file.decode(with_section(data, "numbers", raw))
    assert at not in file.big
    assert file.tape.snapshots[at] == small
