"""Finite differences agree with a right gradient and disagree with a wrong one."""

import pytest
import torch

from gradscribe.engine.inspect.check import check
from gradscribe.engine.protocol.messages import Check
from gradscribe.engine.run.run import record

WRONG = """
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]
x = param(3.0)
Square.apply(x).backward()
"""


def checked(source: str, name: str, index: int = 0):
    tape = record(source)
    value = next(v.id for v in tape.values if v.name == name)
    return check(Check(0, value, index))


def checked_at_its_end(source: str, name: str):
    """Check the last version of a tensor."""
    tape = record(source)
    return check(Check(0, [v.id for v in tape.values if v.name == name][-1]))


def test_a_right_gradient_agrees():
    result = checked("x = param(2.0)\ny = param(3.0)\n((x * y + x) ** 2).backward()", "x")
    assert result.agrees
    assert result.autograd == 64
    assert result.numeric == pytest.approx(64, rel=1e-3)
    assert result.run_id == 0


def test_a_wrong_gradient_does_not():
    result = checked(WRONG, "x")
    assert not result.agrees
    assert result.autograd == 3
    assert result.numeric == pytest.approx(6, rel=1e-3)


@pytest.mark.parametrize("index", range(4))
def test_any_element_of_a_vector_with_its_own_seed(index):
    source = (
        "x = param([1.0, -2.0, 0.5, 3.0])\nx.sin().backward(gradient=tensor([1.0, 0.1, -2.0, 5.0]))"
    )
    assert checked(source, "x", index).agrees


def test_a_module_parameter():
    source = (
        "net = nn.Linear(2, 1)\nF.mse_loss(net(torch.ones(3, 2)), torch.zeros(3, 1)).backward()"
    )
    assert checked(source, "net.weight", 1).agrees


def test_double_precision_takes_a_smaller_step():
    result = checked("x = param(2.0, dtype=torch.float64)\n(x**3).backward()", "x")
    assert result.agrees
    assert result.eps < 1e-4
    assert result.numeric == pytest.approx(12, rel=1e-8)


def test_only_the_pass_that_reached_the_leaf_is_compared():
    source = "x = param(2.0)\n(x**2).backward()\nwith torch.no_grad():\n    x -= x.grad\n1 / 0"
    assert checked(source, "x").agrees


@pytest.mark.parametrize(
    ("source", "name", "word"),
    [
        ("x = tensor(1.0)\ny = x * 2", "x", "no gradient"),
        ("x = param(1.0)\ny = x * 2\nz = (x * y.detach()).backward()", "y", "no gradient"),
        ("x = param(1.0, dtype=torch.float8_e5m2)\nx.float().backward()", "x", "coarse"),
    ],
)
def test_what_cannot_be_checked_says_why(source, name, word):
    result = checked(source, name)
    assert not result.agrees
    assert word in result.problem


def test_an_element_that_is_not_there():
    assert "element 5" in checked("x = param(1.0)\n(x * 2).backward()", "x", 5).problem


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_step_and_what_it_is_good_for_follow_the_dtype(dtype):
    source = f"x = param([1.5, -2.0], dtype=torch.{dtype})\n(x * x * x).sum().backward()"
    result = checked(source, "x", 1)
    assert result.agrees
    assert abs(result.numeric - 12) <= result.tolerance
    assert result.eps == pytest.approx(torch.finfo(getattr(torch, dtype)).eps ** (1 / 3) * 2)
    wrong = checked(WRONG.replace("param(3.0)", f"param(3.0, dtype=torch.{dtype})"), "x")
    assert not wrong.agrees


@pytest.mark.parametrize("index", [0, 1])
def test_a_complex_element_is_nudged_along_both_axes(index):
    source = (
        "x = torch.tensor([1.0 + 2.0j, 0.5j], requires_grad=True)\n"
        "(x * x).backward(gradient=torch.tensor([1 + 1j, 2.0]))"
    )
    result = checked(source, "x", index)
    # The gradient of z² is conj(2z) times the seed: (2 - 4i)(1 + i) and -i times 2.
    expected = (6 - 2j, -2j)[index]
    assert result.agrees
    assert complex(result.autograd, result.imaginary[0]) == expected
    assert complex(result.numeric, result.imaginary[1]) == pytest.approx(expected, abs=1e-2)


def test_another_run_than_the_last_is_not_checked():
    tape = record("x = param(2.0)\n(x * x).backward()")
    assert "ran again" in check(Check(3, tape.leaves[0].value)).problem


INTERMEDIATES = {
    "residual": """
x = param([0.3, -1.2, 0.7])
y = x * 2
z = y.sin() * y
loss = (z * y + x).sum()
""",
    "saved result": """
x = param([0.3, -1.2])
y = x.exp()
g = torch.autograd.grad(y.sum(), x, create_graph=True)[0]
loss = (g * g * y).sum()
""",
    "view": """
x = param([[1.0, 2.0], [3.0, 4.0]])
y = x * 0.5
z = y[0]
t = y.t()
loss = z.sin().sum() + (y * y).sum() + (t @ t).sum()
""",
    "split": """
x = param([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]])
y = x * 1.5
q, k, v = y.split(2, dim=1)
loss = (q * k).sum() * v.sum() + y.prod()
""",
    "expand": """
x = param([0.5, -0.25])
y = x * 3
z = y.expand(3, 2)
loss = (z * torch.arange(6.0, dtype=x.dtype).view(3, 2)).tanh().sum() + y.sum()
""",
    "in place": """
x = param([0.5, -0.25])
y = x * 3
a = y * 1
a += x
b = a.view(2, 1)
a.mul_(2)
loss = (a.sin() + b.view(2)).sum()
""",
    "attention": """
torch.manual_seed(1)
x = param(torch.randn(2, 4, 6, dtype=torch.float64))
w = param(torch.randn(6, 18, dtype=torch.float64))
qkv = x @ w
q, k, v = qkv.chunk(3, dim=-1)
scores = q @ k.transpose(1, 2) / 6**0.5
mask = torch.ones(4, 4).tril() == 0
masked = scores.masked_fill(mask, float("-inf"))
att = masked.softmax(-1)
out = att @ v
loss = out.pow(2).mean()
""",
    "random": """
x = param(torch.ones(8))
y = x * 2
d = F.dropout(y, 0.5)
n = d + torch.randn(8)
loss = (n * n).sum()
""",
    "modules": """
net = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.GELU(), nn.Linear(4, 2)).double()
x = torch.randn(5, 3, dtype=torch.float64)
h = net[:2](x)
out = net[2:](h)
loss = F.cross_entropy(out, torch.tensor([0, 1, 1, 0, 1]))
""",
    "not contiguous": """
net = nn.Conv2d(2, 3, 3).to(memory_format=torch.channels_last)
x = torch.randn(1, 2, 5, 5).to(memory_format=torch.channels_last)
y = net(x)
z = y.relu()
loss = (z * z).mean()
""",
}


def plain_gradients(source):
    """Gradients of the loss by each named result, by plain PyTorch."""
    names = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    names["param"] = lambda numbers: torch.as_tensor(numbers).clone().requires_grad_()
    torch.manual_seed(0)
    exec(source, names)
    loss = names["loss"]
    tensors = {n: t for n, t in names.items() if isinstance(t, torch.Tensor) and t.requires_grad}
    found = {
        n: torch.autograd.grad(loss, t, retain_graph=True, allow_unused=True)[0]
        for n, t in tensors.items()
    }
    return {n: g for n, g in found.items() if g is not None}


@pytest.mark.parametrize("case", INTERMEDIATES)
def test_each_result_of_an_op_is_compared_with_what_torch_gives_for_it(case):
    source = INTERMEDIATES[case]
    expected = plain_gradients(source)
    tape = record(source + "loss.backward()")
    last = {v.name: v for v in tape.values if v.requires_grad}
    compared = 0
    for name, gradient in expected.items():
        flat = gradient.reshape(-1)
        for index in sorted({0, flat.numel() // 2, flat.numel() - 1}):
            result = check(Check(0, last[name].id, index))
            assert not result.problem, (name, result.problem)
            assert result.autograd == flat[index].item(), name
            assert result.agrees, (name, index, result)
            assert abs(result.numeric - flat[index].item()) <= result.tolerance
            compared += not last[name].is_leaf
    assert compared >= 3


@pytest.mark.parametrize("case", INTERMEDIATES)
def test_unnamed_results_and_older_versions_agree_or_say_why_not(case):
    tape = record(INTERMEDIATES[case] + "loss.backward()")
    agreed = 0
    for value in tape.values:
        if value.node is not None and 0 not in value.shape:
            result = check(Check(0, value.id, 0))
            assert result.agrees or result.problem, (value, result)
            agreed += result.agrees
    assert agreed >= 3


def test_a_wrong_backward_shows_at_the_results_before_it_and_not_after():
    source = WRONG.replace("Square.apply(x)", "z = Square.apply(x * 1)\n(z * 2)")
    tape = record(source)
    product = next(v.id for v in tape.values if v.op == 0)
    inner, outer = check(Check(0, product)), checked(source, "z")
    assert (inner.autograd, inner.agrees) == (6, False)
    assert inner.numeric == pytest.approx(12, rel=1e-3)
    assert outer.agrees
    assert outer.autograd == 2


def test_a_big_result_is_checked_beyond_what_the_tape_carries():
    source = "x = param(torch.linspace(-1, 1, 5000))\ny = x * 3\n(y**3).sum().backward()"
    result = checked(source, "y", 4999)
    assert result.agrees
    assert result.autograd == pytest.approx(27, rel=1e-5)


@pytest.mark.parametrize(
    ("source", "name", "word"),
    [
        (
            (
                "x = param([1.0, 2.0])\ny = x * 2\nz = y[0]\nw = z * 5\ny.mul_(3)\n"
                "(w + z * y.sum()).backward()"
            ),
            "z",
            "written in place",
        ),
        (
            (
                "x = param([1.0, 2.0])\ny = x * 2\nz = y[0]\nw = z * 5\nz.mul_(3)\n"
                "(w + y.sum()).backward()"
            ),
            "z",
            "written in place",
        ),
        ("x = param(2.0)\ny = x * float('inf')\n(y * 2).backward()", "y", "no neighbours"),
        (
            "import time\nx = param(2.0)\ny = x * time.perf_counter_ns()\n(y * 2).backward()",
            "y",
            "each time",
        ),
        (
            (
                "import time\nx = param(2.0)\ny = x * 2\n"
                "(y * (time.perf_counter_ns() % 1000)).backward()"
            ),
            "y",
            "each time",
        ),
        ("x = param(2.0)\ny = (x * 2).to(torch.float8_e5m2)\ny.float().backward()", "y", "coarse"),
    ],
)
def test_a_result_that_cannot_be_changed_by_itself_says_why(source, name, word):
    assert word in checked(source, name).problem


@pytest.mark.parametrize(
    ("lines", "gradient"),
    [
        ("z = y[0]\ny.mul_(3)\nloss = z * y.sum()", 18.0),
        ("z = y[0]\nz.mul_(3)\nloss = z * y.sum()", 10.0),
        ("z = y[0]\nw = z * 5\ny.mul_(3)\nloss = w + y.sum()", None),
    ],
)
def test_a_view_of_memory_that_was_written_to_before_is_checked(lines, gradient):
    source = "x = param([1.0, 2.0])\ny = x * 2\n" + lines
    if gradient is not None:
        assert plain_gradients(source)["z"] == gradient
    result = (checked if gradient is None else checked_at_its_end)(
        source + "\nloss.backward()", "z"
    )
    assert result.agrees, result
    assert result.autograd == (5 if gradient is None else gradient)


@pytest.mark.parametrize("views", [1, 100])
def test_a_tensor_written_through_a_view_agrees_at_each_version_or_says_why_not(views):
    source = f"""
x = param([1.0, 2.0])
y = x * 2
z = [y.view(2) for _ in range({views})]
z[0].mul_(3)
w = z[0].sin()
loss = (w.sum() + y.sum())
loss.backward()
"""
    tape = record(source)
    results = [check(Check(0, v.id)) for v in tape.values if v.name == "y"]
    assert all(result.agrees or result.problem for result in results)
    assert results[0].autograd == plain_gradients(source.replace("loss.back", "#"))["x"][0] / 2


def test_what_a_checkpoint_computes_again_is_not_compared():
    tape = record(
        "from torch.utils.checkpoint import checkpoint\n"
        "x = param(2.0)\ncheckpoint(lambda x: x.sin() * 3, x, use_reentrant=False).backward()"
    )
    ran = {e.node for e in tape.executions}
    again = [v.id for v in tape.values if v.node in ran]
    results = [check(Check(0, value)) for value in again]
    assert all(result.agrees or "during the backward" in result.problem for result in results)


@pytest.mark.parametrize(
    ("at", "gradient"), [(0.0, 0.0), (0.001, 1.0), (-0.001, 0.0), (0.5, 1.0), (-0.5, 0.0)]
)
def test_at_a_kink_a_slope_of_its_sides_agrees(at, gradient):
    result = checked(f"x = param({at})\ny = x * 1\n(F.relu(y) * 2).backward()", "y")
    assert result.autograd == 2 * gradient
    assert result.agrees
    assert ("kink" in result.note) == (abs(at) < 0.002)


def test_no_kink_excuses_a_gradient_of_neither_side():
    wrong = WRONG.replace("x * x", "x.abs()").replace("g * ctx.saved_tensors[0]", "g * 3")
    assert not checked(wrong.replace("param(3.0)", "param(0.0)"), "x").agrees


@pytest.mark.parametrize(
    ("source", "note"),
    [
        ("x = param(3.0)\ny = x * 1\nd = y.detach()\n(y * d).backward()", "line 3"),
        ("x = param(3.0)\ny = x * 1\ny.register_hook(lambda g: g * 2)\n(y * y).backward()", "hook"),
    ],
)
def test_a_difference_that_the_program_wants_is_explained(source, note):
    result = checked(source, "y")
    assert not result.agrees
    assert note in result.note


@pytest.mark.parametrize(
    ("name", "gradient", "note"), [("y", 6, "last of 2"), ("x", 2, "first of 2")]
)
def test_of_two_passes_it_is_said_which_is_compared(name, gradient, note):
    source = "x = param(3.0)\ny = x * 1\n(y * 2).backward(retain_graph=True)\n(y * y).backward()"
    result = checked(source, name)
    assert result.agrees
    assert result.autograd == gradient
    assert note in result.note


def test_a_parameter_is_checked_with_its_numbers_before_the_last_update():
    source = """
w = param(2.0)
opt = torch.optim.SGD([w], lr=0.25)
for _ in range(3):
    opt.zero_grad()
    loss = w**3
    loss.backward()
    opt.step()
"""
    result = checked_at_its_end(source, "w")
    w = 2.0
    for _ in range(2):
        w -= 0.25 * 3 * w * w
    assert result.agrees
    assert result.autograd == pytest.approx(3 * w * w)
    assert "before the last update" in result.note
