"""`gradscribe.record` in one's own process: the same numbers, the same torch afterwards."""

import functools
import os
import random
import threading
import traceback
import warnings

import numpy as np
import pytest
import torch
from torch import nn

import gradscribe as gs


def train(seed: int = 0, steps: int = 4) -> list[torch.Tensor]:
    """Train a small network with dropout; return parameters, gradients and a draw afterwards."""
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Dropout(0.3), nn.Linear(7, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    for _ in range(steps):
        x = torch.randn(11, 5)
        optimizer.zero_grad()
        loss = (net(x) ** 2).mean()
        loss.backward()
        optimizer.step()
    kept = [p.detach().clone() for p in net.parameters()]
    return [*kept, *(p.grad.clone() for p in net.parameters()), torch.rand(3)]


def equal_to_the_bit(a, b):
    return all(s.dtype == t.dtype and torch.equal(s, t) for s, t in zip(a, b, strict=True))


def state():
    """State of torch and Python that a program sees and a recorder might change."""
    return (
        torch.autograd.graph._engine_run_backward,
        torch.autograd.Function.__dict__["apply"],
        torch.overrides.has_torch_function,
        torch.compile,
        nn.Module.__call__,
        nn.Module.__dict__["_call_impl"],
        torch.optim.Adam.__dict__["step"],
        torch.optim.Optimizer.__dict__["zero_grad"],
        torch.Tensor.__dict__.get("__setattr__"),
        torch.jit.script,
        threading.Thread._bootstrap_inner,
        warnings.warn,
        warnings.showwarning,
        traceback.walk_tb,
        traceback.walk_stack,
        len(torch.overrides._get_current_function_mode_stack()),
        torch.is_grad_enabled(),
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.get_num_threads(),
        # The first import of sympy, which torch needs for meta tensors, adds its own.
        tuple(entry for entry in warnings.filters if "sympy" not in entry[2].__module__),
    )


def generators():
    return (
        torch.get_rng_state().tolist(),
        random.getstate(),
        [str(part) for part in np.random.get_state()],
    )


def test_a_block_computes_the_same_to_the_bit():
    plain = train()
    after = generators()
    with gs.record() as tape:
        recorded = train()
    assert equal_to_the_bit(plain, recorded)
    assert generators()[0] == after[0]
    assert len(tape.data.steps) == 4


def test_a_call_computes_the_same_to_the_bit():
    seen = []
    tape = gs.record(lambda seed: seen.extend(train(seed)), 3)
    assert equal_to_the_bit(train(3), seen)
    assert tape.ops


def test_a_decorated_function_returns_the_same():
    recorded = gs.record(train)
    assert equal_to_the_bit(train(1), recorded(1))
    assert recorded.__name__ == "train"
    assert recorded.tape.ops


def test_recording_draws_no_random_number():
    before = generators()
    with gs.record() as tape:
        x = torch.ones(2000, requires_grad=True)
        (x * x).sum().backward()
    assert generators() == before
    assert tape["x"].summary.mean == 1.0


def test_torch_is_as_it_was():
    before = state()
    with gs.record():
        train()
    assert state() == before


def test_torch_is_as_it_was_after_an_exception():
    before, draws, k = state(), generators(), torch.ones(2, 3)
    with pytest.raises(RuntimeError, match="cannot be multiplied"), gs.record() as tape:
        k @ k
    assert state() == before
    assert generators() == draws
    assert tape.error.type == "RuntimeError"
    assert tape.error.place.line


def test_the_exception_is_the_same_object():
    sent = KeyError("mine")
    with pytest.raises(KeyError) as caught, gs.record():
        raise sent
    assert caught.value is sent


def test_the_tape_of_a_call_that_raised_is_with_the_function():
    @gs.record
    def fails(x):
        y = x * 2
        raise ValueError(f"no {y.shape}")

    with pytest.raises(ValueError, match="no"):
        fails(torch.ones(2))
    assert fails.tape.error.type == "ValueError"
    assert [op.name for op in fails.tape.ops] == ["mul"]


def test_a_recording_inside_a_recording_is_refused_in_words():
    with gs.record() as tape:
        a = torch.tensor(2.0, requires_grad=True)
        with pytest.raises(gs.RecordingError, match=r"already, since .*test_rec"), gs.record():
            pass
        with pytest.raises(gs.RecordingError, match="do not nest"):
            gs.record(torch.exp, a)
        (a * a).backward()
    assert tape["a"].grad == 4.0


def test_a_decorated_function_inside_a_recording_is_a_part_of_it():
    @gs.record
    def power(x, n):
        return x if n == 1 else x * power(x, n - 1)

    x = torch.tensor(3.0, requires_grad=True)
    power(x, 4).backward()
    assert x.grad == 4 * 27
    assert [op.name for op in power.tape.ops] == ["mul"] * 3
    with gs.record() as tape:
        power(x, 3)
    assert len(tape.ops) == 2


def test_a_recording_is_used_once():
    recording = gs.record()
    with recording:
        pass
    with pytest.raises(gs.RecordingError, match="used before"), recording:
        pass
    with gs.record() as tape:
        torch.ones(2) + 1
    assert len(tape.ops) == 1


def test_a_tape_is_read_when_the_recording_has_ended():
    with gs.record() as tape, pytest.raises(gs.RecordingError, match="has not ended"):
        _ = tape.ops
    assert tape.ops == ()


def test_a_function_is_called_before_its_tape_is_read():
    with pytest.raises(gs.RecordingError, match="train was not called"):
        _ = gs.record(train).tape


def test_another_thread_is_recorded_where_it_records():
    found = []

    def work():
        with gs.record() as tape:
            a = torch.tensor(5.0, requires_grad=True)
            (a * 2).backward()
        found.append((tape["a"].grad.item(), a.grad.item(), len(tape.ops)))

    before = state()
    thread = threading.Thread(target=work)
    thread.start()
    torch.ones(3) * 3
    thread.join()
    assert found == [(2.0, 2.0, 1)]
    assert state() == before


def test_a_second_thread_cannot_record_meanwhile_and_goes_on():
    refused = []

    def work():
        try:
            with gs.record():
                pass
        except gs.RecordingError as error:
            refused.append(str(error))

    with gs.record():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(refused) == 1
    assert "recordings do not nest" in refused[0]


def test_threads_that_run_already_are_left_alone():
    go, done, result = threading.Event(), threading.Event(), []

    def work():
        go.wait(30)
        result.append(torch.full((2,), 3.0).square().sum().item())
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    with gs.record() as tape:
        go.set()
        assert done.wait(30)
    thread.join()
    assert result == [18.0]
    assert tape.ops == ()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_default_dtype_and_device_stay(dtype):
    torch.set_default_dtype(dtype)
    torch.set_default_device("meta")
    try:
        before = state()
        with gs.record() as tape:
            a = torch.ones(3, requires_grad=True)
            b = torch.ones(2, device="cpu", requires_grad=True)
            (a * 2).sum()
            (b * 2).sum().backward()
        assert state() == before
        assert a.dtype == b.grad.dtype == dtype
        assert tape["b"].grad.tolist() == [2.0, 2.0]
        assert tape["a"].device == "meta"
    finally:
        torch.set_default_device(None)
        torch.set_default_dtype(torch.float32)


def test_no_grad_around_it_stays():
    with torch.no_grad():
        with gs.record() as tape:
            x = torch.ones(2, requires_grad=True) * 2
        assert not torch.is_grad_enabled()
    assert not x.requires_grad
    assert tape.nodes == ()


def test_inference_mode_around_it_stays():
    with torch.inference_mode():
        with gs.record() as tape:
            x = torch.ones(2) * 2
        assert x.is_inference()
        assert torch.is_inference_mode_enabled()
    assert tape["x"].value.tolist() == [2.0, 2.0]


def test_a_device_mode_around_it_stays():
    with torch.device("meta"), gs.record() as tape:
        a = torch.ones(3)
    assert tape["a"].device == a.device.type == "meta"


def test_only_tensors_of_the_recording_are_on_the_tape():
    bystander = torch.ones(3, requires_grad=True)
    net, other = nn.Linear(2, 2), nn.Linear(2, 2)
    with gs.record() as tape:
        net(torch.ones(2))
    assert "bystander" not in tape
    assert {leaf.name for leaf in tape.leaves if leaf.requires_grad} == {"net.weight", "net.bias"}
    assert bystander.grad is None
    assert other.weight.grad is None


def test_methods_partials_and_modules():
    class Scale:
        def __init__(self):
            self.w = torch.tensor(3.0, requires_grad=True)

        @gs.record
        def apply(self, x):
            return self.w * x

    scale = Scale()
    assert scale.apply(torch.tensor(2.0)) == 6.0
    assert [op.name for op in Scale.apply.tape.ops] == ["mul"]
    assert gs.record(functools.partial(torch.mul, torch.ones(2)), 3.0).ops[0].name == "mul"
    tape = gs.record(nn.Linear(3, 1), torch.ones(2, 3))
    assert tape.ops[0].outputs[0].shape == (2, 1)


def test_lines_are_those_of_the_function():
    def double(x):
        y = x * 2
        return y + 0

    tape = gs.record(double, torch.ones(2))
    assert tape["y"].line == double.__code__.co_firstlineno + 1
    assert tape["y"].value.tolist() == [2.0, 2.0]
    assert tape.filename == __file__


def test_arguments_of_any_name_arrive():
    def f(function, *, args=1):
        return function * args

    tape = gs.record(f, torch.ones(1), args=4)
    assert tape.ops[0].outputs[0].value.tolist() == [4.0]


@pytest.mark.parametrize("wrong", [3, "text"])
def test_what_cannot_be_called_is_refused(wrong):
    with pytest.raises(TypeError, match="needs a function"):
        gs.record(wrong)
    with pytest.raises(TypeError, match="needs a function"):
        gs.record(wrong, 1)


def test_coroutines_and_generators_are_refused_with_the_way_out():
    async def later():
        pass

    def many():
        yield 1

    for function in (later, many):
        with pytest.raises(TypeError, match=r"with gs\.record\(\)"):
            gs.record(function)


def test_a_program_without_text_is_recorded_without_lines():
    names = {"gs": gs, "torch": torch}
    a = "a = torch.ones(2, requires_grad=True)"
    text = f"with gs.record() as t:\n    {a}\n    (a * 3).sum().backward()"
    exec(compile(text, "<nowhere>", "exec"), names)
    assert names["t"]["a"].grad.tolist() == [3.0, 3.0]
    assert names["t"]["a"].line == 0
    assert names["t"].source == ""


def test_a_function_that_was_compiled_before_computes_the_same():
    compiled = torch.compile(lambda x: (x.sin() * 2).sum(), backend="eager")
    x = torch.linspace(0, 1, 5)
    plain = compiled(x)
    with gs.record() as tape:
        recorded = compiled(x)
    assert torch.equal(plain, recorded)
    assert tape.ops
    assert torch.equal(compiled(x), plain)


def test_a_recording_inside_a_compiled_function_leaves_its_result():
    tapes = []

    @functools.partial(torch.compile, backend="eager")
    def f(x):
        y = x * 2
        with gs.record() as tape:
            z = y + 1
        tapes.append(tape)
        return z * z

    before = state()
    assert f(torch.ones(2)).tolist() == [9.0, 9.0]
    assert state() == before
    assert [op.name for op in tapes[0].ops] == ["add"]
    assert tapes[0]["z"].value.tolist() == [3.0, 3.0]


def test_a_call_recorded_inside_a_compiled_function_leaves_its_result():
    @gs.record
    def half(x):
        return x / 2

    tapes = []

    @functools.partial(torch.compile, backend="eager")
    def f(x):
        tapes.append(gs.record(torch.exp, x))
        return half(x * 2) + 1

    before = state()
    for _ in range(2):
        assert f(torch.ones(2)).tolist() == [2.0, 2.0]
    assert state() == before
    assert [op.name for op in half.tape.ops] == ["div"]
    assert [[op.name for op in tape.ops] for tape in tapes] == [["exp"], ["exp"]]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork there")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("workers", [0, 2])
def test_forked_workers_of_a_loader_give_the_same_data_and_tape(workers):
    x, y = torch.arange(12.0).reshape(6, 2), torch.arange(6.0).reshape(6, 1)
    data = torch.utils.data.TensorDataset(x, y)
    method = "fork" if workers else None
    w = torch.tensor([[1.0], [2.0]], requires_grad=True)
    with gs.record() as tape:
        loader = torch.utils.data.DataLoader(
            data, 3, num_workers=workers, multiprocessing_context=method
        )
        for given, wanted in loader:
            loss = (given @ w - wanted).square().sum()
            loss.backward()
    plain = w.detach().clone().requires_grad_()
    for at in (slice(0, 3), slice(3, 6)):
        (x[at] @ plain - y[at]).square().sum().backward()
    assert torch.equal(w.grad, plain.grad)
    assert tape["w"].grad.tolist() == plain.grad.tolist()
    assert [op.name for op in tape.ops].count("matmul") == 2
    assert tape.error is None
