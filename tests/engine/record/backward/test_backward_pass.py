"""Execution order, shares along edges, accumulation, several passes, hooks and failures."""

import numpy as np

from tests.engine.mirror import gradient, mirror, numbers


def leaf(tape, name):
    return next(v.id for v in tape.values if v.name == name and v.is_leaf)


def shares(tape, name):
    target = leaf(tape, name)
    return [tape.snapshots[e.gradient].item() for e in tape.edges if e.target == target]


def ran(tape):
    called = {n.id: n.name for n in tape.nodes}
    return [called[e.node] for e in tape.executions]


def test_nodes_run_in_reverse_and_each_hands_on_its_share():
    tape = mirror("x, y, z = param(2.0), param(3.0), param(4.0)\nL = (x + y) * z\nL.backward()")
    assert ran(tape) == ["MulBackward0", "AddBackward0"]
    assert (shares(tape, "x"), shares(tape, "y"), shares(tape, "z")) == ([4], [4], [5])
    seed = tape.edges[0]
    assert seed.execution is None
    assert tape.snapshots[seed.gradient].item() == 1


def test_the_square_of_a_value_sends_two_shares():
    tape = mirror("x = param(3.0)\ny = x * x\ny.backward()")
    assert shares(tape, "x") == [3, 3]
    (added,) = tape.accumulations
    assert added.before is None
    assert tape.snapshots[added.sent].item() == tape.snapshots[added.after].item() == 6


def test_a_second_pass_adds_to_the_first():
    tape = mirror("x = param(2.0)\ny = x**2\ny.backward(retain_graph=True)\ny.backward()")
    first, second = tape.accumulations
    assert numbers(tape, second.before) == numbers(tape, first.after) == 4
    assert numbers(tape, second.after) == 8
    runs = list(tape.executions)
    assert [e.run for e in runs] == [0, 1]
    assert runs[0].node == runs[1].node == runs[0].id != runs[1].id
    assert tape.passes[0].retain_graph
    assert not tape.passes[1].retain_graph


def test_a_vectors_own_seed_is_on_the_tape():
    tape = mirror("x = param([1.0, 2.0])\n(x**2).backward(gradient=tensor([1.0, 0.1]))")
    (seed,) = tape.passes[0].seeds
    np.testing.assert_array_equal(numbers(tape, seed), np.float32([1.0, 0.1]))


def test_a_hook_that_changes_a_gradient_is_told_apart_from_a_sum():
    tape = mirror("x = param(3.0)\ny = x * 2\ny.register_hook(lambda g: g * 10)\n(y**2).backward()")
    called = {n.id: n.name for n in tape.nodes}
    assert {called[e.node]: e.hooked for e in tape.executions} == {
        "PowBackward0": False,
        "MulBackward0": True,
    }
    assert gradient(tape, "x") == 240


def test_grad_leaves_the_leaf_alone_and_its_edges_are_recorded():
    tape = mirror("x = param(3.0)\n(g,) = torch.autograd.grad(x**3, x)\nprint(g)")
    assert tape.passes[0].kind == "grad"
    assert shares(tape, "x") == [27]
    assert tape.accumulations == ()
    assert gradient(tape, "x") is None


def test_nodes_made_by_a_backward_pass_run_in_the_next():
    tape = mirror(
        "x = param(2.0)\n(g,) = torch.autograd.grad(x**3, x, create_graph=True)\ng.backward()"
    )
    assert gradient(tape, "x") == 12
    assert {e.run for e in tape.executions} == {0, 1}


def test_a_leaf_may_be_the_root_itself():
    tape = mirror("x = param(3.0)\nx.backward()\nx.backward(tensor(2.0))")
    assert gradient(tape, "x") == 3
    assert len(tape.accumulations) == 2


def test_only_the_inputs_asked_for_accumulate():
    tape = mirror("x, w = param(2.0), param(3.0)\n(w * x).backward(inputs=[w])")
    assert len(tape.accumulations) == 1
    assert gradient(tape, "x") is None
    assert gradient(tape, "w") == 2


def test_a_failing_node_is_named_in_the_hint():
    tape = mirror("x = param(3.0)\ny = x.exp()\ny += 1\nz = y * 2\nz.backward()")
    assert "ExpBackward0" in tape.error.hint
    assert "line 2" in tape.error.hint
    assert tape.error.place.line == 5


def test_a_failure_that_is_caught_does_not_confuse_the_next_pass():
    tape = mirror(
        "x = param(3.0)\ny = x.exp()\ny += 1\n"
        "try:\n    y.backward()\nexcept RuntimeError:\n    pass\n"
        "z = x * 2\nz.backward()"
    )
    assert tape.ops[-1].phase == "forward"
    assert gradient(tape, "x") == 2


def test_leaf_updates_between_passes_lead_edges_to_the_version_that_was_used():
    tape = mirror(
        "w = param(1.0)\nfor _ in range(2):\n    (w * w).backward()\n"
        "    with torch.no_grad():\n        w -= 0.5 * w.grad\n    w.grad = None"
    )
    values = {v.id: v for v in tape.values}
    used = [values[a.leaf] for a in tape.accumulations]
    assert [tape.snapshots[v.snapshot].item() for v in used] == [1, 0]
    assert [v.version for v in used] == [0, 1]


def test_gradients_in_other_dtypes_and_sparse_ones():
    tape = mirror(
        "e = nn.Embedding(4, 2, sparse=True)\ne(tensor([1, 1])).sum().backward()\n"
        "h = param(2.0, dtype=torch.bfloat16)\n(h * h).backward()"
    )
    np.testing.assert_array_equal(
        gradient(tape, "e.weight"), np.float32([[0, 0], [2, 2], [0, 0], [0, 0]])
    )
    assert gradient(tape, "h") == 4


CUBE_TWICE = """\
x = param(3.0)
y = x ** 3
(dy,) = torch.autograd.grad(y, x, create_graph=True)
(d2y,) = torch.autograd.grad(dy, x)
"""


def test_a_pass_lists_what_was_asked_for_and_what_it_returned():
    tape = mirror(CUBE_TWICE)
    values = {v.id: v for v in tape.values}
    for run, root, result, number in ((0, "y", "dy", 27.0), (1, "dy", "d2y", 18.0)):
        row = tape.passes[run]
        assert values[row.roots[0]].name == root
        assert row.inputs == ((leaf(tape, "x"), 0),)
        (got,) = (values[value] for value in row.results)
        assert (got.name, got.role) == (result, "result")
        assert numbers(tape, got.snapshot) == number


def test_an_inner_value_that_was_asked_for_is_named_by_its_node():
    tape = mirror("a = param(2.0)\nb = a ** 2\nc = b ** 3\n(db,) = torch.autograd.grad(c, b)")
    b = next(v for v in tape.values if v.name == "b")
    assert tape.passes[0].inputs == ((b.node, b.output_nr),)


def test_a_pass_that_stores_its_gradients_returns_none():
    tape = mirror("x = param(3.0)\n(x ** 2).backward()")
    assert tape.passes[0].inputs == tape.passes[0].results == ()


def test_the_nodes_that_a_pass_makes_are_recorded_while_it_runs():
    tape = mirror(CUBE_TWICE.rpartition("(d2y")[0])
    start = next(at for at, e in enumerate(tape.events) if e.kind == "backward")
    stop = next(at for at, e in enumerate(tape.events) if e.kind == "end")
    made = [node for node in tape.nodes if node.op is None]
    assert [node.name for node in made] == ["MulBackward0", "MulBackward1", "PowBackward0"]
    assert all(start < node.made <= stop and any(node.next) for node in made)


def test_a_gradient_that_can_be_differentiated_is_a_value_from_its_node_on():
    tape = mirror(CUBE_TWICE)
    dy = next(v for v in tape.values if v.name == "dy")
    events = [at for at, e in enumerate(tape.events) if e.kind == "leaf" and e.ref == dy.id]
    ends = [at for at, e in enumerate(tape.events) if e.kind == "end"]
    assert events[0] < ends[0] < events[1]
    assert tape.events[events[1]].line == 3


def test_without_create_graph_a_pass_makes_no_values_but_what_it_returns():
    tape = mirror("x = param(3.0)\ny = (x ** 2).exp()\n(dy,) = torch.autograd.grad(y, x)")
    assert [v.name for v in tape.values if v.maker == "grad"] == ["dy"]


def test_several_results_are_named_in_their_order_inside_a_function():
    tape = mirror(
        "def step(w, b):\n"
        "    gw, gb = torch.autograd.grad(w ** 2 * b, (w, b), create_graph=True)\n"
        "    return gw * gb\n"
        "out = step(param(2.0), param(3.0))\nout.backward()"
    )
    values = {v.id: v for v in tape.values}
    named = {values[v].name: numbers(tape, values[v].snapshot) for v in tape.passes[0].results}
    assert named == {"gw": 12.0, "gb": 4.0}


def test_the_numbers_inside_torch_func_grad_are_recorded():
    tape = mirror("x = torch.tensor(3.0)\ng = torch.func.grad(lambda t: t ** 3)(x)")
    made = [numbers(tape, v.snapshot) for v in tape.values if v.op is not None]
    assert 27.0 in made
    assert [numbers(tape, e.gradient) for e in tape.edges if e.execution is not None] == [27.0]
