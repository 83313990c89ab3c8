"""Every construct of autograd: what the tape tells of it. Numbers are compared with plain torch."""

import textwrap

import numpy as np
import pytest

from tests.engine.mirror import gradient, mirror, numbers, ops


def values(tape, name):
    """Return every version of a named value, in order."""
    return [v for v in tape.values if v.name == name]


def node_names(tape):
    return {n.id: n.name for n in tape.nodes}


def ran(tape):
    """Return the names of the backward nodes in the order they ran."""
    called = node_names(tape)
    return [called[e.node] for e in tape.executions]


def data(tape, value):
    return tape.snapshots[value.snapshot].array().tolist()


# Views and in-place changes


def test_a_change_through_a_view_rebases_the_history_of_its_base():
    tape = mirror(
        "x = param([1.0, 2.0, 3.0])\ny = x.clone()\nv = y[:2]\nv.mul_(3)\nz = (y * y).sum()\n"
        "z.backward()"
    )
    used = next(v for v in tape.values if v.id == tape.ops[-2].inputs[0])
    assert (used.name, used.version, data(tape, used)) == ("y", 1, [3, 6, 3])
    assert node_names(tape)[used.node] == "CopySlices"
    assert "CopySlices" in ran(tape)
    assert values(tape, "v")[0].base == values(tape, "y")[0].id


def test_adding_in_place_before_a_value_is_saved_is_harmless_and_after_it_an_error():
    before = mirror("x = param(2.0)\ny = x * 3\ny += 1\nz = y**2\nz.backward()")
    assert gradient(before, "x") == 42
    after = mirror("x = param(2.0)\ny = x * 3\nz = y**2\ny += 1\nz.backward()")
    assert "modified by an inplace operation" in after.error.message
    assert "PowBackward0" in after.error.hint
    assert [v.version for v in values(after, "y")] == [0, 1]


@pytest.mark.parametrize(
    "program",
    [
        "w = param(torch.ones(3, 2))\nwith torch.no_grad():\n    row = w[1]\n    row.zero_()",
        "w = param(torch.ones(3, 2))\nwith torch.no_grad():\n    nn.init.constant_(w[1], 4.0)",
        (
            "w = param(torch.ones(3, 2))\nwith torch.no_grad():\n"
            "    for row in w:\n        row /= row.norm()"
        ),
        "w = param(torch.ones(4)) * 2\na, b = w.split(2)\nw.add_(1)",
        "w = param(torch.ones(4)) * 2\na, b = w.split(2)\nw.add_(1)\nc = b * 2",
        "w = param(torch.ones(4)) * 2\nwith torch.no_grad():\n    v = w[1]\nw.mul_(2)\nc = v * 2",
    ],
)
def test_views_that_torch_will_not_tell_the_history_of(program):
    """Asked for ``grad_fn``, such a view raises; a program that does not ask runs as ever."""
    mirror(
        f"def run():\n{textwrap.indent(program, '    ')}\n    print(w.tolist())\n    return w\n"
        "w = run()\nw.sum().backward()"
    )


@pytest.mark.parametrize(
    ("change", "op"),
    [
        ("y[0] = 5.0", "setitem"),
        ("y[y > 1.5] = 0.0", "setitem"),
        ("y[[0, 2]] = x[:2]", "setitem"),
        ("y.add_(x)", "add_"),
        ("y *= x", "mul_"),
        ("y.clamp_(max=2.0)", "clamp_"),
        ("y.masked_fill_(y > 2, 7.0)", "masked_fill_"),
        ("y.index_add_(0, tensor([1]), x[:1])", "index_add_"),
        ("torch.relu_(y)", "relu_"),
        ("F.relu(y, inplace=True)", "relu"),
        ("y.copy_(x)", "copy_"),
        ("torch.add(x, 1.0, out=z)", "add"),
    ],
)
def test_changes_in_place_are_ops_that_make_a_new_version(change, op):
    tape = mirror(
        f"x = param([1.0, 2.0, 3.0])\ny = x * 1.0\nz = torch.zeros(3)\n"
        f"with torch.set_grad_enabled({'out=' not in change}):\n    {change}\n"
        "loss = (y * 2).sum() + z.sum()\nloss.backward()"
    )
    made = next(o for o in tape.ops if o.op == op and o.place.line == 5)
    value = next(v for v in tape.values if v.id == made.outputs[0])
    assert made.inplace or "out=" in change
    assert value.version >= 1
    assert value.name in ("y", "z")


def test_writing_to_data_goes_unseen_by_autograd_and_is_told_all_the_same():
    tape = mirror(
        "w = param([1.0, 2.0])\nloss = (w * w).sum()\nw.data -= 0.5\nw.data = w.data * 2\n"
        "loss.backward()\nprint(w)"
    )
    assert tape.stdout.startswith("tensor([1., 3.]")
    assert data(tape, values(tape, "w")[-1]) == [1, 3]


def test_numpy_shares_memory_in_both_directions():
    tape = mirror(
        "a = np.ones(2, dtype=np.float32)\nt = torch.from_numpy(a)\na[0] = 5\nu = t * 2\n"
        "n = t.numpy()\nn[1] = 7\nw = t * 2\nx = param([1.0, 1.0])\n(x * torch.as_tensor(a)).sum()"
        ".backward()\nprint(x.grad, u, w)"
    )
    assert gradient(tape, "x").tolist() == [5, 7]


# Shapes


def test_a_broadcast_gradient_is_summed_back_to_the_shape_of_its_leaf():
    tape = mirror(
        "x, b, s = param([[1.0], [2.0]]), param([1.0, 2.0, 3.0]), param(2.0)\n"
        "(x * b * s).sum().backward()"
    )
    leaf = {v.name: v for v in tape.values if v.is_leaf}
    for name in ("x", "b", "s"):
        (sent,) = [e for e in tape.edges if e.target == leaf[name].id]
        assert tape.snapshots[sent.gradient].shape == leaf[name].shape


@pytest.mark.parametrize(
    "picked",
    [
        "x[0]",
        "x[:, 1]",
        "x[1:, ::2]",
        "x[..., None, 0]",
        "x[x > 2]",
        "x[[0, 1], [2, 0]]",
        "x[tensor([1, 1])]",
        "x.gather(1, tensor([[0], [2]]))",
        "x.index_select(1, tensor([2, 2]))",
        "torch.take(x, tensor([0, 5]))",
        "x.masked_select(x < 3)",
        "torch.where(x > 2, x, 0.0)",
        "x.topk(2).values",
        "x.sort(descending=True).values",
        "x.max(dim=1).values",
        "x.unfold(1, 2, 1)",
        "torch.cat(x.unbind(0))",
        "torch.stack(x.split(1, dim=1)[::-1])",
        "x.permute(1, 0).reshape(2, 3).view(6)",
        "x.expand(2, 2, 3)",
        "torch.einsum('ij,kj->ik', x, x)",
    ],
)
def test_picking_and_shaping(picked):
    assert mirror(
        f"x = param([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])\ny = {picked}\n(y**2).sum().backward()"
    ).executions


def test_each_output_of_an_op_says_which_it_is():
    tape = mirror(
        "x = param([3.0, 1.0, 2.0])\nvals, idx = x.topk(2)\na, b, c = x.split(1)\n"
        "q, r = torch.linalg.qr(x.reshape(3, 1))\n(vals.sum() + b * c + r.sum()).sum().backward()"
    )
    called = {v.name: v for v in tape.values}
    assert [called[n].output_nr for n in ("vals", "a", "b", "c", "q", "r")] == [0, 0, 1, 2, 0, 1]
    assert (called["idx"].dtype, called["idx"].node) == ("int64", None)
    assert tape.ops[0].outputs == (called["vals"].id, called["idx"].id)
    split = next(e for e in tape.executions if node_names(tape)[e.node] == "SplitBackward0")
    assert [received is None for received in split.received] == [True, False, False]


# What requires a gradient, and what is cut off


def test_parts_without_gradients():
    tape = mirror(
        "x = param(2.0)\nwith torch.no_grad():\n    a = x * 2\nwith torch.inference_mode():\n"
        "    b = x * 3\n@torch.no_grad()\ndef f(v):\n    return v * 4\nc = f(x)\n"
        "torch.set_grad_enabled(False)\nd = x * 5\ntorch.set_grad_enabled(True)\n"
        "e = x.detach() * x\nprint(a.requires_grad, b.is_inference(), e)\ne.backward()"
    )
    made = {v.name: v for v in tape.values}
    assert all(made[n].node is None for n in "abcd")
    assert [o.grad_mode for o in tape.ops if o.op == "mul"] == [False] * 4 + [True]
    assert gradient(tape, "x") == 2


def test_inference_tensors_may_not_be_saved():
    tape = mirror(
        "x = param(2.0)\nwith torch.inference_mode():\n    b = tensor(3.0) * 1\ny = x * b"
    )
    assert tape.error.place.line == 4


def test_requires_grad_may_be_set_late_and_taken_back():
    tape = mirror(
        "x = torch.ones(2)\ny = x * 2\nx.requires_grad_()\nz = x * 3\nx.requires_grad = False\n"
        "w = x * 4\nx.requires_grad = True\n(z + x * 5).sum().backward()"
    )
    assert gradient(tape, "x").tolist() == [8, 8]
    assert [v.node is not None for n in "yzw" for v in values(tape, n)] == [False, True, False]
    assert values(tape, "x")[0].role == "parameter"


def test_frozen_parameters_get_no_gradient_and_do_not_move():
    tape = mirror(
        "net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))\nnet[0].requires_grad_(False)\n"
        "opt = optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)\n"
        "net(torch.ones(4, 2)).sum().backward()\nopt.step()"
    )
    assert gradient(tape, "net.0.weight") is None
    assert gradient(tape, "net.1.weight") is not None
    names = {v.id: v.name for v in tape.values}
    changed = {names[c.after] for c in tape.steps[0].changes}
    assert changed == {"net.1.weight", "net.1.bias"}


# Backward passes


def test_several_losses_accumulate_and_each_pass_is_told():
    tape = mirror(
        "x = param(2.0)\nh = x * 3\na, b = h**2, h.sin()\na.backward(retain_graph=True)\n"
        "b.backward()\ntorch.autograd.backward([x * 1, x * 2], [tensor(1.0), tensor(10.0)])"
    )
    assert [(p.kind, len(p.roots), p.retain_graph) for p in tape.passes] == [
        ("backward", 1, True),
        ("backward", 1, False),
        ("backward", 2, False),
    ]
    before = [numbers(tape, a.before) for a in tape.accumulations]
    after = [numbers(tape, a.after) for a in tape.accumulations]
    assert before[0] is None
    assert before[1:] == after[:-1]


def test_third_derivatives():
    tape = mirror(
        "x = param(2.0)\ny = x**4\nfor _ in range(2):\n"
        "    (y,) = torch.autograd.grad(y, x, create_graph=True)\n    print(y)\ny.backward()"
    )
    assert gradient(tape, "x") == 48
    assert [p.create_graph for p in tape.passes] == [True, True, False]


def test_zeroing_gradients_to_none_and_to_zero():
    tape = mirror(
        "x = param(2.0)\nopt = optim.SGD([x], lr=0.5)\n"
        "(x * 3).backward()\nopt.zero_grad()\nprint(x.grad)\n"
        "(x * 3).backward()\nopt.zero_grad(set_to_none=False)\nprint(x.grad)\n"
        "(x * 3).backward()\nx.grad.zero_()\n(x * 3).backward()\nx.grad = None\n"
        "(x * 3).backward()\nx.grad.data.zero_()\n(x * 5).backward()"
    )
    assert [r.to_none for r in tape.resets] == [True, False, False, True, False]
    assert [e.line for e in tape.events if e.kind == "zero_grad"] == [4, 7, 10, 12, 14]
    assert [numbers(tape, a.before) for a in tape.accumulations] == [None, None, 0, 0, None, 0]


def test_leaving_out_the_reset_lets_gradients_grow():
    tape = mirror("x = param(1.0)\nfor _ in range(3):\n    (x * 2).backward()\n    print(x.grad)")
    assert [float(numbers(tape, a.after)) for a in tape.accumulations] == [2, 4, 6]


def test_checkpointing_runs_its_part_again_during_backward():
    tape = mirror(
        "from torch.utils.checkpoint import checkpoint\nx = param([1.0, 2.0])\n"
        "y = checkpoint(lambda v: (v * 2).sin(), x, use_reentrant=False)\ny.sum().backward()"
    )
    phases = [(o.op, o.phase) for o in tape.ops if o.op in ("mul", "sin")]
    assert phases == [("mul", "forward"), ("sin", "forward"), ("mul", "backward")]


def test_a_loop_whose_length_depends_on_the_data_and_recursion():
    tape = mirror(
        "def power(v, n):\n    return v if n == 1 else power(v, n - 1) * v\n"
        "def terms(v):\n    for i in range(3):\n        yield v * i\n"
        "x = param(1.5)\ny = x\nwhile y < 10:\n    y = y * x\nz = power(x, 4) + sum(terms(x))\n"
        "(y + z).backward()\nprint(y, z)"
    )
    assert ops(tape).count("mul") == 5 + 3 + 3


# Exceptions


def test_an_exception_in_forward_keeps_what_came_before():
    tape = mirror(
        "class Net(nn.Module):\n    def forward(self, x):\n        h = x * 2\n"
        "        return h.view(7)\nnet = Net()\nx = param([1.0, 2.0])\ny = net(x)"
    )
    assert (tape.error.type, tape.error.place.line) == ("RuntimeError", 4)
    assert ops(tape) == ["mul"]
    kinds = [e.kind for e in tape.events]
    assert kinds[-1] == "error"
    assert kinds.count("enter") == kinds.count("leave") == 1


def test_an_exception_in_a_functions_own_backward_names_its_line_and_node():
    tape = mirror(
        "class Bad(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        return x * 1\n    @staticmethod\n    def backward(ctx, g):\n"
        "        raise ValueError('mine')\nx = param(1.0)\n(Bad.apply(x * 2) * 3).backward()"
    )
    assert (tape.error.type, tape.error.place.line) == ("ValueError", 7)
    assert "BadBackward" in tape.error.hint
    assert ran(tape) == ["MulBackward0"]
    assert gradient(tape, "x") is None


def test_hooks_of_every_kind_are_called_as_ever():
    mirror(
        "net = nn.Linear(2, 1)\nnet.register_forward_pre_hook(lambda m, i: (i[0] * 2,))\n"
        "net.register_forward_hook(lambda m, i, o: o * 3)\n"
        "net.register_full_backward_hook(lambda m, gi, go: print('backward', gi[0], go[0]))\n"
        "net.weight.register_hook(lambda g: g.clamp(max=0.5))\n"
        "net.bias.register_post_accumulate_grad_hook(lambda p: print('after', p.grad))\n"
        "x = param([[1.0, 2.0]])\ny = net(x)\ny.retain_grad()\n"
        "y.grad_fn.register_prehook(lambda g: print('node', g))\ny.sum().backward()\nprint(y.grad)"
    )


# Types and devices


def test_moves_between_types_are_ops_with_gradients():
    tape = mirror(
        "x = param([1.5, 2.5])\nd = x.double()\nh = d.to(torch.bfloat16)\ns = x.to('cpu')\n"
        "c = torch.complex(x, x)\n(h.float().sum() + (c * c.conj()).real.sum()).backward()\n"
        "i = x.long()\nb = x > 2"
    )
    made = {v.name: v for v in tape.values}
    assert [made[n].dtype for n in "dhcib"] == ["float64", "bfloat16", "complex64", "int64", "bool"]
    assert ops(tape)[:2] == ["double", "to"]
    assert made["i"].node is None
    x = made["x"].id
    assert {tape.snapshots[e.gradient].dtype for e in tape.edges if e.target == x} == {"float32"}


@pytest.mark.parametrize(
    "leaf",
    [
        "torch.empty(0, 3, requires_grad=True)",
        "torch.ones(1, 2, 1, 2, 1, 2, requires_grad=True)",
        "tensor([1 + 2j, complex('nan')], requires_grad=True)",
        "tensor([1.5, -math.inf], dtype=torch.bfloat16, requires_grad=True)",
        "tensor([-0.0, 1e-45, 3e38], requires_grad=True)",
        "tensor(5e-324, dtype=torch.float64, requires_grad=True)",
    ],
)
def test_leaves_of_every_kind(leaf):
    tape = mirror(f"x = {leaf}\ny = (x * 2).sum()\n(y.real if y.is_complex() else y).backward()")
    assert tape.leaves[0].grad is not None


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_functional_transforms_compute_as_ever():
    mirror(
        "from torch.func import functional_call, grad, hessian, jacrev, stack_module_state, vmap\n"
        "nets = [nn.Linear(2, 1) for _ in range(3)]\nparams, _ = stack_module_state(nets)\n"
        "x = torch.ones(4, 2)\n"
        "out = vmap(lambda p, v: functional_call(nets[0], p, (v,)), in_dims=(0, None))(params, x)\n"
        "out.sum().backward()\nprint(out.shape, params['weight'].grad)\n"
        "f = lambda v: (v**3).sum()\nprint(grad(f)(x[0]), hessian(f)(x[0]), jacrev(f)(x[0]))"
    )


def test_seeded_randomness_is_drawn_in_the_same_order():
    tape = mirror(
        "torch.manual_seed(3)\nx = torch.randn(3, requires_grad=True)\ny = F.dropout(x, 0.5)\n"
        "z = torch.bernoulli(torch.full((3,), 0.5)) + torch.rand_like(x)\n"
        "print(torch.randperm(5), torch.multinomial(torch.ones(4), 2), np.random.rand())\n"
        "(y * z).sum().backward()"
    )
    np.testing.assert_array_equal(gradient(tape, "x"), gradient(tape, "x"))


def test_a_program_may_break_the_indices_of_its_own_sparse_tensor():
    tape = mirror(
        "import warnings\nwarnings.simplefilter('ignore')  # Sparse tensors are in beta.\n"
        "def work():\n    c = torch.eye(3).to_sparse_csr()\n    c.col_indices()[0] = 99\n"
        "    print(c.values())\n    return (c * 2).to_dense()\nwork()"
    )
    assert tape.error.place.line == 7
