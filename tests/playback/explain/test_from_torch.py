"""Torch's formulas in our words: where they can be evaluated they give autograd's numbers."""

import math
import re

import pytest
import torch
import torch.nn.functional as F

from gradscribe.engine.protocol.tape import Formula
from gradscribe.engine.record.backward.derivatives import load_table
from gradscribe.engine.run import run
from gradscribe.playback.explain import explain
from gradscribe.playback.explain.from_torch import (
    NO_FORMULA,
    edge_argument,
    gradient_formula,
    readable,
)
from gradscribe.playback.explain.torch_helpers import HELPERS
from gradscribe.playback.tape.index import index_of

A = torch.tensor([[0.5, 1.5], [2.0, 0.7]], dtype=torch.float64)
B = torch.tensor([[1.2, 0.4], [0.3, 2.2]], dtype=torch.float64)
CALLS = {
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: a**3,
    "pow_tensor": lambda a, b: a**b,
    "log1p": lambda a, b: a.log1p(),
    "exp": lambda a, b: a.exp(),
    "log": lambda a, b: a.log(),
    "sqrt": lambda a, b: a.sqrt(),
    "sin": lambda a, b: a.sin(),
    "cos": lambda a, b: a.cos(),
    "atan": lambda a, b: a.atan(),
    "asinh": lambda a, b: a.asinh(),
    "tanh": lambda a, b: a.tanh(),
    "sigmoid": lambda a, b: a.sigmoid(),
    "rsqrt": lambda a, b: a.rsqrt(),
    "hypot": lambda a, b: torch.hypot(a, b),
    "xlogy": lambda a, b: torch.xlogy(a, b),
    "lgamma": lambda a, b: torch.lgamma(a),
    "erf": lambda a, b: torch.erf(a),
    "erfc": lambda a, b: torch.erfc(a),
    "erfcx": lambda a, b: torch.special.erfcx(a),
    "asin": lambda a, b: (a / 4).asin(),
    "acosh": lambda a, b: (a + 1).acosh(),
    "cosh": lambda a, b: a.cosh(),
    "bmm": lambda a, b: torch.bmm(a[None], b[None]),
    "mm": lambda a, b: torch.mm(a, b),
    "inv": lambda a, b: torch.linalg.inv(a),
    "addcmul": lambda a, b: torch.addcmul(a, a, b),
    "logaddexp": lambda a, b: torch.logaddexp(a, b),
    "cross": lambda a, b: torch.linalg.cross(F.pad(a, (0, 1)), F.pad(b, (0, 1))),
}
_SIGNS = {
    "×": "*",
    "÷": "/",
    "·": "@",
    "ᵀ": ".mT",
    "−": "-",
    "²": "**2",
    "^": "**",
    "ln ": "ln",
    "√": "sqrt",
    "π": "M_PI",
    "³": "**3",
}


def evaluated(written: str, names: dict[str, object]) -> torch.Tensor:
    """Read a formula as mathematics: signs to operators, functions to torch's."""
    written = re.sub(r"\((xlogy.*?), but 0 where .*\)$", r"\1", written)
    for sign, operator in _SIGNS.items():
        written = written.replace(sign, operator)
    written = re.sub(r"\bln(\w+)", r"log(\1)", written)
    functions = {name: getattr(torch, name) for name in ("exp", "sqrt", "where", "matmul", "xlogy")}
    functions |= {
        "digamma": torch.digamma,
        "M_PI": math.pi,
        "cross": torch.linalg.cross,
    }
    functions |= {"sqrt": lambda x: math.sqrt(x) if isinstance(x, float) else torch.sqrt(x)}
    functions |= {name: getattr(torch, name) for name in ("sin", "cos", "sinh", "log", "sign")}
    functions["ln"] = torch.log
    return eval(written, {**functions, **names})


def saved(node: object) -> dict[str, object]:
    """Return what a real node keeps, by the names of the table."""
    names = [name for name in dir(node) if name.startswith("_saved_")]
    return {name.removeprefix("_saved_"): getattr(node, name) for name in names}


@pytest.mark.parametrize("name", CALLS)
def test_formulas_give_autograds_numbers(name):
    a, b = A.clone().requires_grad_(), B.clone().requires_grad_()
    made = CALLS[name](a, b)
    node = made.grad_fn
    formula = load_table()[node.name()]
    grad = torch.arange(1.0, made.numel() + 1, dtype=torch.float64).reshape(made.shape)
    sent = node(grad)
    sent = sent if isinstance(sent, tuple) else (sent,)
    names = {"self": a, "other": b, "result": made, "grad": grad, "mat1": a, "mat2": b}
    names |= saved(node)
    names["dim"] = -1
    compared = 0
    for slot, expected in enumerate(sent):
        if expected is None:
            continue
        written = gradient_formula(formula, edge_argument(formula, len(sent), slot), {})
        torch.testing.assert_close(evaluated(written, names), expected)
        compared += 1
    assert compared


CODE = re.compile(
    r"\w+_backward|\?|::|->|&&|\|\||[{}]|/\*|grad_input_mask|M_PI|<Tensor>|\.options\(|\w_\("
)


def test_no_formula_of_the_table_shows_c():
    table = load_table().values()
    rows = {(one.node, text): readable(text) for one in table for _, text in one.gradients}
    assert {key: row for key, row in rows.items() if CODE.search(row) or not row} == {}
    unknown = [key for key, row in rows.items() if row == NO_FORMULA]
    assert len(unknown) < 0.3 * len(rows)


@pytest.mark.parametrize(
    "node",
    ["CdistBackward0", "SpecialErfcxBackward0", "ErfBackward0", "AsinBackward0", "ClampBackward0"],
)
def test_formulas_of_single_ops_are_mathematics(node):
    for _, text in load_table()[node].gradients:
        written = readable(text)
        assert written != NO_FORMULA
        assert not re.search(r"\.\w+\(|\w+_\w+\(", written), written


def test_helpers_are_torchs():
    text = " ".join(t for one in load_table().values() for _, t in one.gradients)
    used = set(re.findall(r"\w+", text.replace("_symint", "")))
    unknown = [name for name in HELPERS if name not in used]
    # Helpers of other versions may stay; most have to be of this one.
    assert len(unknown) < 0.25 * len(HELPERS), unknown


def test_edges_follow_the_schema_and_lists_spread():
    cat = load_table()["CatBackward0"]
    assert [edge_argument(cat, 3, slot) for slot in range(3)] == ["tensors"] * 3
    linear = load_table()["AddmmBackward0"]
    assert [edge_argument(linear, 3, slot) for slot in range(3)] == ["self", "mat1", "mat2"]


def test_names_are_put_in_whole():
    formula = Formula("F", "f", ("self", "selfish"), ((("self",), "grad * self * selfish"),))
    assert gradient_formula(formula, "self", {"grad": "g", "self": "x"}) == "g × x × selfish"
    assert gradient_formula(formula, "other", {}) == ""


def test_an_op_without_a_rule_is_told_by_the_table():
    tape = run.record(
        "x = param([3.0])\nz = param([4.0])\nL = torch.hypot(x, z).sum()\nL.backward()"
    )
    index = index_of(tape)
    number = next(
        n for n, e in enumerate(tape.executions) if index.nodes[e.node].name == "HypotBackward0"
    )
    told = explain(index, execution=number, position=len(tape.events))
    assert told.origin == "torch's derivatives.yaml, hypot"
    rows = {row.label: (row.text, row.number) for row in told.rows}
    assert rows["∂L/∂x"][1] == "0.6000"
    assert rows["∂L/∂z"][1] == "0.8000"
    assert " × x ÷ " in rows["∂L/∂x"][0]


@pytest.mark.parametrize("name", list(load_table())[::7])
def test_every_formula_can_be_read(name):
    for _, text in load_table()[name].gradients:
        assert readable(text)
