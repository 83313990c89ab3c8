"""Every node belongs to the op that made it and leads where torch says."""

from torch.autograd.function import BackwardCFunction

from gradscribe.engine.record.backward import nodes
from tests.engine.mirror import mirror


def test_next_functions_are_torchs():
    tape = mirror("x, y = param(2.0), param(3.0)\nz = x * y\nw = z + x\nw.backward()")
    nodes = {n.name: n for n in tape.nodes}
    values = {v.name: v.id for v in tape.values}
    assert nodes["MulBackward0"].next == ((values["x"], 0), (values["y"], 0))
    assert nodes["AddBackward0"].next == ((nodes["MulBackward0"].id, 0), (values["x"], 0))


def test_a_constant_operand_has_no_edge():
    tape = mirror("x = param(2.0)\nz = x * tensor(5.0)\nz.backward()")
    assert tape.nodes[0].next[1] is None


def test_outputs_of_one_node_are_told_apart():
    tape = mirror("x = param([1.0, 2.0, 3.0])\na, b, c = x.unbind()\n(a * c).backward()")
    mul = next(n for n in tape.nodes if n.name == "MulBackward0")
    assert [nr for _, nr in mul.next] == [0, 2]


def test_nodes_know_what_they_saved():
    tape = mirror("x = param(2.0)\ny = x.exp()\ny.backward()")
    assert tape.nodes[0].saved == ("result",)


def test_a_graph_built_before_may_run_after_its_op_was_not_seen():
    tape = mirror(
        "import _thread\nx, made, done = param(2.0), [], _thread.allocate_lock()\n"
        "done.acquire()\n"
        "def work():\n    made.append(x**2)\n    done.release()\n"
        "_thread.start_new_thread(work, ())\ndone.acquire()\n"
        "made[0].backward()"
    )
    assert [n.op for n in tape.nodes] == [None]
    assert len(tape.executions) == 1


def test_a_view_of_what_was_written_to_has_a_node_of_the_op_that_wrote():
    tape = mirror(
        "base = torch.ones(6, requires_grad=True) * 1\nview = base[::2]\nbase.mul_(3)\n"
        "y = view * 2\nprint(view.grad_fn.name())\nbase[:3].zero_()\nz = view + 1\n"
        "(y.sum() + z.sum()).backward()"
    )
    assert tape.stdout == "AsStridedBackward0\n"
    lines = {n.id: tape.ops[n.op].place.line for n in tape.nodes if n.op is not None}
    ran = {n.id: n.name for n in tape.nodes if any(e.node == n.id for e in tape.executions)}
    assert ran.keys() <= lines.keys()
    assert [lines[i] for i, name in ran.items() if name == "AsStridedBackward0"] == [3, 6]
    for op in tape.ops:
        assert all(lines[i] == op.place.line for i in op.nodes)


def test_the_last_value_of_a_view_belongs_to_the_last_write():
    tape = mirror("base = param([1.0, 2.0, 3.0]) * 1\nview = base[:2]\nbase.mul_(3)\nbase.zero_()")
    last = [v for v in tape.values if v.name == "view"][-1]
    assert tape.ops[last.op].op == "zero_"


CUSTOM = """
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3
    @staticmethod
    def backward(ctx, grad):
        return 3 * ctx.saved_tensors[0] ** 2 * grad
x = param(2.0)
y = (Cube.apply(x) * x).exp()
y.backward()
"""


def test_what_a_kind_of_node_saves_is_told_in_every_run_and_no_class_of_a_program_is_kept():
    first, second = mirror(CUSTOM), mirror(CUSTOM)
    for tape in (first, second):
        saved = {n.name: n.saved for n in tape.nodes}
        assert saved["ExpBackward0"] == ("result",)
        assert saved["MulBackward0"] == ("other", "self")
        kept = {n.name: [k.name for k in n.kept] for n in tape.nodes}
        assert len(kept["CubeBackward"]) == 1
    assert not any(issubclass(kind, BackwardCFunction) for kind in nodes._kinds)
