"""Numbers inside functions under vmap: those of the first example, as plain torch computes them."""

import pytest
import torch

from gradscribe.engine.run import run

X = torch.arange(10.0).reshape(5, 2)
HEAD = "X = torch.arange(10.0).reshape(5, 2)\nw = torch.tensor([1.0, -2.0])\n"


def recorded(source):
    tape = run.record(HEAD + source)
    assert tape.status == "ok", tape.error
    return tape


def numbers(tape, name):
    """Return the numbers of the first value with a name inside a vmap, and its examples."""
    value = next(v for v in tape.values if v.name == name and v.examples)
    assert value.snapshot is not None
    snapshot = tape.snapshots[value.snapshot]
    assert snapshot.shape == value.shape
    return torch.tensor(snapshot.array()), value.examples


def test_numbers_are_those_of_the_first_example():
    tape = recorded(
        "def f(x):\n    z = torch.tanh(x + 1) * w\n    s = z.sum()\n    return s\n"
        "out = torch.vmap(f)(X)"
    )
    z = torch.tanh(X[0] + 1) * torch.tensor([1.0, -2.0])
    for name, expected in (("z", z), ("s", z.sum())):
        found, examples = numbers(tape, name)
        torch.testing.assert_close(found, expected, rtol=0, atol=0)
        assert examples == 5
    out = next(v for v in tape.values if v.name == "out")
    assert (out.examples, out.shape) == (0, (5,))


@pytest.mark.parametrize("dim", [0, 1])
def test_the_batch_may_be_any_dimension(dim):
    tape = recorded(f"def f(x):\n    z = x * 3\n    return z\ntorch.vmap(f, in_dims={dim})(X)")
    found, examples = numbers(tape, "z")
    assert found.tolist() == (X.select(dim, 0) * 3).tolist()
    assert examples == X.shape[dim]


def test_of_nested_vmaps_it_is_the_first_of_each():
    tape = recorded(
        "def f(x, y):\n    p = x * 10 + y\n    return p\n"
        "torch.vmap(torch.vmap(f), in_dims=(1, 0))(X, X.t().contiguous() + 7)"
    )
    found, examples = numbers(tape, "p")
    # The first of the outer batch is column 0 of X, the first of the inner its row 0.
    assert found.item() == X[0, 0].item() * 10 + X.t()[0, 0].item() + 7
    assert examples == 10


def test_second_derivatives_of_each_example():
    tape = recorded(
        "def f(x):\n    cube = (x + 2) ** 3\n    return cube\n"
        "h = torch.vmap(torch.func.grad(torch.func.grad(f)))(X[:, 0])"
    )
    found, examples = numbers(tape, "cube")
    assert (found.item(), examples) == (8.0, 5)
    h = next(v for v in tape.values if v.name == "h" and not v.examples)
    expected = 6 * (X[:, 0] + 2)
    assert tape.snapshots[h.snapshot].array().tolist() == expected.tolist()


def test_an_empty_batch_has_no_numbers():
    tape = recorded("def f(x):\n    z = x * 3\n    return z\nout = torch.vmap(f)(X[:0])")
    value = next((v for v in tape.values if v.name == "z"), None)
    assert value is None or value.snapshot is None


def test_recording_changes_no_bit():
    source = (
        "torch.manual_seed(1)\nX = torch.randn(6, 3)\nA = torch.randn(3, 3)\n"
        "out = torch.vmap(torch.func.grad(lambda x: torch.sin(A @ x).sum()))(X)\n"
    )
    names = {"torch": torch}
    exec(source, names)
    tape = run.record(source)
    out = next(v for v in tape.values if v.name == "out")
    assert torch.equal(torch.tensor(tape.snapshots[out.snapshot].array()), names["out"])


def test_one_example_is_no_reason_for_a_finding():
    """All inputs of the first example are zero, which would be one if they were all there are."""
    tape = recorded(
        "net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))\n"
        "D = torch.cat([torch.zeros(1, 2), torch.randn(20, 2)])\n"
        "out = torch.vmap(net)(D).mean()\nout.backward()\n"
    )
    assert [finding.id for finding in tape.findings] == []
