"""The program's own threads: recorded like the rest of it, with plain torch's numbers."""

import threading

import torch

from gradscribe.engine.record.recorder import Recorder
from gradscribe.engine.run.run import record
from tests.engine.mirror import mirror, numbers, ops


def test_an_op_in_a_thread_is_recorded_with_its_line_and_name():
    tape = mirror(
        "import threading\nx, made = param(3.0), []\n"
        "def work():\n    y = x * 2\n    made.append(y)\n"
        "t = threading.Thread(target=work)\nt.start(); t.join()\nmade[0].backward()"
    )
    assert ops(tape) == ["mul"]
    assert tape.ops[0].place.line == 4
    assert {v.id: v.name for v in tape.values}[tape.ops[0].outputs[0]] == "y"
    assert [n.op for n in tape.nodes] == [0]


def test_every_kind_of_thread():
    tape = mirror(
        "import threading\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "x, done = torch.arange(3.0), []\n"
        "class Own(threading.Thread):\n    def run(self):\n        done.append(x + 1)\n"
        "t = Own(); t.start(); t.join()\n"
        "t = threading.Timer(0, lambda: done.append(x - 1)); t.start(); t.join()\n"
        "with ThreadPoolExecutor(2) as pool:\n"
        "    done += pool.map(lambda i: x * i, range(4))\n"
        "print([d.tolist() for d in done])"
    )
    assert sorted(ops(tape)) == ["add", *["mul"] * 4, "sub"]


def test_threads_at_the_same_time_compute_and_are_told_as_alone():
    tape = mirror(
        "import threading\n"
        "nets = [nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)) for _ in range(4)]\n"
        "data, barrier = torch.randn(5, 4), threading.Barrier(4)\n"
        "def work(net):\n"
        "    barrier.wait()\n"
        "    for _ in range(5):\n"
        "        net(data).pow(2).mean().backward()\n"
        "threads = [threading.Thread(target=work, args=(n,)) for n in nets]\n"
        "for t in threads: t.start()\n"
        "for t in threads: t.join()\n"
        "print([p.grad.sum().item() for n in nets for p in n.parameters()])"
    )
    # Four threads, five rounds of five ops and four module calls, and the sums that are printed.
    assert len(tape.ops) == 4 * 5 * 5 + 16
    assert len(tape.calls) == 4 * 5 * 4
    assert len(tape.accumulations) == 4 * 5 * 4
    for op in tape.ops:
        call = tape.calls[op.call] if op.call is not None else None
        if op.op == "linear":
            assert call is not None
            assert call.kind == "Linear"
            inner = {v.id: v for v in tape.values}[op.inputs[1]]
            assert inner.name.startswith(call.name)
    made = [number for op in tape.ops for number in op.nodes]
    assert len(made) == len(set(made)) == len(tape.nodes)


def test_passes_that_run_at_the_same_time_keep_their_nodes_apart():
    tape = mirror(
        "import threading\nmeet = threading.Barrier(2)\n"
        "class Meet(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n"
        "    @staticmethod\n    def backward(ctx, g):\n"
        "        meet.wait()\n        g = g * 2\n        meet.wait()\n        return g\n"
        "leaves = [param(1.0), param(2.0)]\n"
        "def work(x):\n    (Meet.apply(x**2) * 3).backward()\n"
        "threads = [threading.Thread(target=work, args=(x,)) for x in leaves]\n"
        "for t in threads: t.start()\n"
        "for t in threads: t.join()\n"
        "print([x.grad.item() for x in leaves])"
    )
    names = {n.id: n.name for n in tape.nodes}
    assert len(tape.passes) == 2
    for run in (0, 1):
        ran = [names[e.node] for e in tape.executions if e.run == run]
        assert ran == ["MulBackward0", "MeetBackward", "PowBackward0"]
        assert len([a for a in tape.accumulations if a.run == run]) == 1
    assert sorted(float(numbers(tape, a.after)) for a in tape.accumulations) == [12.0, 24.0]


def test_threads_are_pythons_own_again_and_one_that_runs_on_is_not_heard():
    plain, go, done = threading.Thread._bootstrap_inner, threading.Event(), []

    def work():
        go.wait()
        done.append(torch.ones(2) + 1)

    thread = threading.Thread(target=work)
    with Recorder("", __file__) as recorder:
        thread.start()
    assert threading.Thread._bootstrap_inner is plain
    go.set()
    thread.join()
    assert done[0].tolist() == [2, 2]
    assert not recorder.log.ops


def test_an_error_in_a_thread_leaves_the_rest_of_the_run_alone():
    tape = record(
        "import threading\nthreading.excepthook = lambda args: print(args.exc_type.__name__)\n"
        "net = nn.Linear(2, 1)\n"
        "t = threading.Thread(target=lambda: net(torch.ones(3)))\nt.start(); t.join()\n"
        "y = net(torch.ones(2))"
    )
    assert tape.status == "ok"
    assert tape.stdout == "RuntimeError\n"
    assert [e.kind for e in tape.events].count("enter") == 2
    assert [e.kind for e in tape.events].count("leave") == 2
    assert [c.parent for c in tape.calls] == [None, None]


def test_passes_of_many_threads_add_to_one_leaf():
    tape = mirror(
        "import threading\nw = param(1.0)\n"
        "def work():\n    for _ in range(20):\n        (w * 2).backward()\n"
        "threads = [threading.Thread(target=work) for _ in range(4)]\n"
        "for t in threads: t.start()\n"
        "for t in threads: t.join()\nprint(w.grad.item())"
    )
    assert len(tape.passes) == len(tape.accumulations) == 80
    assert max(float(numbers(tape, a.after)) for a in tape.accumulations) == 160.0


def test_an_optimizer_in_each_thread():
    tape = mirror(
        "import threading\nnets = [nn.Linear(2, 1) for _ in range(3)]\ndata = torch.ones(4, 2)\n"
        "def work(net):\n    opt = optim.SGD(net.parameters(), lr=0.1)\n"
        "    for _ in range(4):\n        opt.zero_grad()\n"
        "        net(data).pow(2).mean().backward()\n        opt.step()\n"
        "threads = [threading.Thread(target=work, args=(n,)) for n in nets]\n"
        "for t in threads: t.start()\n"
        "for t in threads: t.join()\nprint([n.weight.sum().item() for n in nets])"
    )
    tensor = {v.id: v.tensor for v in tape.values}
    changed = [{tensor[c.after] for c in step.changes} for step in tape.steps]
    assert len(changed) == 12
    assert len({frozenset(one) for one in changed}) == 3
