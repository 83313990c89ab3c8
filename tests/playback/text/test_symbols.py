import math

import pytest

from gradscribe.engine.protocol.tape import Arg, Call, Op, Place
from gradscribe.engine.run.run import record
from gradscribe.playback.text import symbols


def op(name, *args, inputs=(1,)):
    return Op(0, name, inputs, (9,), (Arg(value=1), *args), Place(), "", None, None)


def call(kind="Linear", name="net.2", about="", parameters=0, parent=None):
    return Call(0, name, kind, parent, 0, True, parameters, about)


@pytest.mark.parametrize(
    ("written", "plain"),
    [("add_", "add"), ("__iadd__", "add"), ("__rsub__", "rsub"), ("__truediv__", "div"),
     ("Tensor.mul", "mul"), ("getitem", "index"), ("relu_", "relu"), ("T", "T")],
)  # fmt: skip
def test_one_op_has_one_everyday_name(written, plain):
    assert symbols.canonical_name(written) == plain


@pytest.mark.parametrize(
    ("name", "symbol"),
    [("mul", "×"), ("add", "+"), ("sub", "−"), ("div", "÷"), ("matmul", "@"), ("sum", "Σ"),
     ("tanh", "tanh"), ("mse_loss", "ℒ"), ("cross_entropy", "ℒ"), ("relu", "relu")],
)  # fmt: skip
def test_chips_hold_the_signs_of_the_field(name, symbol):
    assert symbols.symbol(op(name)) == symbol


@pytest.mark.parametrize(
    ("number", "symbol"),
    [(2, "x²"), (3, "x³"), (-1, "x⁻¹"), (0.5, "xⁿ"), (math.inf, "xⁿ"), (math.nan, "xⁿ")],
)
def test_a_power_shows_its_exponent(number, symbol):
    assert symbols.symbol(op("pow", Arg(text=str(number), number=float(number)))) == symbol


def test_a_power_of_two_tensors_shows_both():
    assert symbols.symbol(op("pow", Arg(value=2))) == "xʸ"


def test_no_chip_is_longer_than_it_can_hold():
    assert len(symbols.symbol(op("adaptive_avg_pool2d"))) <= 6


def test_notes_tell_literals_but_not_defaults():
    dim = Arg(text="-1", number=-1.0, keyword="dim")
    assert symbols.note(op("softmax", dim)) == "dim = −1"
    assert symbols.note(op("mse_loss", Arg(text="'mean'", keyword="reduction"))) == ""
    assert (
        symbols.note(op("view", Arg(text="2", number=2.0), Arg(text="-1", number=-1.0))) == "2, −1"
    )
    assert symbols.note(op("getitem", Arg(text="(0, 1)"))) == "[0, 1]"
    assert symbols.note(op("mul", Arg(text="2", number=2.0))) == ""
    assert symbols.note(op("sum", Arg(text="-1", number=-1.0))) == "dim = −1"
    assert len(symbols.note(op("view", Arg(text="9" * 80)))) <= 26


def test_a_linear_op_tells_whether_it_has_a_bias():
    assert symbols.note(op("linear", inputs=(1, 2, 3))) == "x Wᵀ + b"
    assert symbols.note(op("linear", inputs=(1, 2))) == "x Wᵀ"


@pytest.mark.parametrize(
    ("about", "told"),
    [("in_features=2, out_features=8, bias=True", "2 → 8"),
     ("1, 6, kernel_size=(5, 5), stride=(1, 1)", "1 → 6"),
     ("(48,), eps=1e-05, elementwise_affine=True", "48"),
     ("10, 3", "10 → 3"), ("p=0.5, inplace=False", "p = 0.5"), ("", "")],
)  # fmt: skip
def test_a_module_is_told_by_its_sizes(about, told):
    assert symbols.module_sizes(call(about=about)) == told


def test_numbers_of_parameters_stay_short():
    assert [symbols.parameter_count(n) for n in (0, 1, 72, 28_224, 124_000_000)] == [
        "", "1 param", "72 params", "28 k params", "124 M params",
    ]  # fmt: skip


def test_a_module_is_called_by_the_end_of_its_path():
    assert symbols.module_title([call(name="net.encoder.fc")], 0) == "fc: Linear"
    assert symbols.module_title([call(name="")], 0) == "Linear"


def test_a_module_in_a_list_is_called_by_the_list():
    """``h.5`` in the loop of a GPT, ``2`` in the Sequential that runs its own members."""
    lists = [
        call("Sequential", "net"),
        call("Linear", "net.2", parent=0),
        call("GPT", "gpt"),
        call("Block", "gpt.h.5", parent=2),
        call("Linear", "layers.1"),
        call("Sequential", "gpt.down.0", parent=2),
        call("Conv2d", "gpt.down.0.1", parent=5),
        call("Conv2d", "gpt.grid.1.0", parent=2),
        call("Linear", "gpt.heads.cat", parent=2),
        call("Linear", "shared.fc", parent=2),
    ]
    assert [symbols.short_module_name(lists, n) for n in range(len(lists))] == [
        "net", "2", "gpt", "h.5", "layers.1", "down.0", "1", "grid.1.0",
        "heads.cat", "fc",
    ]  # fmt: skip


def test_a_row_of_modules_is_called_by_its_ends():
    row = [call("Block", f"gpt.h.{n}") for n in range(12)]
    assert symbols.module_span(row, 0, 11) == "h.0–11"
    assert symbols.module_span(row, 3, 3) == "h.3"
    assert symbols.module_span([call(name="a.one"), call(name="a.two")], 0, 1) == "one–two"


def test_long_losses_are_called_as_people_call_them():
    assert symbols.op_title(op("binary_cross_entropy_with_logits")) == "bce_with_logits"
    assert symbols.op_title(op("rsub")) == "sub"


@pytest.mark.parametrize(
    "written", ["[:4]", "[:, 1]", "[1:3, ::2, 0]", "[..., None]", "[0]", "[:, :, 1:]", "[(0, 1)]"]
)
def test_an_index_reads_as_it_is_written(written):
    tape = record(f"x = torch.ones(5, 4, 3)\ny = x{written}")
    shown = symbols.note(tape.ops[0])
    # Python drops the brackets of a tuple, too.
    assert shown == written.replace("...", "…").replace("(", "").replace(")", "")


def test_a_long_index_is_cut_inside_its_brackets():
    text = ", ".join(["slice(100, 200, 300)"] * 6)
    shown = symbols.note(op("getitem", Arg(text=f"({text})"[:80])))
    assert len(shown) <= 26
    assert shown.startswith("[100:200:300, ")
    assert shown.endswith("…]")


def test_what_is_written_into_a_part_reads_as_it_is_written():
    tape = record("x = torch.zeros(5, 4)\nx[:, 1] = 3\nx[0] = torch.ones(4)")
    assert [symbols.note(one) for one in tape.ops] == ["[:, 1] = 3", "[0]"]
