import pytest

from gradscribe.playback.explain import slope_label
from gradscribe.playback.explain.local_derivative import local_derivative, operand_of
from gradscribe.playback.tape.index import Index


def factors(tape):
    index = Index(tape)
    return [
        slope_label(index, number)
        for number, edge in enumerate(tape.edges)
        if edge.execution is not None
    ]


def test_the_labels_of_a_neuron_are_those_of_the_picture(neuron):
    assert factors(neuron) == [
        "× 2d = 0.414", "× 1", "× (1−o²) = 0.500", "× 1", "× 1", "× 1", "× 1",
        "× x₂ = 0", "× x₁ = 2",
    ]  # fmt: skip


def test_a_factor_is_named_after_the_other_variable(fan):
    assert {"× y = 3", "× x = 2", "× 2w = 16"} <= set(factors(fan))


def test_without_a_name_only_the_number_is_shown(recorded):
    tape = recorded("x = param(3.0)\ny = (x + 1) * (x + 2)\ny.backward()")
    assert "× 5" in factors(tape)
    assert "× 4" in factors(tape)


def test_a_constant_in_the_text_is_written_once(recorded):
    tape = recorded("x = param(2.0)\ny = x * 1e-7\nz = y * -3\nz.backward()")
    assert factors(tape) == ["× −3", "× 1e−07"]


def test_tensors_have_no_factor(mlp):
    assert set(factors(mlp)) == {""}


def test_a_factor_that_does_not_fit_is_never_shown(recorded):
    tape = recorded("""\
class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, g):
        return g * 7
class sin(Wrong):
    pass
x = param(1.0)
y = sin.apply(x)
y.backward()
""")
    assert [op.op for op in tape.ops if op.phase == "forward"] == ["sin"]
    assert factors(tape) == [""]


def test_a_hook_does_not_make_the_label_lie(recorded):
    tape = recorded(
        "a = param(1.0)\nb = a * 2\nb.register_hook(lambda g: g * 10)\n(b * 3).backward()"
    )
    index = Index(tape)
    for number, edge in enumerate(tape.edges):
        if edge.execution is None:
            continue
        received = index.snapshot(tape.executions[edge.execution].received[0]).item()
        value = local_derivative(index, number)
        assert value is None or value * received == index.snapshot(edge.gradient).item()


@pytest.mark.parametrize("value", ["float('nan')", "float('inf')", "0.0"])
def test_numbers_that_are_not_finite_have_no_label(recorded, value):
    tape = recorded(f"x = param({value})\ny = torch.log(x)\ny.backward()")
    for written in factors(tape):
        assert "nan" not in written.lower()
        assert "inf" not in written.lower()


def test_half_precision_is_judged_by_its_own_rounding(recorded):
    tape = recorded(
        "x = torch.tensor(0.3, dtype=torch.bfloat16, requires_grad=True)\n"
        "y = torch.tanh(x)\ny.backward()"
    )
    assert factors(tape)[0].startswith("× (1−y²) = 0.9")


def test_both_operands_of_a_square_have_their_own_edge(recorded):
    tape = recorded("x = param(3.0)\ny = x * x\ny.backward()")
    index = Index(tape)
    node = tape.ops[0].node
    assert [operand_of(index, node, slot) for slot in (0, 1)] == [0, 1]
    assert factors(tape) == ["× x = 3", "× x = 3"]
