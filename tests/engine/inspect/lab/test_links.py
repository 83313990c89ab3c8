"""Cells that belong together, against torch's own Jacobians and indices."""

import numpy as np
import pytest
import torch
from torch.autograd.functional import jacobian

from gradscribe.engine.inspect.lab import probe
from gradscribe.engine.protocol.check_replies import MAX_LINKED
from gradscribe.engine.protocol.messages import Probe


def looked(source):
    return probe(Probe(1, source))


def links(probed, result=0, source=0):
    """Return a matrix, result cell x input cell, True where one reaches the other."""
    shape = (probed.results[result].snapshot.numel, probed.inputs[source].snapshot.numel)
    matrix = np.zeros(shape, bool)
    found = [one for one in probed.links if (one.result, one.input) == (result, source)]
    assert found
    matrix[np.frombuffer(found[0].to, "<i4"), np.frombuffer(found[0].source, "<i4")] = True
    return matrix


SMOOTH = {
    "a @ b": ((3, 4), (4, 2)),
    "a * b": ((3, 1), (4,)),
    "a + b": ((2, 3), (2, 1)),
    "torch.softmax(a, dim=1) * b": ((2, 3), (3,)),
    "torch.einsum('ij,kj->ik', a, b)": ((2, 3), (4, 3)),
    "torch.cat([a, b], dim=1)": ((2, 3), (2, 2)),
    "a.cumsum(0) - b": ((3, 2), (2,)),
    "F.conv1d(a[None], b[None])[0]": ((2, 6), (2, 3)),
}


@pytest.mark.parametrize("expression", SMOOTH)
def test_links_are_where_the_jacobian_is_not_zero(expression):
    shapes = SMOOTH[expression]
    source = "\n".join(f"{n} = torch.rand{s} + 0.1" for n, s in zip("ab", shapes, strict=True))
    probed = looked(f"{source}\n{expression}")
    assert probed.problem is None
    given = tuple(torch.from_numpy(one.snapshot.array().copy()) for one in probed.inputs)

    def function(a, b):
        names = {"a": a, "b": b, "torch": torch, "F": torch.nn.functional}
        return eval(expression, names)

    for number, part in enumerate(jacobian(function, given)):
        rows = probed.results[0].snapshot.numel
        assert (links(probed, 0, number) == (part.reshape(rows, -1) != 0).numpy()).all()


@pytest.mark.parametrize(
    "expression",
    [
        "x.T",
        "x.permute(2, 0, 1)",
        "x[1:, ::2]",
        "x[0]",
        "x.view(-1)",
        "x[torch.tensor([1, 0, 1])]",
        "x.unsqueeze(1).expand(2, 3, 3, 4)",
        "x.flip(0)",
        "x[x > 11]",
        "x.sort(dim=1, descending=True)[0]",
        "torch.roll(x, 1)",
    ],
)
def test_what_only_moves_elements_links_equal_numbers(expression):
    shape = "(4, 6)" if expression == "x.T" else "(2, 3, 4)"
    probed = looked(f"x = torch.arange(24.).view{shape}\n{expression}")
    result = probed.results[0].snapshot.array().reshape(-1)
    matrix = links(probed)
    assert (matrix.sum(1) == 1).all()
    # The numbers are 0 to 23 in order, so a number is also the place it came from.
    assert (matrix.argmax(1) == result).all()


def test_a_mask_and_indices_are_linked_too():
    probed = looked("x = torch.tensor([3., -1., 2.])\nm = x > 0\nx[m]")
    assert links(probed, 0, 1).tolist() == [[True, False, False], [False, False, True]]
    probed = looked("x = torch.arange(6.).view(3, 2)\ni = torch.tensor([2, 0])\nx[i]")
    assert links(probed, 0, 1).tolist() == [[True, False]] * 2 + [[False, True]] * 2


def test_whole_numbers_that_come_out_are_linked():
    matrix = links(looked("x = torch.rand(2, 3)\nx.argmax(1)"))
    assert matrix.tolist() == [[True] * 3 + [False] * 3, [False] * 3 + [True] * 3]
    assert (
        links(looked("x = torch.tensor([1., -1.])\nx > 0")).tolist()
        == np.eye(2, dtype=bool).tolist()
    )


def test_cells_are_torchs_own():
    probed = looked(
        "x = torch.arange(6).view(2, 3).T\ny = torch.ones(3, 1, dtype=torch.float64)\nx * y"
    )
    x, y = probed.inputs
    assert (x.name, x.stride, x.offset, x.contiguous) == ("x", (1, 3), 0, False)
    assert x.snapshot.array().tolist() == torch.arange(6).view(2, 3).T.tolist()
    assert (y.snapshot.dtype, probed.results[0].snapshot.dtype) == ("float64", "float64")


def test_views_and_arrays_share_a_storage():
    probed = looked("x = torch.arange(6.)\nx.view(2, 3)")
    assert probed.inputs[0].storage == probed.results[0].storage != 0
    probed = looked("a = np.zeros(3)\nx = torch.from_numpy(a)\nx + a.sum()")
    kinds = {one.name: (one.kind, one.storage) for one in probed.inputs}
    assert kinds["a"][0] == "array"
    assert kinds["a"][1] == kinds["x"][1]
    probed = looked("a = np.zeros(3)\nb = np.zeros(3)\nx = torch.from_numpy(a)\nx + 1")
    assert [one.name for one in probed.sharing] == ["a"]
    probed = looked("x = torch.arange(3.)\nx + 1")
    assert probed.inputs[0].storage != probed.results[0].storage


def test_looking_changes_nothing_of_the_users():
    probed = looked("x = torch.zeros(3)\nx.add_(1)")
    assert probed.inputs[0].snapshot.array().tolist() == [0, 0, 0]
    assert probed.results[0].snapshot.array().tolist() == [1, 1, 1]


def test_an_error_keeps_what_goes_in():
    probed = looked("x = torch.arange(6.).view(2, 3).T\nx.view(6)")
    with pytest.raises(RuntimeError) as raised:
        torch.arange(6.0).view(2, 3).T.view(6)
    assert probed.problem.message == str(raised.value)
    assert probed.problem.place.line == 2
    assert [one.snapshot.shape for one in probed.inputs] == [(3, 2)]


@pytest.mark.parametrize(
    ("source", "text"),
    [("", "expression"), ("x = 1\nfor i in []: pass", "expression"), ("x +", "invalid syntax")],
)
def test_lines_without_a_result_are_told(source, text):
    assert text in looked(source).problem.message


def test_what_is_no_tensor_is_told_as_text():
    probed = looked("x = torch.zeros(2, 3)\nx.shape")
    assert probed.text == "torch.Size([2, 3])"
    assert looked("x = torch.zeros(2)\nx.sum().item()").results[0].snapshot.item() == 0


def test_tensors_past_the_limit_are_shown_without_links():
    probed = looked(f"x = torch.rand({MAX_LINKED + 1})\nx * 2")
    assert probed.results
    assert not probed.links
    assert str(MAX_LINKED) in probed.note


def test_nothing_of_it_outlives_the_call():
    before = torch.get_default_dtype()
    looked("torch.set_default_dtype(torch.float64)\nprint('x')\ntorch.zeros(2)")
    assert torch.get_default_dtype() == before
