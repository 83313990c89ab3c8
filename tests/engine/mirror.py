"""Run a program in plain torch and on the recorder, and compare whatever a user could compare."""

import ast
import contextlib
import io
import random
import re

import numpy as np
import torch

from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.protocol.tape import Snapshot, Tape
from gradscribe.engine.record.freeze import _named_tensors
from gradscribe.engine.run import run


def plain(source: str, seed: int = 0) -> tuple[dict[str, object], str, BaseException | None]:
    """Execute a program without any recorder; return its names, output and exception."""
    names = run.initial_names(Run(0, source))
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)
    out, error = io.StringIO(), None
    with contextlib.redirect_stdout(out), run._default_settings(seed):
        try:
            exec(compile(source, "<gradscribe>", "exec"), names)
        except Exception as exc:  # noqa: BLE001 - it is what the program raises that counts
            error = exc
    return names, out.getvalue(), error


def numbers(tape: Tape, snapshot: int | None) -> np.ndarray | None:
    """Return the numbers of a snapshot index."""
    return None if snapshot is None else tape.snapshots[snapshot].array()


def equal(t: torch.Tensor, snapshot: Snapshot) -> bool:
    """Tell whether a snapshot holds a tensor's numbers, bit for bit (any NaN equals any NaN)."""
    array = snapshot.array()
    assert array is not None, "a test tensor should be small enough to travel whole"
    widened = t.detach().to_dense() if t.is_sparse else t.detach()
    if widened.dtype in (torch.float16, torch.bfloat16):
        widened = widened.float()
    mine = widened.resolve_conj().numpy()
    return (
        mine.shape == array.shape
        and mine.dtype == array.dtype
        and np.array_equal(mine, array, equal_nan=array.dtype.kind in "fc")
    )


def sums(tape: Tape) -> int:
    """Check at every backward node that the arriving edges add up to what it received.

    Returns the number of gradients checked. The order of addition is the order of arrival, as in
    torch's engine, so equality is exact.
    """
    checked = 0
    for execution in tape.executions:
        for nr, snapshot in enumerate(execution.received):
            if snapshot is None or execution.hooked:
                continue
            shares = [
                numbers(tape, e.gradient)
                for e in tape.edges
                if e.target == execution.node
                and e.input_nr == nr
                and e.run == execution.run
                and e.gradient is not None
            ]
            assert shares, "a gradient arrived along no edge"
            total = shares[0]
            for share in shares[1:]:
                total = total + share
            received = numbers(tape, snapshot)
            np.testing.assert_array_equal(total, received)
            checked += 1
    return checked


def reach(names: dict[str, object], path: str) -> torch.Tensor:
    """Return the tensor that a path such as ``nets[0].1.weight`` leads to."""
    thing: object = names
    for key, attribute in re.findall(r"\[([^\]]+)\]|\.?([^.\[]+)", path):
        if key:
            thing = thing[ast.literal_eval(key)]  # type: ignore[index]
        elif thing is names:
            thing = names[attribute]
        else:
            thing = getattr(thing, attribute)
    assert isinstance(thing, torch.Tensor), path
    return thing


def mirror(source: str) -> Tape:
    """Assert that recording a program changes nothing, and return its tape.

    Compared: output, exception type and message, every named leaf's final value and ``.grad``.
    """
    names, output, error = plain(source)
    tape = run.record(source)
    assert tape.stdout == output
    assert not tape.truncated
    if error is None:
        assert tape.error is None, tape.error
        assert tape.status == "ok"
    else:
        assert tape.error is not None, f"the recorded run did not raise {error!r}"
        assert (tape.error.type, tape.error.message) == (type(error).__name__, str(error))
        assert tape.status == "error"
    leaves = {leaf.name: leaf for leaf in tape.leaves}
    values = {value.id: value for value in tape.values}
    expected = {name: t for name, t in _named_tensors(names) if t.is_leaf}
    inside = {name: reach(names, name) for name in leaves.keys() - expected.keys()}
    assert all(t.is_leaf and t.requires_grad for t in inside.values())
    # A loop's target is not the name of what a container has.
    again = {id((inside | expected)[name]) for name in leaves}
    expected = {name: t for name, t in expected.items() if name in leaves or id(t) not in again}
    expected |= inside
    assert leaves.keys() == expected.keys()
    for name, t in expected.items():
        snapshot = values[leaves[name].value].snapshot
        assert snapshot is not None
        assert equal(t, tape.snapshots[snapshot]), f"the value of {name} differs"
        assert (t.grad is None) == (leaves[name].grad is None), name
        if t.grad is not None:
            assert equal(t.grad, tape.snapshots[leaves[name].grad]), f"{name}.grad differs"
    sums(tape)
    return tape


def gradient(tape: Tape, name: str) -> np.ndarray | None:
    """Return the final gradient of a named leaf."""
    leaf = next(leaf for leaf in tape.leaves if leaf.name == name)
    return numbers(tape, leaf.grad)


def ops(tape: Tape) -> list[str]:
    """Return the names of the forward ops, in order."""
    return [op.op for op in tape.ops if op.phase == "forward"]
