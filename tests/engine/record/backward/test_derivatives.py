"""Torch's table of derivatives as we read it, against torch's own reader and its real nodes."""

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
import torchgen

from gradscribe.engine.record.backward.derivatives import (
    TABLE,
    formulas_for,
    load_table,
    parse_table,
)
from gradscribe.engine.run import run


def test_every_formula_is_what_torchs_own_reader_finds():
    from torchgen.packaged.autograd.load_derivatives import load_derivatives

    folder = Path(torchgen.__file__).parent / "packaged"
    native = folder / "ATen" / "native"
    infos, _ = load_derivatives(
        str(folder.parent / TABLE), str(native / "native_functions.yaml"), str(native / "tags.yaml")
    )
    theirs = {
        info.op: {tuple(d.var_names): d.original_formula for d in info.derivatives}
        for dispatched in infos.values()
        for key, info in dispatched.items()
        # A view's copying twin is generated, not written in the table.
        if info.op and key == "Default" and not info.op.endswith("_copy")
    }
    ours = {name: dict(formula.gradients) for name, formula in load_table().items()}
    missing = set(theirs) - set(ours)
    assert not {name for name in missing if "Nested" not in name}
    assert {name: ours[name] for name in theirs if name in ours} == {
        name: theirs[name] for name in theirs if name in ours
    }


CALLS = [
    lambda x: x * x,
    lambda x: x * 2,
    lambda x: x.log1p(),
    lambda x: x.sum(),
    lambda x: x.mean(dim=0),
    lambda x: torch.softmax(x, 0),
    lambda x: x @ x.T,
    lambda x: F.mse_loss(x, x.detach() + 1),
    lambda x: torch.cat([x, x]),
    lambda x: x[0],
    lambda x: torch.linalg.inv(x),
    lambda x: torch.special.i1(x),
]


@pytest.mark.parametrize("call", CALLS)
def test_real_nodes_are_found_by_their_names(call):
    node = call(torch.rand(3, 3, requires_grad=True)).grad_fn
    formula = load_table()[node.name()]
    having = {name for names, _ in formula.gradients for name in names}
    assert having <= set(formula.arguments)
    assert having


def test_a_tape_brings_the_formulas_of_its_nodes_once():
    tape = run.record("x = param(2.0)\ny = x * x * x\ny.backward()")
    assert [formula.node for formula in tape.formulas] == ["MulBackward0"]
    assert dict(tape.formulas[0].gradients)[("self",)].startswith("mul_tensor_backward(grad, other")


def test_unknown_nodes_have_none():
    assert formulas_for(["AccumulateGrad", "MyFunctionBackward", "MulBackward0"]) == (
        load_table()["MulBackward0"],
    )


def test_an_odd_table_is_no_reason_to_fail():
    assert parse_table("") == {}
    assert parse_table("- name: broken\n  self: grad\nnonsense\n") == {}
    text = "- name: f(Tensor self, int[2] k=[1, 2]) -> Tensor\n  self: grad\n    * 2  # why\n"
    assert parse_table(text)["FBackward0"].gradients == ((("self",), "grad * 2"),)
