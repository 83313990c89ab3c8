"""Programs on a CUDA device are recorded as those on the CPU are, and equal plain torch."""

import contextlib
import io

import numpy as np
import pytest
import torch

from gradscribe.engine.record.values.snapshots import snapshot
from gradscribe.engine.run import run

PROGRAMS = {
    "regression": """
x = torch.arange(6., device=device).reshape(3, 2)
w = torch.ones(2, 1, device=device, requires_grad=True)
((x @ w - 1) ** 2).mean().backward()
""",
    "network": """
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 3)).to(device)
x = torch.randn(5, 4).to(device)
loss = F.cross_entropy(net(x), torch.tensor([0, 1, 2, 1, 0]).to(device))
loss.backward()
""",
    "convolution": """
torch.backends.cudnn.deterministic = True
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)).to(device)
x = torch.randn(2, 1, 8, 8, device=device, requires_grad=True)
net(x).square().sum().backward()
""",
    "lstm": """
net = nn.LSTM(3, 4, batch_first=True).to(device)
x = torch.randn(2, 5, 3, device=device, requires_grad=True)
net(x)[0].sum().backward()
""",
    "attention": """
q = torch.randn(1, 2, 6, 8, device=device, requires_grad=True)
F.scaled_dot_product_attention(q, q, q, is_causal=True).square().sum().backward()
""",
    "transformer": """
net = nn.TransformerEncoderLayer(16, 2, dropout=0.0, batch_first=True).to(device)
x = torch.randn(2, 5, 16, device=device, requires_grad=True)
net(x).square().sum().backward()
""",
    "autocast": """
net = nn.Linear(8, 8).to(device)
optimizer = optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler('cuda')
for _ in range(3):
    optimizer.zero_grad()
    with torch.autocast('cuda', dtype=torch.float16):
        loss = net(torch.ones(4, 8, device=device)).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
""",
    "in place": """
x = torch.ones(3, device=device, requires_grad=True)
y = x * 2
y[0] = 5
y.add_(1)
y.prod().backward()
""",
    "indexing": """
e = nn.Embedding(5, 3).to(device)
x = e(torch.tensor([1, 4, 1], device=device))
y = x[torch.tensor([0, 2], device=device)]
y.gather(1, torch.tensor([[0], [2]], device=device)).sum().backward()
""",
    "second derivative": """
x = torch.tensor(2.0, device=device, requires_grad=True)
g, = torch.autograd.grad(x ** 3, x, create_graph=True)
g.backward()
""",
    "two devices": """
a = torch.ones(3, requires_grad=True)
b = (a * 2).to(device)
c = (b * b).cpu()
c.sum().backward()
""",
    "half": """
x = torch.full((3,), 2.0, device=device, dtype=torch.bfloat16, requires_grad=True)
(x * 3).square().sum().backward()
""",
    "fft and algebra": """
x = torch.randn(4, 4, device=device, requires_grad=True)
y = torch.linalg.solve(x + 5 * torch.eye(4, device=device), x)
(torch.fft.fft(x).abs().sum() + y.sum()).backward()
""",
    "stream": """
s = torch.cuda.Stream()
s.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(s):
    x = torch.ones(1000, device=device, requires_grad=True)
    y = (x * 3).sum()
torch.cuda.current_stream().wait_stream(s)
y.backward()
""",
}  # fmt: skip


def plain(source):
    """The leaves' numbers and gradients that plain torch gives."""
    names = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "optim": torch.optim,
             "device": torch.device("cuda:0")}  # fmt: skip
    with run._default_settings(0), contextlib.redirect_stdout(io.StringIO()):
        exec(source, names)
    found = {}
    for name, thing in names.items():
        if isinstance(thing, torch.nn.Module):
            found |= {f"{name}.{path}": p for path, p in thing.named_parameters()}
        elif isinstance(thing, torch.Tensor) and thing.is_leaf and thing.requires_grad:
            found[name] = thing
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_and_gradients_are_those_of_plain_torch(engine, name):
    tape = engine.record(PROGRAMS[name]).tape
    assert tape.error is None, tape.error
    assert (tape.status, tape.truncated) == ("ok", "")
    expected = plain(PROGRAMS[name])
    leaves = {leaf.name: leaf for leaf in tape.leaves if leaf.grad is not None}
    assert expected.keys() <= {leaf.name for leaf in tape.leaves}
    assert expected
    values = {value.id: value for value in tape.values}
    for leaf_name, tensor in expected.items():
        leaf = leaves[leaf_name]
        for kept, mine in ((values[leaf.value].snapshot, tensor), (leaf.grad, tensor.grad)):
            shown = tape.snapshots[kept].array()
            np.testing.assert_array_equal(shown, snapshot(mine.detach()).array())
        assert values[leaf.value].device == str(tensor.device)


def test_every_op_says_on_which_device_its_result_lies(engine):
    tape = engine.record(PROGRAMS["two devices"]).tape
    devices = {v.id: v.device for v in tape.values}
    assert [devices[op.outputs[0]] for op in tape.ops] == ["cpu", "cuda:0", "cuda:0", "cpu", "cpu"]


def test_the_same_seed_gives_the_same_numbers_every_time(engine):
    source = "x = torch.rand(4, device=device)\nprint(x.tolist(), torch.rand(1).item())"
    first = engine.record(source, seed=3).tape.stdout
    assert engine.record(source, seed=3).tape.stdout == first
    assert engine.record(source, seed=4).tape.stdout != first


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("nn.Linear(2, 2).to(device)(torch.ones(1, 2))", "one device"),
        ("torch.ones(2, device=device).numpy()", ".cpu()"),
        ("torch.empty(10**13, device=device)", "Make a size smaller"),
        ("torch.ones(2, device='cuda:99')", "no such device"),
    ],
)
def test_an_error_of_the_device_has_its_place_and_its_hint(engine, source, words):
    answer = engine.record(f"x = 1\n{source}\nprint('after')")
    error = answer.tape.error
    assert (error.place.line, answer.tape.stdout, answer.spent) == (2, "", False)
    assert words in f"{error.message} {error.hint}"


OUT_OF_BOUNDS = [
    "loss = F.cross_entropy(torch.zeros(2, 3, device=device), torch.tensor([0, 7], device=device))",
    "y = nn.Embedding(4, 2).to(device)(torch.tensor([9], device=device))",
    "y = torch.arange(5., device=device)[torch.tensor([5], device=device)]",
    "y = torch.zeros(2, 2, device=device).gather(0, torch.tensor([[3]], device=device))",
    "y = F.binary_cross_entropy(torch.full((1,), 3., device=device), torch.ones(1, device=device))",
    "y = torch.multinomial(torch.tensor([-1., 2.], device=device), 1)",
]  # fmt: skip


@pytest.mark.parametrize("line", OUT_OF_BOUNDS)
def test_what_fails_on_the_device_is_told_at_its_line_and_a_fresh_engine_follows(engines, line):
    before = "w = torch.ones(3, device=device, requires_grad=True)\ny = w * 2\nprint('before')\n"
    answer = engines.record(f"{before}{line}\nz = w + 1\nz.sum().backward()\nprint('after')")
    tape = answer.tape
    assert (tape.status, tape.stdout, tape.error.place.line) == ("error", "before\n", 4)
    assert "device-side assert" in tape.error.message
    assert "\n" not in tape.error.message
    assert "out of bounds" in tape.error.hint
    assert answer.spent
    assert [op.op for op in tape.ops][:1] == ["mul"]
    after = engines.record("x = torch.ones(2, device=device)\nprint(x.tolist())")
    assert (after.tape.status, after.tape.stdout, after.spent) == ("ok", "[1.0, 1.0]\n", False)


def test_a_failure_that_no_line_waited_for_is_told_at_the_end(engines):
    source = "torch._assert_async(torch.tensor(False, device=device))\nx = torch.ones(2) * 2"
    answer = engines.record(source)
    assert (answer.tape.status, answer.spent) == ("error", True)
    assert "device-side assert" in answer.tape.error.message


def test_what_a_program_sets_for_the_device_is_put_back(engine):
    set_ = (
        "torch.cuda.set_per_process_memory_fraction(0.01)\ntorch.backends.cudnn.benchmark = True\n"
        "torch.backends.cuda.matmul.allow_tf32 = True\ntorch.set_float32_matmul_precision('high')\n"
        "torch.set_default_device('cuda')\ntorch.cuda.set_stream(torch.cuda.Stream())\n"
        "torch.cuda.set_sync_debug_mode('error')"
    )
    ask = (
        "big = torch.empty(torch.cuda.get_device_properties(0).total_memory // 50,\n"
        "    dtype=torch.uint8, device=device)\n"
        "print(torch.backends.cudnn.benchmark, torch.backends.cuda.matmul.allow_tf32,\n"
        "    torch.get_float32_matmul_precision(), torch.ones(1).device,\n"
        "    torch.cuda.current_stream() == torch.cuda.default_stream(),\n"
        "    torch.cuda.get_sync_debug_mode())"
    )
    assert engine.record(set_).tape.status == "ok"
    tape = engine.record(ask).tape
    assert (tape.error, tape.stdout) == (None, "False False highest cpu True 0\n")


def test_memory_that_a_program_filled_is_there_for_the_next(engine):
    fill = "kept = []\nwhile True:\n    kept.append(torch.ones(1 << 28, device=device))"
    error = engine.record(fill).tape.error
    assert (error.type, error.place.line) == ("OutOfMemoryError", 3)
    half = "x = torch.empty(torch.cuda.mem_get_info()[1] // 2, dtype=torch.uint8, device=device)"
    assert engine.record(half).tape.error is None


def test_a_graph_that_is_captured_by_the_program_runs(engine):
    source = """
x = torch.ones(3, device=device)
i = torch.tensor([0, 1], device=device)
s = torch.cuda.Stream()
s.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(s):
    y = x[i] * 2
torch.cuda.current_stream().wait_stream(s)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = torch.index_select(x, 0, i) * 2
x.fill_(4)
graph.replay()
print(y.tolist())
"""
    tape = engine.record(source).tape
    assert (tape.error, tape.stdout) == (None, "[8.0, 8.0]\n")


def test_a_kernel_that_is_compiled_while_the_program_runs(engine):
    source = "x = torch.lcm(torch.tensor([4], device=device), torch.tensor([6], device=device))"
    tape = engine.record(f"{source}\nprint(x.item())").tape
    assert (tape.error, tape.stdout) == (None, "12\n")
