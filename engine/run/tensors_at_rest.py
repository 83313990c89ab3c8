"""A tape of tensors as they are now, as at a breakpoint: nothing is run to get it."""

import torch

from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Event, Tape
from gradscribe.engine.record.freeze import freeze, leaves, tensors_in
from gradscribe.engine.record.recorder import Recorder
from gradscribe.engine.system import without_gc

MOST_TENSORS = 100_000
"""Most tensors that are taken; the tape says if there were more."""
MOST_CARDS = 8
"""Most tensors that the graph shows without ops; all are in the tables."""


def tape_of_tensors(names: dict[str, object], text: str, filename: str, line: int) -> Tape:
    """Return a tape of the tensors that variables lead to, with their gradients.

    Tensors of containers and the parameters of modules are among them. ``text`` and ``filename``
    are those of the program that stands at ``line``.

    Raises:
        ValueError: the variables lead to no tensor.
    """
    plain = {name: thing for name, thing in names.items() if not name.startswith("__")}
    recorder = Recorder(text, filename, MOST_TENSORS)
    # Not entered: nothing of torch is replaced, and a recording around this sees nothing of it.
    with torch._C.DisableTorchFunction(), torch.no_grad(), without_gc():
        found = tensors_in(plain)
        if not found:
            raise ValueError("No tensor among the variables")
        variables = {id(thing): name for name, thing in plain.items()}
        for tensor in sorted(found, key=lambda tensor: id(tensor) not in variables):
            row = recorder.tensors.value(tensor, None)
            row.name = row.name or variables.get(id(tensor), "")
        tape = freeze(recorder, leaves(recorder, plain))
    recorder.release()
    return _at_rest(tape, line)


def _at_rest(tape: Tape, line: int) -> Tape:
    """Return the tape with its gradients there from its begin, and a card for the first tensors."""
    there = [event for event in tape.events if event.kind == "grad"]
    cards = [event for event in tape.events if event.kind == "leaf"]
    events = [*there, *cards[:MOST_CARDS]]
    # A result whose op was not recorded is drawn as what it is now: a tensor.
    values = tuple(replace(value, node=None) for value in tape.values)
    return replace(
        tape,
        values=values,
        nodes=(),
        edges=(),
        events=tuple(Event(event.kind, event.ref, line) for event in events),
        torch=str(torch.__version__),
        device=min({value.device for value in values} - {"cpu", "meta"}, default="cpu"),
    )
