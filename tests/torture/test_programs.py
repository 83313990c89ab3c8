"""Random programs: recorded, each gives what plain PyTorch gives, to the last bit.

A few run always; `make torture` runs thousands. The programs mix reuse, broadcasting, views,
in-place changes, detached parts, several backward passes and modules.
"""

import contextlib
import io
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradscribe.engine.protocol.tape import Snapshot, Tape
from gradscribe.engine.run import run

pytestmark = pytest.mark.e2e

HEAD = """\
torch.set_default_dtype(torch.float64)
a = param([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75], [3.0, -2.0, 1.0]])
b = param([1.0, -0.5, 0.125])
c = param(0.75)
d = tensor([[2.0], [0.5], [-1.0]])
net = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
"""
# Every template takes matrices (3, 3), or what broadcasts to them, and gives a matrix (3, 3).
UNARY = (
    "torch.tanh({x})",
    "torch.sin({x}) * {x}",
    "{x} ** 2",
    "{x}.abs() + 1",
    "torch.exp(-{x}.abs())",
    "F.relu({x})",
    "{x}.T",
    "{x}.reshape(9)[:9].view(3, 3)",
    "{x} / ({x}.detach().abs() + 1)",
    "torch.cat([{x}[:1], {x}[1:]])",
    "torch.stack({x}.unbind(0)[::-1])",
    "{x} - {x}.mean(dim=1, keepdim=True)",
    "torch.softmax({x}, dim=-1)",
    "net({x})",
    "F.layer_norm({x}, (3,))",
    "torch.where({x} > 0, {x}, 0.1 * {x})",
    "{x}.clone().mul_(0.5).add_(1)",
    "{x}.max(dim=0).values + {x}",
    "{x} + b",
    "{x} * c + d",
    "b - {x}",
)
BINARY = (
    "{x} + {y}",
    "{x} * {y}",
    "{x} - 2 * {y}",
    "{x} @ {y} / 3",
    "torch.addmm({x}, {x}, {y}) / 4",
    "torch.maximum({x}, {y})",
    "torch.einsum('ij,kj->ik', {x}, {y}) / 3",
)
ENDINGS = (
    "loss = {x}.mean()\nloss.backward()",
    "loss = ({x} ** 2).sum() + c * {y}.mean()\nloss.backward()",
    "loss = F.mse_loss({x}, {y}.detach())\nloss.backward(retain_graph=True)\nloss.backward()",
    "{x}.backward(gradient=torch.ones(3, 3) / 7)",
    "torch.autograd.backward([{x}.sum(), {y}.mean()])",
    "for _ in range(2):\n    ({x}.sum() * c).backward(retain_graph=True)",
    (
        "(g,) = torch.autograd.grad({x}.sum(), a, create_graph=True, allow_unused=True)\n"
        "if g is not None and g.requires_grad:\n    (g ** 2).sum().backward()"
    ),
    "loss = {x}.mean()\nloss.backward()\nopt = optim.SGD(net.parameters(), lr=0.1)\nopt.step()",
)


@st.composite
def programs(draw: Callable) -> str:
    """A script over matrices that ends in a backward pass and prints what it made."""
    names, lines = ["(a * 1)"], [HEAD.rstrip()]
    for number in range(draw(st.integers(1, 8))):
        template = draw(st.sampled_from(UNARY + BINARY))
        x, y = (names[-1 - draw(st.integers(0, min(2, len(names) - 1)))] for _ in "xy")
        lines.append(f"v{number} = {template.format(x=x, y=y)}")
        names.append(f"v{number}")
    lines.append(draw(st.sampled_from(ENDINGS)).format(x=names[-1], y=names[-1 - len(names) // 2]))
    lines.append(f"print({names[-1]}.detach().sum().item())")
    return "\n".join(lines) + "\n"


def plain(source: str) -> tuple[dict[str, torch.Tensor | None], str]:
    """Run a script without a recorder; returns the gradients of its named leaves and its output."""
    names = run.initial_names(run.Run(0, source))
    printed = io.StringIO()
    torch.manual_seed(0)
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(source, "plain", "exec"), names)
    finally:
        torch.set_default_dtype(torch.float32)
    leaves = {n: t for n, t in names.items() if isinstance(t, torch.Tensor) and t.is_leaf}
    leaves |= {f"net.{n}": p for n, p in names["net"].named_parameters()}
    return {n: t.grad for n, t in leaves.items()}, printed.getvalue()


def numbers(tape: Tape, index: int | None) -> np.ndarray | None:
    """The array behind a snapshot's index."""
    found: Snapshot | None = None if index is None else tape.snapshots[index]
    return None if found is None else found.array()


def check(source: str) -> None:
    """Compare a recorded run with a plain one, and the tape with itself."""
    grads, printed = plain(source)
    tape = run.record(source)
    assert (tape.status, tape.error) == ("ok", None)
    assert tape.stdout == printed
    recorded = {leaf.name: numbers(tape, leaf.grad) for leaf in tape.leaves}
    for name, grad in grads.items():
        if grad is None:
            assert recorded[name] is None, name
        else:
            assert recorded[name].tobytes() == grad.contiguous().numpy(force=True).tobytes(), name
    check_sums(tape)


def check_sums(tape: Tape) -> None:
    """Check that nodes received the sum of what their edges brought, and leaves accumulated it."""
    for execution in tape.executions:
        for slot, index in enumerate(execution.received):
            brought = [
                numbers(tape, edge.gradient)
                for edge in tape.edges
                if edge.target == execution.node
                and edge.run == execution.run
                and edge.input_nr == slot
                and edge.gradient is not None
            ]
            received = numbers(tape, index)
            if received is None:
                assert not brought
            elif not execution.hooked:
                assert brought, f"{tape.nodes} {execution}"
                np.testing.assert_allclose(sum(brought), received, rtol=1e-9, atol=1e-12)
    for gathered in tape.accumulations:
        before, sent = numbers(tape, gathered.before), numbers(tape, gathered.sent)
        after = numbers(tape, gathered.after)
        if sent is not None:
            wanted = sent if before is None else before + sent
            np.testing.assert_allclose(wanted, after, rtol=1e-12)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_a_few_random_programs_give_what_plain_torch_gives(source):
    check(source)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_thousands_of_random_programs_give_what_plain_torch_gives(source):
    check(source)


@pytest.mark.parametrize("template", UNARY + BINARY)
@pytest.mark.parametrize("ending", ENDINGS)
def test_every_piece_of_the_programs_alone(template, ending):
    line = f"v = {template.format(x='a', y='(a * b)')}"
    check(f"{HEAD}{line}\n{ending.format(x='v', y='v')}\nprint(v.detach().sum().item())\n")
