"""Saved tensors of each node: which, how big, and from when to when."""

import torch

from tests.engine.mirror import mirror

READS_OVERWRITTEN = hasattr(torch._C._autograd.SavedTensor, "data")
"""True if torch reads saved tensors that their own op overwrote; torch 2.6 does not."""


def node(tape, name):
    return next(n for n in tape.nodes if n.name == name)


def called(tape):
    return {v.id: v.name for v in tape.values}


def test_a_product_keeps_both_factors():
    tape = mirror("x, y = param([1.0, 2.0]), param([3.0, 4.0])\nz = (x * y).sum()\nz.backward()")
    kept = {s.name: s for s in node(tape, "MulBackward0").kept}
    assert called(tape)[kept["other"].value] == "y"
    assert called(tape)[kept["self"].value] == "x"
    assert kept["self"].size == 8
    assert kept["self"].shape == (2,)


def test_exp_keeps_its_result_and_a_sum_nothing():
    tape = mirror("x = param([1.0, 2.0])\ny = x.exp()\nz = y.sum()\nz.backward()")
    (kept,) = node(tape, "ExpBackward0").kept
    assert called(tape)[kept.value] == "y"
    assert node(tape, "SumBackward0").kept == ()


def test_two_nodes_that_keep_one_tensor_share_its_storage():
    tape = mirror("x = param([1.0, 2.0])\ny = x.exp()\nz = (y * y).sum()\nz.backward()")
    storages = [s.storage for n in tape.nodes for s in n.kept]
    assert len(set(storages)) == 1
    assert len(storages) == 3


def test_a_pass_frees_what_it_used_and_retaining_does_not():
    tape = mirror("x = param(2.0)\ny = x**2\ny.backward()")
    power = node(tape, "PowBackward0")
    made, ran = [
        next(i for i, e in enumerate(tape.events) if e.kind == kind) for kind in ("op", "node")
    ]
    assert (power.made, power.freed) == (made, ran + 1)
    tape = mirror("x = param(2.0)\ny = x**2\ny.backward(retain_graph=True)")
    assert node(tape, "PowBackward0").freed is None


def test_a_graph_that_is_dropped_is_freed_when_its_variable_is_bound_again():
    tape = mirror("x = param(2.0)\ny = x.exp()\ny = x.sin()\nz = x * 1")
    at = [i for i, e in enumerate(tape.events) if e.kind == "op"]
    assert node(tape, "ExpBackward0").freed == at[1] + 1
    assert node(tape, "SinBackward0").freed is None


def test_a_custom_functions_tensors():
    tape = mirror(
        "class Cube(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n"
        "        return x**3\n"
        "    @staticmethod\n    def backward(ctx, g):\n"
        "        return g * 3 * ctx.saved_tensors[0]**2\n"
        "x = param([2.0])\nCube.apply(x).backward()"
    )
    (kept,) = node(tape, "CubeBackward").kept
    assert called(tape)[kept.value] == "x"


def test_looking_does_not_call_the_users_own_packing():
    tape = mirror(
        "def pack(t):\n    print('pack')\n    return t\n"
        "def unpack(t):\n    print('unpack')\n    return t\n"
        "x = param(2.0)\n"
        "with torch.autograd.graph.saved_tensors_hooks(pack, unpack):\n    y = x.exp()\n"
        "y.backward()"
    )
    assert tape.stdout == "pack\nunpack\n"


def test_sizes_are_those_torch_would_save():
    sizes = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: sizes.append(t.numel() * t.element_size()) or t, lambda t: t
    ):
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
        net(torch.ones(5, 3)).pow(2).mean()
    tape = mirror(
        "net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))\n"
        "net(torch.ones(5, 3)).pow(2).mean()"
    )
    assert sorted(s.size for n in tape.nodes for s in n.kept) == sorted(sizes)


def test_an_op_that_writes_over_what_it_saves_is_recorded_like_any_other():
    for write in (
        "y *= y",
        "y.div_(y.sin()).div_(y)",
        "y.pow_(y)",
        "y.lerp_(y, y)",
        "y[0] *= y[1]",
    ):
        tape = mirror(f"x = param([2.0, 3.0])\ny = x * 1\n{write}\nprint(y)\ny.sum().backward()")
        kept = [s for n in tape.nodes if n.name != "CopySlices" for s in n.kept]
        assert kept or not READS_OVERWRITTEN
        assert all(s.size in (4, 8) for s in kept)
    tape = mirror("y = param([2.0]) * 1\ny *= y")
    both = [n for n in tape.nodes if n.name == "MulBackward0" and len(n.kept) == 2]
    assert [[s.name for s in n.kept] for n in both] == [["other", "self"]] * READS_OVERWRITTEN


def test_a_custom_function_that_changes_what_it_saved():
    mirror(
        "class Twice(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x, y):\n        ctx.save_for_backward(x, y)\n"
        "        y.mul_(2)\n        return x * y\n"
        "    @staticmethod\n    def backward(ctx, g):\n"
        "        return g * ctx.saved_tensors[1], None\n"
        "z = Twice.apply(param([2.0]), torch.ones(1))\nprint(z)\nz.backward()"
    )
