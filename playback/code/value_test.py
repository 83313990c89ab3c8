"""A test of a tensor as text to paste: it runs the program and asks for the numbers to the bit."""

import re

import numpy as np

from gradscribe.engine.protocol.tape import Snapshot, Value
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import tensor_code

STATISTICS = ("mean", "std", "min", "max", "norm", "nan", "inf")
"""Those of a tensor whose numbers are not on the tape."""
WIDTH = 78


def value_test(
    index: Index, value: int, source: str, *, seed: int = 0, device: str = "cpu", path: str = ""
) -> str:
    """Return a test file that runs the program and compares a tensor and its gradient.

    ``path`` is the program's file, next to which it finds its own modules.

    Raises:
        LookupError: nothing leads to this tensor, or it has no numbers; the message says why.
    """
    found = index.values[value]
    state = index.gradient(value, len(index.tape.events))
    sent = index.snapshot(state.returned if state.snapshot is None else state.snapshot)
    words = _expectation("value", index.snapshot(found.snapshot)) + _expectation("grad", sent)
    if not words:
        raise LookupError("The tape has no numbers of this tensor")
    lines = [f"        {word}," for word in (_expression(index, found), *words)]
    options = [f"seed={seed}"] if seed else []
    options += [f"device={device!r}"] if device != "cpu" else []
    options += [f"filename={path!r}"] if path else []
    head = ["import numpy as np", ""] if any("np.zeros" in word for word in words) else []
    name = re.sub(r"\W", "_", found.name, flags=re.ASCII).strip("_") or "tensor"
    return "\n".join(
        [
            *head,
            "from gradscribe.testing import assert_tensor, run_program",
            "",
            f"PROGRAM = {_literal(source)}",
            *("", ""),
            f"def test_{name}():",
            f"    tape = run_program({', '.join(['PROGRAM', *options])})",
            "    assert_tensor(",
            *lines,
            "    )",
            "",
        ]
    )


def _expression(index: Index, value: Value) -> str:
    """Return the expression that leads from a tape to the tensor."""
    if value.name:
        same = [other.id for other in index.tape.values if other.name == value.name]
        at = same.index(value.id)
        return f"tape[{value.name!r}]" if at == len(same) - 1 else f"tape.all({value.name!r})[{at}]"
    if value.op is not None and value.id in index.op(value.op).outputs:
        return f"tape.ops[{value.op}].outputs[{index.op(value.op).outputs.index(value.id)}]"
    for user in index.users.get(value.id, ()):
        if value.id in index.op(user).inputs:
            return f"tape.ops[{user}].inputs[{index.op(user).inputs.index(value.id)}]"
    raise LookupError("This tensor has no name, and no op has made or taken it")


def _expectation(side: str, snapshot: Snapshot | None) -> list[str]:
    if snapshot is None:
        return []
    array = snapshot.array()
    if array is None:
        prefix = "grad_" if side == "grad" else ""
        numbers = [(word, getattr(snapshot, word)) for word in STATISTICS]
        return [f"{prefix}{word}={_exact(number)}" for word, number in numbers]
    if not array.size:
        return [f"{side}=np.zeros({array.shape})"]
    text = tensor_code.literal(array, snapshot.dtype)
    if len(text) > WIDTH and array.ndim > 1:
        rows = [tensor_code.literal(row, snapshot.dtype) for row in array]
        text = "".join(["[\n", *(f"            {row},\n" for row in rows), "        ]"])
    return [f"{side}={text}"]


def _exact(number: float) -> str:
    return tensor_code.literal(np.asarray(number), "float64")


def _literal(text: str) -> str:
    """Return a text as Python source: as it is between quotes where that says the same."""
    plain = text.isascii() or all(c == "\n" or c.isprintable() for c in text)
    controls = any(ord(c) < 32 and c not in "\n\t" for c in text)
    if plain and not controls and not text.endswith(("'", "\\")):
        mark = "r" if "\\" in text else ""
        if "'''" not in text:
            return f"{mark}'''{text}'''"
    lines = "".join(f"    {line!r}\n" for line in text.splitlines(keepends=True))
    return f"(\n{lines})" if lines else "''"
