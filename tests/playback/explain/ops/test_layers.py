from gradscribe.playback.explain import explain
from gradscribe.playback.explain.ops.layers import RULES
from gradscribe.playback.explain.rule import rule_table


def test_every_rule_is_in_the_table():
    assert {name for rule in RULES for name in rule.names.split()} <= set(rule_table())


def test_a_convolution_tells_every_share_with_its_shape(recorded):
    tape = recorded(
        "x = torch.ones(1, 1, 4, 4, requires_grad=True)\n"
        "conv = nn.Conv2d(1, 2, 3)\nconv(x).sum().backward()"
    )
    found = explain(tape, op=0, position=len(tape.events))
    told = " ".join(row.text for row in found.rows)
    assert "(2×1×3×3)" in told
    assert "(1×1×4×4)" in told


def test_a_layer_norm_counts_its_shape_as_no_tensor(recorded):
    tape = recorded(
        "x = torch.randn(3, 4, requires_grad=True)\nln = nn.LayerNorm(4)\ny = ln(x)\n"
        "y.pow(2).sum().backward()"
    )
    found = explain(tape, op=0, position=len(tape.events))
    labels = {row.label: row.text for row in found.rows}
    assert any(label.endswith("∂weight") and "normalised" in t for label, t in labels.items())
    assert any(label.endswith("∂bias") and "summed" in t for label, t in labels.items())


def test_dropout_that_is_off_is_told_as_a_copy(recorded):
    tape = recorded(
        "x = torch.ones(3, requires_grad=True)\ny = F.dropout(x, 0.5, training=False)\n"
        "z = (y * 1).sum()\nz.backward()"
    )
    names = [op.op for op in tape.ops]
    if "dropout" in names:
        found = explain(tape, op=names.index("dropout"), position=len(tape.events))
        assert "mask" not in found.formula


def test_a_batch_norm_tells_weight_and_bias_apart(recorded):
    tape = recorded(
        "x = torch.tensor([[1.0], [3.0], [2.0]])\nbn = nn.BatchNorm1d(1)\ny = bn(x)\n"
        "(y * x).sum().backward()"
    )
    op = next(n for n, one in enumerate(tape.ops) if one.op == "batch_norm")
    rows = explain(tape, op=op, position=len(tape.events)).rows
    told = {row.label.rpartition("∂")[2]: row.text for row in rows}
    assert "× normalised x, summed" in told["weight"]
    assert told["bias"].startswith("= ∂L/∂y, summed")


def test_pieces_are_put_together_again(recorded):
    tape = recorded("a = param([1.0, 2.0])\np, q = a.chunk(2)\n(p * q).sum().backward()")
    found = explain(tape, op=0, position=len(tape.events))
    assert found.formula == "p, q = pieces of a"
    assert "put together" in found.rows[-1].text


def test_an_op_of_the_programs_own_is_called_that(recorded):
    tape = recorded(
        "class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        return 2 * x\n    @staticmethod\n    def backward(ctx, g):\n        return 2 * g\n"
        "x = param(1.0)\nTwice.apply(x).backward()"
    )
    op = next(n for n, one in enumerate(tape.ops) if one.op == "Twice")
    assert "the program's own" in explain(tape, op=op, position=len(tape.events)).words
