"""Ops on the tape: their inputs, names, places and nodes."""

import pytest
import torch

from gradscribe.engine.protocol.check_tape import find_flaws
from gradscribe.engine.record.forward.functions import op_name
from gradscribe.engine.run.run import record
from tests.engine.mirror import mirror, ops


def by_name(tape):
    return {v.name: v for v in tape.values}


def names(tape, op):
    called = {v.id: v.name for v in tape.values}
    return [called[i] for i in op.inputs]


def test_operators_read_as_torch_calls_them():
    tape = mirror("a = param(2.0)\nb = a + 1\nc = 3 - b\nd = 1 / c\ne = 2**d\nf = -e")
    assert ops(tape) == ["add", "rsub", "rdiv", "rpow", "neg"]


def test_a_module_of_torchs_is_one_op_with_all_its_nodes():
    tape = mirror(
        "net = nn.Linear(2, 3)\ny = F.cross_entropy(net(torch.ones(4, 2)), tensor([0, 1, 2, 0]))"
    )
    assert ops(tape) == ["linear", "cross_entropy"]
    nodes = {n.id: n.name for n in tape.nodes}
    assert sorted(nodes[i] for i in tape.ops[1].nodes) == [
        "LogSoftmaxBackward0",
        "NllLossBackward0",
    ]
    assert nodes[tape.ops[1].node] == "NllLossBackward0"


def test_a_place_is_the_exact_expression_even_after_wide_characters():
    tape = record("x = param(2.0)\ns = 'añ日😀'; y = (x + x) * x")
    add, mul = tape.ops
    line = "s = 'añ日😀'; y = (x + x) * x"
    assert line[add.place.column : add.place.end_column] == "x + x"
    assert line[mul.place.column : mul.place.end_column] == "(x + x) * x"


def test_results_take_the_names_they_are_assigned_to():
    tape = record(
        "x, y = param(1.0), param(2.0)\n"
        "z = x * y + x\n"
        "a, b = torch.stack([z, z]).split(1)\n"
        "if (t := z * 2) > 0:\n    pass\n"
        "x2 = F.relu(z)\n"
    )
    called = by_name(tape)
    assert {"x", "y", "z", "a", "b", "t", "x2"} <= called.keys()
    assert called["b"].output_nr == 1


def test_the_result_of_a_module_call_takes_the_name_and_its_inner_values_do_not():
    tape = record("net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())\ny = net(torch.ones(1, 2))")
    named = [v for v in tape.values if v.name == "y"]
    assert len(named) == 1
    assert tape.ops[named[0].op].op == "relu"


def test_numbers_in_operators_keep_their_side_and_their_variable():
    tape = record("x1 = 2.0\nw = param(-3.0)\nu = x1 * w\nv = w * x1\nt = 4 + w\n")
    first, second, third = tape.ops
    assert [a.name for a in first.args] == ["x1", ""]
    assert [a.name for a in second.args] == ["", "x1"]
    assert [a.number for a in third.args] == [4.0, None]
    assert first.args[1].value == first.inputs[0]


def test_a_factory_makes_a_leaf_and_no_op():
    tape = record("x = torch.zeros(2, 3)\ny = torch.randn_like(x)\nz = x.new_ones(1)")
    assert ops(tape) == []
    assert [(v.name, v.maker, v.role) for v in tape.values] == [
        ("x", "zeros", "data"),
        ("y", "randn_like", "data"),
        ("z", "new_ones", "data"),
    ]
    assert [e.kind for e in tape.events] == ["leaf"] * 3


def test_reading_a_tensor_is_no_op():
    tape = record(
        "x = param([1.0, 2.0])\nprint(x, x.shape, len(x), x.grad, f'{x[0]:.2f}', float(x[1]))\n"
        "x.tolist(); x.detach().numpy(); bool(x[0] > 0)"
    )
    assert ops(tape) == ["getitem", "getitem", "detach", "getitem", "gt"]


def test_an_in_place_op_makes_a_new_version_of_the_same_tensor():
    tape = mirror("x = param(1.0)\ny = x * 2\ny += 1\ny.mul_(3)\ny.backward()")
    assert ops(tape) == ["mul", "add_", "mul_"]
    versions = [v for v in tape.values if v.name == "y"]
    assert [v.version for v in versions] == [0, 1, 2]
    assert len({v.tensor for v in versions}) == 1
    assert all(op.inplace for op in tape.ops[1:])


def test_a_view_of_a_changed_tensor_is_seen_to_have_changed():
    tape = mirror("y = torch.zeros(4)\nv = y[:2]\ny += 1\nw = v * 2")
    mul = tape.ops[-1]
    seen = next(v for v in tape.values if v.id == mul.inputs[0])
    assert seen.name == "v"
    assert seen.version == 1
    assert tape.ops[seen.op].op == "add_"
    assert tape.snapshots[seen.snapshot].array().tolist() == [1, 1]


def test_a_view_names_its_base_and_shares_its_storage():
    tape = record("y = torch.arange(6.0)\nv = y.view(2, 3).T")
    values = by_name(tape)
    assert values["v"].base == values["y"].id
    assert values["v"].storage == values["y"].storage
    assert values["v"].stride == (1, 3)
    assert not values["v"].contiguous


def test_detached_values_are_constants_and_no_grad_ops_make_no_node():
    tape = record("x = param(1.0)\nd = x.detach()\nwith torch.no_grad():\n    y = x * 2")
    values = by_name(tape)
    assert values["d"].role == "constant"
    assert values["y"].node is None
    assert not tape.ops[1].grad_mode


def test_a_custom_function_is_one_op_with_one_node():
    tape = mirror(
        "class Twice(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x):\n        return (x + 1) * 2 - 2\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g * 2\n"
        "x = param(3.0)\ny = Twice.apply(x)\ny.backward()"
    )
    assert ops(tape) == ["Twice"]
    assert [n.name for n in tape.nodes] == ["TwiceBackward"]
    backward = [o for o in tape.ops if o.phase == "backward"]
    assert [o.op for o in backward] == ["mul"]


def test_running_statistics_change_without_a_version_and_are_seen_all_the_same():
    tape = mirror("norm = nn.BatchNorm1d(2)\nx = torch.randn(5, 2) + 3\ny = norm(x)\nz = norm(x)")
    means = [v for v in tape.values if v.name == "norm.running_mean"]
    assert len({tape.snapshots[v.snapshot].data for v in means}) == len(means) == 3


def test_a_gradient_used_in_a_formula_is_named_after_its_leaf():
    tape = record(
        "w = param(1.0)\n(w * 3).backward()\nwith torch.no_grad():\n    w -= 0.1 * w.grad"
    )
    grad = next(v for v in tape.values if v.maker == ".grad")
    assert grad.name == "w.grad"
    assert grad.role == "constant"


def test_a_subclass_of_the_users_hears_nothing_of_the_recorder():
    mirror(
        "class Loud(torch.Tensor):\n"
        "    @classmethod\n"
        "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
        "        print(func.__name__)\n"
        "        return super().__torch_function__(func, types, args, kwargs or {})\n"
        "z = torch.ones(2).as_subclass(Loud)\nprint((z + 1).sum().item())\ndel z"
    )


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (torch.Tensor.__iadd__, "add_"),
        (torch.Tensor.__getitem__, "getitem"),
        (torch.Tensor.__setitem__, "setitem"),
        (torch.Tensor.__rtruediv__, "rdiv"),
        (torch.Tensor.__invert__, "invert"),
        (torch.Tensor.T.__get__, "T"),
        (torch.relu, "relu"),
    ],
)
def test_names_are_torchs_own_without_underscores(function, name):
    assert op_name(function) == name


def test_a_value_without_an_assignment_is_named_after_the_variable_that_is_passed():
    tape = record(
        "def double(v):\n    return v * 2\nnet = nn.Linear(1, 1)\n"
        "for xb, yb in [(torch.ones(1, 1), torch.ones(1, 1)) for _ in range(2)]:\n"
        "    loss = F.mse_loss(net(xb), yb)\n"
        "for part in torch.ones(4).split(2):\n    part.mul(3)\n"
        "torch.stack(torch.ones(2).unbind())\ndouble(torch.ones(3))\n"
    )
    called = {v.id: v.name for v in tape.values}
    assert [called[o.inputs[0]] for o in tape.ops if o.op == "linear"] == ["xb", "xb"]
    assert [called[o.inputs[1]] for o in tape.ops if o.op == "mse_loss"] == ["yb", "yb"]
    assert [called[o.inputs[0]] for o in tape.ops if o.op == "mul"] == ["part", "part", "v"]
    stack = next(o for o in tape.ops if o.op == "stack")
    assert [called[i] for i in stack.inputs] == ["", ""]


def test_a_node_goes_by_the_name_that_torch_prints():
    tape = record("x = param([1.0, 2.0])\ny = x * 1\ny[0] = 3.0\nprint(y.grad_fn)")
    assert "CopySlices" in {n.name for n in tape.nodes}
    assert "CopySlices" in tape.stdout


def test_a_leaf_made_by_asking_an_ops_result_for_a_gradient_is_a_parameter():
    tape = mirror(
        "u = torch.ones(2).mul(3).requires_grad_()\n(u * u).sum().backward()\n"
        "v = torch.zeros(2).uniform_().requires_grad_()\n"
        "w = torch.ones(2).mul(2).requires_grad_().requires_grad_(False)\nprint(u.grad)"
    )
    roles = {v.name: v.role for v in tape.values if v.name}
    assert (roles["u"], roles["v"], roles["w"]) == ("parameter", "parameter", "result")
    assert len(tape.accumulations) == 1


def test_what_a_module_makes_for_itself_is_not_called_after_its_result():
    tape = mirror("lstm = nn.LSTM(3, 4)\nout, (h, c) = lstm(torch.ones(5, 2, 3))")
    assert [v.name for v in tape.values if v.maker == "zeros"] == ["", ""]
    assert [v.op for v in tape.values if v.name == "out"] == [0]


def test_the_time_of_an_op_is_that_of_its_call_alone():
    source = (
        "import time\n"
        "class Slow(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        begun = time.perf_counter()\n"
        "        while time.perf_counter() - begun < 0.02:\n"
        "            pass\n"
        "        return x.clone()\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        return g\n"
        "x = param(2.0)\n"
        "begun = time.perf_counter_ns()\n"
        "y = Slow.apply(x)\n"
        "between = time.perf_counter_ns()\n"
        "z = y + 1\n"
        "print(between - begun, time.perf_counter_ns() - between)\n"
    )
    tape = record(source)
    slow, quick = tape.times
    around_slow, around_quick = map(int, tape.stdout.split())
    assert 20_000_000 <= slow < around_slow
    assert 0 < quick < around_quick


def test_a_program_that_recurses_too_deeply_leaves_a_tape_that_belongs_together():
    tape = mirror(
        "x = param(2.0)\n"
        # No default: Python 3.13.0 counts no recursion where one is filled in.
        "def deep(t, more):\n"
        "    return deep(t, more - 1) if more else deep(t * 1.01, 0)\n"
        "for k in range(12):\n"
        "    try:\n"
        "        deep(x, k)\n"
        "    except RecursionError:\n"
        "        print(k)\n"
        "(x * 3).backward()\n"
        "print(x.grad)\n"
    )
    assert not any(find_flaws(tape))
    last = tape.ops[-1]
    nodes = {n.id: n for n in tape.nodes}
    assert [nodes[i].name for i in last.nodes] == ["MulBackward0"]


def test_a_tensor_class_of_the_programs_hears_only_what_the_program_asks():
    mirror(
        "class Meters(torch.Tensor):\n"
        "    @classmethod\n"
        "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
        "        if quiet == 0:\n"
        "            print(func.__name__)\n"
        "        return super().__torch_function__(func, types, args, kwargs or {})\n"
        "quiet = 0\n"
        "x = torch.ones(2).as_subclass(Meters).requires_grad_()\n"
        "x.sum().backward()\n"
        "x.grad = None\n"
        "p = nn.Parameter(x.detach())\n"
        "p.requires_grad = False\n"
        "p.data = torch.zeros(2)\n"
        "quiet = 1\n"
    )
