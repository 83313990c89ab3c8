"""A recorded program prints, computes and raises what it would without the recorder."""

import numpy as np
import pytest
import torch

from gradscribe.engine.protocol import check_tape
from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.run.run import execute, last_run, param, record
from tests.engine.mirror import gradient, mirror, ops, sums

PROGRAMS = {
    "polynomial with hand-written updates": """
import math
x = torch.linspace(-math.pi, math.pi, 50)
y = torch.sin(x)
a, b = torch.randn((), requires_grad=True), torch.randn((), requires_grad=True)
for t in range(30):
    loss = (a + b * x - y).pow(2).sum()
    if t % 10 == 9:
        print(t, loss.item())
    loss.backward()
    with torch.no_grad():
        a -= 1e-3 * a.grad
        b -= 1e-3 * b.grad
        a.grad = None
        b.grad = None
""",
    "convolution, batch norm, dropout and Adam": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.norm = nn.BatchNorm2d(2)
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(8, 3)
    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 3)
        return self.out(self.drop(x.flatten(1)))
torch.manual_seed(1)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
x, y = torch.randn(4, 1, 8, 8), torch.tensor([0, 1, 2, 0])
for _ in range(3):
    opt.zero_grad()
    loss = nn.CrossEntropyLoss()(net(x), y)
    loss.backward()
    opt.step()
    print(loss)
net.eval()
with torch.no_grad():
    print(net(x).argmax(1), net.norm.running_mean)
""",
    "the transformer's fast path": """
layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
x = torch.randn(2, 4, 8)
layer(x).sum().backward()
layer.eval()
with torch.no_grad():
    print(layer(x).sum())
""",
    "LSTM": """
lstm, head = nn.LSTM(3, 4, num_layers=2, batch_first=True), nn.Linear(4, 1)
out, (h, c) = lstm(torch.randn(2, 5, 3))
head(out[:, -1]).pow(2).mean().backward()
""",
    "a vector and a loop that depends on its values": """
x = tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 2
while y.norm() < 100:
    y = y * 2
y.backward(tensor([0.1, 1.0, 0.0001]))
print(x.grad)
""",
    "second derivatives": """
x = tensor([1.0, 2.0], requires_grad=True)
(g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
(g**2).sum().backward()
print(g, x.grad)
""",
    "in-place on views": """
x = tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
y = x.clone()
y[1:3] = y[1:3] * 10
v = y.view(2, 2)
v.mul_(3)
y += 1
(v[0] * y[2:]).sum().backward()
""",
    "boolean masks and split": """
x = tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
x[x > 2].sum().backward()
a, b = x.split(2)
(a * b).sum().backward()
""",
    "tensor hooks": """
x = tensor(3.0, requires_grad=True)
x.register_hook(lambda g: g * 10)
y = x * 2
y.register_hook(lambda g: g + 1)
(y**2).backward()
""",
    "checkpointing": """
from torch.utils.checkpoint import checkpoint
w = torch.randn(3, 3, requires_grad=True)
f = lambda x: torch.relu(x @ w).sum()
checkpoint(f, torch.randn(2, 3), use_reentrant=False).backward()
checkpoint(f, torch.randn(2, 3, requires_grad=True), use_reentrant=True).backward()
""",
    "torch.func": """
from torch.func import grad, jacrev, vmap
x = torch.arange(3.0)
print(grad(lambda x: (x**3).sum())(x), jacrev(lambda a: a**2)(x))
w = torch.randn(3, requires_grad=True)
vmap(lambda a: (a * w).sum())(torch.eye(3)).sum().backward()
""",
    "LBFGS with a closure": """
w = torch.randn(3, requires_grad=True)
opt = torch.optim.LBFGS([w])
def closure():
    opt.zero_grad()
    loss = ((w - 1) ** 2).sum()
    loss.backward()
    return loss
opt.step(closure)
""",
    "embedding, momentum, schedule, clipping": """
emb, lin = nn.Embedding(5, 3), nn.Linear(3, 2)
opt = optim.SGD([*emb.parameters(), *lin.parameters()], lr=0.1, momentum=0.9)
schedule = optim.lr_scheduler.StepLR(opt, 2)
for _ in range(4):
    opt.zero_grad(set_to_none=False)
    loss = F.cross_entropy(lin(emb(tensor([1, 2, 1]))), tensor([0, 1, 1]))
    loss.backward()
    nn.utils.clip_grad_norm_(lin.parameters(), 1.0)
    opt.step()
    schedule.step()
    print(loss.item(), schedule.get_last_lr())
""",
    "numpy shares memory": """
import numpy
a = numpy.ones(3)
t = torch.from_numpy(a)
a[0] = 999
x = tensor([1.0, 2.0, 3.0], requires_grad=True)
(x * t).sum().backward()
a[1] = 7
""",
    "autocast": """
x = param([[1.0, 2.0], [3.0, 4.0]])
with torch.autocast("cpu", dtype=torch.bfloat16):
    q = x @ x
q.float().sum().backward()
""",
    "a custom function": """
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2
x = param([1.0, -2.0])
Cube.apply(x * 2).sum().backward()
""",
}

FAILING = {
    "in-place change of a saved tensor": "x = param(3.0)\ny = x.exp()\ny += 1\ny.backward()",
    "backward on a vector": "x = param([1.0, 2.0])\ny = x * 2\ny.backward()",
    "backward twice": "x = param(3.0)\ny = x**2\ny.backward()\ny.backward()",
    "shape mismatch": "a = torch.randn(2, 3)\nb = a @ torch.randn(4, 5)",
    "in-place on a leaf": "x = param(1.0)\nx.mul_(2)",
    "numpy of a tracked tensor": "x = param(1.0)\nx.numpy()",
    "nothing requires a gradient": "x = tensor(3.0)\n(x * 2).backward()",
    "gradient that is None": "x = param(1.0)\nwith torch.no_grad():\n    x -= 0.1 * x.grad",
    "name error after an op": "x = param(1.0)\ny = x * 2\nprint(y)\nzz",
    "the user's own exception in backward": (
        "x = param(1.0)\ndef bad(g):\n    raise ValueError('mine')\n"
        "x.register_hook(bad)\n(x * 2).backward()"
    ),
}


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_recording_changes_nothing(source):
    assert mirror(source).ops


@pytest.mark.parametrize("source", FAILING.values(), ids=FAILING)
def test_an_error_is_torchs_own_and_keeps_what_was_recorded(source):
    tape = mirror(source)
    assert tape.error.place.line > 0
    assert tape.events[-1].kind == "error"


def test_two_paths_to_x_add_up_to_64():
    tape = mirror(
        "x = param(2.0)\ny = param(3.0)\nz = x * y\nw = z + x\nloss = w**2\nloss.backward()"
    )
    assert ops(tape) == ["mul", "add", "pow"]
    assert gradient(tape, "x") == 64
    assert gradient(tape, "y") == 32
    x = next(v.id for v in tape.values if v.name == "x")
    shares = [tape.snapshots[e.gradient].item() for e in tape.edges if e.target == x]
    assert sorted(shares) == [16, 48]
    assert sums(tape) == 3


def test_a_seed_belongs_to_the_run():
    source = "print(torch.rand(2), np.random.rand())"
    assert record(source, seed=1).stdout == record(source, seed=1).stdout
    assert record(source, seed=1).stdout != record(source, seed=2).stdout


def test_settings_of_one_run_do_not_reach_the_next():
    record(
        "torch.set_default_dtype(torch.float64)\ntorch.set_printoptions(precision=1)\n"
        "torch.set_grad_enabled(False)\ntorch.autograd.set_detect_anomaly(True)"
    )
    tape = record("x = param(1 / 3)\ny = x * 2\nprint(y)\ny.backward()")
    assert tape.status == "ok"
    assert tape.stdout == "tensor(0.6667, grad_fn=<MulBackward0>)\n"
    assert not torch.is_anomaly_enabled()


def test_torch_itself_is_left_as_it_was():
    before = (
        torch.autograd._engine_run_backward,
        torch.autograd.graph._engine_run_backward,
        torch.autograd.Function.__dict__["apply"],
        torch.optim.Optimizer.zero_grad,
        torch.overrides.has_torch_function,
    )
    record("x = param(1.0)\n(x * 2).backward()\n1 / 0")
    after = (
        torch.autograd._engine_run_backward,
        torch.autograd.graph._engine_run_backward,
        torch.autograd.Function.__dict__["apply"],
        torch.optim.Optimizer.zero_grad,
        torch.overrides.has_torch_function,
    )
    assert before == after
    assert torch.overrides._get_current_function_mode() is None


def test_an_endless_loop_ends_at_its_time_limit_with_its_line():
    tape = record("x = param(1.0)\nwhile True:\n    y = x * 2", timeout=3.0, event_limit=2_000)
    assert tape.status == "timeout"
    assert tape.error.place.line in (2, 3)
    assert tape.ops
    assert "2,000" in tape.truncated


def test_past_the_event_limit_the_program_runs_on_and_its_results_are_whole():
    source = "x = param(0.0)\nfor i in range(100):\n    (x * i).backward()\nprint(x.grad)"
    tape = record(source, event_limit=50)
    assert tape.truncated
    assert tape.status == "ok"
    assert tape.stdout == "tensor(4950.)\n"
    assert gradient(tape, "x") == 4950


def test_printing_without_end_costs_nothing_of_the_graph():
    source = "for i in range(30_000):\n    print(i)\nx = param(3.0)\ny = x * 2\ny.backward()"
    tape = record(source, event_limit=8_000)
    assert [op.op for op in tape.ops] == ["mul"]
    assert gradient(tape, "x") == 2
    assert tape.prints == tuple(map(str, range(2_000)))
    assert tape.stdout.count("\n") == 30_000
    assert tape.truncated.startswith("28,000 printed lines only in the output")
    assert not any(check_tape.find_flaws(tape))


def test_sys_exit_is_an_end_and_not_an_error():
    assert record("import sys\nprint(1)\nsys.exit()").status == "ok"
    assert record("raise SystemExit(3)").status == "error"


def test_printed_pieces_arrive_as_they_come_and_lines_stand_on_the_tape():
    pieces = []
    tape = execute(Run(1, "print('a', 'b')\nprint('c', end='')\nprint()"), pieces.append)
    assert "".join(pieces) == tape.stdout == "a b\nc\n"
    assert tape.prints == ("a b", "c")
    assert [e.line for e in tape.events if e.kind == "print"] == [1, 3]


def test_input_finds_nothing_to_read():
    assert record("input()").error.type == "EOFError"


def test_param_makes_a_float_leaf_that_requires_a_gradient():
    leaf = param(3)
    assert leaf.is_leaf
    assert leaf.requires_grad
    assert leaf.dtype == torch.get_default_dtype()
    again = param(torch.arange(3))
    assert again.is_leaf
    assert again.dtype == torch.float32
    assert param(torch.ones(1, dtype=torch.float64)).dtype == torch.float64
    assert param(1 + 2j).item() == 1 + 2j
    assert param([1, 2], dtype=torch.float64).dtype == torch.float64


def test_the_last_run_stays_at_hand():
    tape = record("x = param(1.0)")
    from gradscribe.engine.run import run

    assert run.last_run.tape is tape
    assert last_run is None or last_run.tape is not None


def test_values_written_behind_autograds_back_are_the_last_ones_on_the_tape():
    tape = mirror("x = param([1.0, 2.0])\ny = x * 2\nx.data[0] = 9.0")
    x = next(leaf for leaf in tape.leaves if leaf.name == "x")
    value = next(v for v in tape.values if v.id == x.value)
    np.testing.assert_array_equal(tape.snapshots[value.snapshot].array(), [9.0, 2.0])


def test_a_warning_is_told_with_the_line_that_caused_it():
    tape = record("x = torch.ones(3, 1)\nloss = F.mse_loss(x, torch.ones(3))\nprint('on')")
    assert tape.stdout == "on\n"
    assert tape.stderr.startswith("line 2: UserWarning: Using a target size")


def test_a_documents_own_classes_can_be_saved_and_loaded():
    mirror(
        "import copy, io, pickle\n"
        "class Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 1)\n"
        "    def forward(self, x):\n        return self.fc(x)\n"
        "net = copy.deepcopy(Net())\n"
        "print(list(net.state_dict()))\n"
    )
    tape = record(
        "import pickle\nclass Point:\n    x = 1\n"
        "p = pickle.loads(pickle.dumps(Point()))\nprint(p.x)"
    )
    assert tape.stdout == "1\n"


def test_ten_thousand_ops_are_frozen_in_a_time_that_grows_with_their_number():
    import time

    def seconds(n):
        source = f"x = param(1.0)\nfor i in range({n}):\n    y = x * 2 + i"
        begin = time.process_time()
        assert len(record(source).ops) == 2 * n
        return time.process_time() - begin

    seconds(100)
    assert seconds(4_000) < 40 * seconds(500)


def test_an_error_stands_at_its_line_among_the_events():
    assert record("x = param(1.0)\n1 / 0").events[-1].line == 2


def test_a_caught_failure_of_a_pass_is_not_blamed_for_a_later_error():
    tape = mirror(
        "x = param(3.0)\ny = x.exp()\ny += 1\n"
        "try:\n    y.backward()\nexcept RuntimeError:\n    pass\n"
        "torch.ones(2) @ torch.ones(3)"
    )
    assert "ExpBackward0" not in tape.error.hint


def test_threads_belong_to_the_run():
    before = torch.get_num_threads()
    tape = execute(Run(1, "print(torch.get_num_threads())\ntorch.set_num_threads(4)", threads=3))
    assert tape.stdout == "3\n"
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("body", ["raise SystemExit", "while True: pass"])
def test_an_error_whose_text_cannot_be_had_is_placed_all_the_same(body):
    source = f"class E(Exception):\n    def __str__(self):\n        {body}\nraise E"
    tape = record(source)
    assert (tape.status, tape.error.type, tape.error.place.line) == ("error", "E", 4)
