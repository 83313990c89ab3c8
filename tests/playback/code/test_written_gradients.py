"""Gradients that a program changes by itself: whatever it prints of them is what is shown."""

import json
import math

import numpy as np
import pytest

from gradscribe.playback.code import lines
from gradscribe.playback.explain.events import explain_event
from gradscribe.playback.tape import track
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.phases import phases

BEFORE = """
w = param([3.0, -4.0, 0.5])
b = param(2.0)
((w * w).sum() * b).backward()
"""
TELL = "\nprint([None if w.grad is None else w.grad.tolist(), b.grad.tolist()])\n"
WAYS = {
    "clipping by norm": "nn.utils.clip_grad_norm_([w, b], 1.0)",
    "clipping one by one": "nn.utils.clip_grad_norm_([w, b], 1.0, foreach=False)",
    "clipping values": "nn.utils.clip_grad_value_([w, b], 2.5)",
    "in place": "w.grad *= 0.5",
    "a method": "w.grad.clamp_(-1, 1)",
    "one element": "w.grad[0] = 7",
    "a view": "w.grad[0].mul_(3)",
    "a view of a view": "w.grad.view(-1)[1:].neg_()",
    "data": "w.grad.data.mul_(2)",
    "a detached alias": "g = w.grad.detach()\ng.add_(1)",
    "another tensor": "w.grad = torch.tensor([1.0, 2.0, 3.0])",
    "made from the old": "w.grad = w.grad / w.grad.norm()",
    "numpy": "w.grad.numpy()[0] = 5",
    "None": "w.grad = None",
    "zeros": "w.grad.zero_()",
    "zeros through data": "w.grad.data.zero_()",
    "zeros by an optimizer": "optim.SGD([w, b], lr=0.1).zero_grad(set_to_none=False)",
    "a copy": "w.grad.copy_(torch.ones(3))",
    "out": "torch.mul(w.grad, 2, out=w.grad)",
    "many at once": "torch._foreach_mul_([w.grad, b.grad], 0.1)",
    "noise": "w.grad.add_(torch.randn(3))",
    "another pass": "w.grad *= 0.5\n(w.sum() + b).backward()",
    "set, then another pass": "w.grad = torch.zeros(3)\n(w.sum() + b).backward()",
    "a scaler": "s = torch.amp.GradScaler('cpu', init_scale=4.0)\n"
    "o = optim.SGD([w, b], lr=0.1)\ns.scale(w.sum()).backward()\ns.unscale_(o)",
}


def shown(index, position):
    """The gradients of w and b at a position, as lists of numbers."""
    found = []
    for name in ("w", "b"):
        leaf = next(value.id for value in index.tape.values if value.name == name)
        known = index.gradient(leaf, position)
        snapshot = index.snapshot(known.snapshot)
        if snapshot is None:
            found.append(np.zeros(index.values[leaf].shape).tolist() if known.zeros else None)
        else:
            found.append(snapshot.array().tolist())
    return found


@pytest.mark.parametrize("way", WAYS)
def test_what_is_shown_is_what_the_program_prints(recorded, way):
    index = index_of(
        recorded(BEFORE + TELL + WAYS[way] + TELL + "w.grad = None\nb.grad.zero_()" + TELL)
    )
    assert index.tape.status == "ok", index.tape.error
    printed = [at for at, event in enumerate(index.tape.events) if event.kind == "print"]
    assert len(printed) == 3
    for at in printed:
        told = json.loads(index.tape.prints[index.tape.events[at].ref].replace("None", "null"))
        assert shown(index, at + 1) == told


@pytest.mark.parametrize("way", WAYS)
def test_stepping_along_the_tape_shows_the_same_as_jumping(recorded, way):
    tape = recorded(BEFORE + WAYS[way] + TELL)
    index = index_of(tape)
    rows = {row.name: row.gradient for row in track.value_rows(tape, len(tape.events))}
    known = index.gradient(next(v.id for v in tape.values if v.name == "w"), len(tape.events))
    assert (rows["w"] == track.NONE) == (known.snapshot is None and not known.zeros)
    marks = lines.line_marks(tape, len(tape.events))
    assert marks[2].gradient in (rows["w"], "")


def test_numbers_written_behind_torchs_back_show_at_the_next_step_and_at_the_end(recorded):
    source = BEFORE + "w.grad.numpy()[0] = 5\n"
    index = index_of(recorded(source))
    assert shown(index, len(index.tape.events))[0][0] == 5
    stepped = index_of(recorded(source + "optim.SGD([w], lr=1.0).step()"))
    at = next(n for n, event in enumerate(stepped.tape.events) if event.kind == "step")
    assert shown(stepped, at)[0][0] == 5


def test_what_a_hook_makes_of_a_gradient_is_shown_as_soon_as_it_is_added(recorded):
    source = """
def clip(p):
    p.grad.clamp_(-1, 1)

w = param([3.0, 4.0])
w.register_post_accumulate_grad_hook(clip)
(w * w).sum().backward()
"""
    index = index_of(recorded(source))
    w = next(value.id for value in index.tape.values if value.name == "w")
    added = next(n for n, event in enumerate(index.tape.events) if event.kind == "accumulate")
    for position in (added + 1, len(index.tape.events)):
        shown = index.snapshot(index.gradient(w, position).snapshot)
        assert shown.array().tolist() == [1, 1]


def test_a_gradient_that_was_only_read_is_no_change(recorded):
    tape = recorded(
        BEFORE + "w.grad.norm()\nx = w.grad * 2\nprint(w.grad)\nx += 1\noptim.SGD([w]).step()"
    )
    assert not tape.rewrites
    assert not any(event.kind == "grad" for event in tape.events)


def test_the_event_tells_each_gradient_before_and_after(recorded):
    index = index_of(recorded(BEFORE + "nn.utils.clip_grad_norm_([w, b], 1.0)"))
    norm = math.sqrt(12**2 + 16**2 + 2**2 + 25.25**2)
    at = next(n for n, event in enumerate(index.tape.events) if event.kind == "grad")
    told = {row.label: row.number for row in explain_event(index, at + 1).rows}
    assert told["b.grad"] == f"25.2500 → {25.25 / norm:.4f}"
    assert "→" in told["w.grad"]


def test_clipping_is_part_of_the_update_and_not_of_the_graph(recorded):
    index = index_of(
        recorded(BEFORE + "nn.utils.clip_grad_norm_([w, b], 1.0)\noptim.SGD([w]).step()")
    )
    end = max(stop for _, stop in index.passes.values())
    after = [phases(index)[at] for at in range(end + 1, len(index.tape.events))]
    assert after
    assert set(after) == {"Update"}
    assert all(index.kinds[e.ref] == "update" for e in index.tape.events[end:] if e.kind == "op")


def test_a_sparse_gradient_that_is_only_read_is_no_change(recorded):
    tape = recorded(
        "net = nn.Embedding(5, 2, sparse=True)\nopt = optim.SparseAdam(net.parameters())\n"
        "net(torch.tensor([1, 3])).sum().backward()\nprint(net.weight.grad)\nopt.step()"
    )
    assert tape.status == "ok"
    assert not tape.rewrites
