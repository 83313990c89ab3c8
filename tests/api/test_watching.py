"""`gs.watch`: numbers of plain PyTorch, and a training loop that nothing happens to."""

import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import gradscribe as gs
from gradscribe import watch_writer, watching
from gradscribe.engine.protocol import watch_file


def records(path, kind=""):
    data = Path(path).read_bytes()
    found, used = watch_file.decode(data[watch_file.check_begin(data) :])
    assert used == len(data) - len(watch_file.MAGIC)
    return [r for r in found if not kind or type(r).__name__ == kind]


def losses(path):
    found = records(path, "WatchLosses")
    steps = np.concatenate([np.frombuffer(r.steps, "<i8") for r in found])
    return steps, np.concatenate([np.frombuffer(r.numbers, "<f8") for r in found])


def floats(data):
    return np.frombuffer(data, "<f4")


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))


X = torch.arange(24.0).reshape(8, 3) / 10
Y = X.sum(1, keepdim=True)


def loss_of(model):
    return (model(X) - Y).square().mean()


def train(model, optimizer, steps, watch=None):
    found = []
    for _ in range(steps):
        loss = loss_of(model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if watch is not None:
            watch.step(loss)
        found.append(loss.item())
    return found


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.watch"


@pytest.fixture
def always(monkeypatch):
    """Measure every second step."""
    monkeypatch.setattr(watching, "GAP_S", 0.0)
    monkeypatch.setattr(watching, "LOOK_S", 0.0)
    monkeypatch.setattr(watching, "BUDGET", 1e9)
    monkeypatch.setattr(watching, "SPARSER", 1e9)


def test_the_numbers_are_those_of_plain_torch(path):
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    with gs.watch(model, optimizer, to=path) as watch:
        train(model, optimizer, 1, watch)
    plain = net()
    outputs = [plain[0](X), plain[1](plain[0](X)), plain(X)]
    loss_of(plain).backward()
    before = [p.detach().clone() for p in plain.parameters()]
    torch.optim.SGD(plain.parameters(), 0.05, momentum=0.9).step()
    (sample,) = records(path, "WatchSample")
    assert (sample.step, sample.rate) == (1, 0.05)
    expected = [
        (sample.gradients, [p.grad.norm() for p in plain.parameters()]),
        (sample.weights, [p.norm() for p in before]),
        (
            sample.updates,
            [(p - b).norm() / b.norm() for p, b in zip(plain.parameters(), before, strict=True)],
        ),
        (sample.means, [out.mean() for out in outputs]),
        (sample.spreads, [out.std(correction=0) for out in outputs]),
    ]
    for data, numbers in expected:
        np.testing.assert_allclose(floats(data), [n.item() for n in numbers], rtol=1e-6)
    (header,) = records(path, "WatchHeader")
    assert (header.model, header.optimizer) == ("Sequential", "SGD")
    assert header.parameters[0] == ("0.weight", (8, 3))
    assert header.modules == ("0", "1", "2")


def test_every_loss_is_there_and_training_is_the_same_to_the_bit(path, always):
    plain = net()
    alone = train(plain, torch.optim.Adam(plain.parameters(), 0.01), 300)
    model = net()
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    state = torch.get_rng_state()
    with gs.watch(model, optimizer, to=path) as watch:
        watched = train(model, optimizer, 300, watch)
    assert watched == alone
    assert torch.equal(torch.get_rng_state(), state)
    for a, b in zip(model.parameters(), plain.parameters(), strict=True):
        assert torch.equal(a, b)
    steps, numbers = losses(path)
    assert steps.tolist() == list(range(1, 301))
    assert numbers.tolist() == alone
    assert len(records(path, "WatchSample")) == 150
    assert records(path)[-1].kind == "end"


def test_torch_is_left_as_it_was(path, always):
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    watch = gs.watch(model, optimizer, to=path)
    train(model, optimizer, 5, watch)
    watch.close()
    watch.close()
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
    assert not optimizer._optimizer_step_pre_hooks
    assert not optimizer._optimizer_step_post_hooks
    assert "gradscribe watch" not in {thread.name for thread in threading.enumerate()}
    size = path.stat().st_size
    train(model, optimizer, 3, watch)
    assert path.stat().st_size == size


def test_without_step_the_steps_of_the_optimizer_count(path, always):
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with gs.watch(model, optimizer, to=path) as watch:
        train(model, optimizer, 6)
        assert watch.steps == 6
    found = records(path, "WatchSample")
    assert [sample.step for sample in found] == [1, 3, 5]
    assert all((floats(sample.updates) > 0).all() for sample in found)
    assert records(path, "WatchLosses") == []


def test_losses_that_come_now_and_then_are_those_of_the_steps_counted(path, always):
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with gs.watch(model, optimizer, to=path) as watch:
        for step in range(1, 10):
            (loss,) = train(model, optimizer, 1)
            if step % 3 == 0:
                watch.step(loss)
    steps, _ = losses(path)
    assert steps.tolist() == [3, 6, 9]
    assert watch.steps == 9


def test_after_a_nan_and_after_a_spike_the_next_step_is_a_tape(path):
    weight = nn.Linear(1, 1, bias=False)
    with gs.watch(weight, to=path) as watch:
        for step in range(1, 61):
            x = torch.tensor([[100.0 if step == 30 else 1.0 + 0.01 * (step % 3)]])
            loss = weight(x).square().sum()
            watch.step(loss * float("nan") if step == 50 else loss)
    events = records(path, "WatchEvent")
    assert [(e.kind, e.step) for e in events] == [
        ("spike", 30),
        ("tape", 31),
        ("nan", 50),
        ("tape", 51),
        ("end", 60),
    ]
    tape = gs.load(events[1].path)
    assert [op.name for op in tape.ops if op.name != "tensor"] == ["linear", "square", "sum"]


@pytest.mark.parametrize("asked", ["by a file", "by a call"])
def test_a_tape_of_a_step_is_made_when_it_is_asked_for(path, asked, monkeypatch):
    monkeypatch.setattr(watch_writer, "ASK_S", 0.01)
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with gs.watch(model, optimizer, to=path) as watch:
        train(model, optimizer, 2, watch)
        if asked == "by a call":
            watch.record(5)
        else:
            order = path.with_name(path.name + watch_file.ORDER)
            order.write_bytes(b"5")
            while watch._tape_at < 0:
                pass
            assert not order.exists()
        train(model, optimizer, 5, watch)
    (made,) = [e for e in records(path, "WatchEvent") if e.kind == "tape"]
    assert made.step == 5
    plain = net()
    other = torch.optim.SGD(plain.parameters(), 0.01)
    train(plain, other, 5)
    recorded = gs.load(made.path)["model.0.weight"].grad
    assert np.array_equal(recorded, plain[0].weight.grad.numpy())


def test_with_gradscribe_0_nothing_is_done(tmp_path):
    code = (
        "import sys; import gradscribe as gs\n"
        "with gs.watch(None, None) as watch: watch.step(1.0)\n"
        "watch.open(); watch.record(); print(watch, watch.path, 'torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "GRADSCRIBE": "0", "TMPDIR": str(tmp_path)},
    )
    assert done.stdout == "<Watch: off> None False\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.e2e
@pytest.mark.skipif(sys.platform == "win32", reason="no limit of a file's size there")
def test_a_full_disk_is_said_once_and_the_training_goes_on(path):
    code = (
        "import resource, sys, torch; import gradscribe as gs; from gradscribe import watching\n"
        "watching.GAP_S = 0.0; watching.BUDGET = 1e9\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "model = torch.nn.Linear(3, 3); opt = torch.optim.SGD(model.parameters(), 0.1)\n"
        "watch = gs.watch(model, opt, to=sys.argv[1])\n"
        "for _ in range(500):\n"
        "    loss = model(torch.ones(3)).square().sum(); opt.zero_grad(); loss.backward()\n"
        "    opt.step(); watch.step(loss)\n"
        "print('trained', loss.item() < 1e-6)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "trained True\n"
    (line,) = done.stderr.splitlines()
    assert "cannot be written" in line
    assert "training goes on" in line
    assert 0 < len(records(path)) < 500


def test_a_disk_that_hangs_is_not_waited_for_and_what_is_lost_is_said(path, always, monkeypatch):
    hangs, entered = threading.Event(), threading.Event()
    append = watch_writer.WatchWriter._append

    def slow(writer, record):
        entered.set()
        hangs.wait()
        append(writer, record)

    monkeypatch.setattr(watch_writer.WatchWriter, "_append", slow)
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    watch = gs.watch(model, optimizer, to=path)
    entered.wait()
    train(model, optimizer, 400, watch)
    assert watch._writer.lost > 0
    assert watch._writer._waiting.qsize() <= watch_writer.MOST_WAITING
    hangs.set()
    while not watch._writer._waiting.empty():
        pass
    train(model, optimizer, 2, watch)
    watch.close()
    lost = [event for event in records(path, "WatchEvent") if event.kind == "lost"]
    assert lost
    dropped = sum(record.dropped for record in records(path, "WatchLosses"))
    steps, _ = losses(path)
    assert dropped + len(steps) == 402


def test_a_full_file_ends_the_watch_alone(path, always, monkeypatch, capsys):
    monkeypatch.setattr(watch_file, "MAX_FILE", 3000)
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with gs.watch(model, optimizer, to=path) as watch:
        train(model, optimizer, 200, watch)
    assert path.stat().st_size <= 3000
    assert capsys.readouterr().err.count("is full") == 1
    assert records(path)


def test_losses_between_two_measurements_are_thinned_but_for_the_ends(path, monkeypatch):
    monkeypatch.setattr(watching, "GAP_S", 1e9)
    model = net()
    numbers = [float(n) for n in np.random.default_rng(0).uniform(1, 2, 5000)]
    with gs.watch(model, to=path) as watch:
        for number in numbers:
            watch.step(number)
    steps, kept = losses(path)
    assert len(steps) <= 2 * watching.MOST_LOSSES
    assert {min(numbers), max(numbers)} <= set(kept.tolist())
    assert [numbers[step - 1] for step in steps] == kept.tolist()
    assert sum(r.dropped for r in records(path, "WatchLosses")) == 5000 - len(steps)


def test_an_exception_in_the_loop_goes_on_and_leaves_no_recording(path):
    model = net()

    def loop():
        with gs.watch(model, to=path) as watch:
            watch.record()
            watch.step(loss_of(model))
            loss_of(model)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        loop()
    kinds = [event.kind for event in records(path, "WatchEvent")]
    assert kinds == ["note", "tape", "end"]
    with gs.record() as tape:
        loss_of(model)
    assert len(tape.ops) > 0


def test_inside_of_a_recording_no_tape_is_made_and_that_is_said(path):
    model = net()
    with gs.record() as tape, gs.watch(model, to=path) as watch:
        watch.record()
        watch.step(1.0)
        watch.step(1.0)
    assert tape.ops == ()
    assert any("recordings do not nest" in e.text for e in records(path, "WatchEvent"))


@pytest.mark.parametrize("wrong", [torch.ones(3), "0.5", torch.ones(2, device="meta")])
def test_a_wrong_loss_is_said_once_and_ends_the_watch_alone(path, wrong, capsys):
    model = net()
    watch = gs.watch(model, to=path)
    for _ in range(5):
        watch.step(wrong)
    watch.close()
    assert capsys.readouterr().err.count("the watch ends at step 1") == 1
    assert not any(m._forward_hooks for m in model.modules())


def test_parameters_without_gradients_and_odd_outputs_have_no_numbers(path):
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused = nn.Linear(3, 1), nn.Linear(3, 1)
            self.rows = nn.Embedding(4, 2, sparse=True)
            self.nothing = nn.Identity()
            self.frozen = nn.Linear(2, 2).requires_grad_(False)

        def forward(self, x):
            self.nothing(None)
            return self.used(x).sum() + self.frozen(self.rows(torch.tensor([1, 2]))).sum()

    model = Odd()
    with gs.watch(model, to=path) as watch:
        loss = model(X)
        loss.backward()
        watch.step(loss)
    (header,), (sample,) = records(path, "WatchHeader"), records(path, "WatchSample")
    gradients = dict(zip((n for n, _ in header.parameters), floats(sample.gradients), strict=True))
    assert gradients["used.bias"] == 8.0
    assert np.isnan([gradients["unused.weight"], gradients["rows.weight"]]).all()
    assert "frozen.weight" not in gradients
    spreads = dict(zip(header.modules, floats(sample.spreads), strict=True))
    assert np.isnan(spreads["nothing"])
    assert np.isfinite(spreads["frozen"])


def test_a_compiled_model_is_measured_as_a_whole_and_compiles_once(path, always):
    compiled = []

    def backend(graph, _inputs):
        compiled.append(graph)
        return graph.forward

    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    fast = torch.compile(model, backend=backend)
    with gs.watch(fast, optimizer, to=path) as watch:
        train(fast, optimizer, 8, watch)
    assert len(compiled) == 1
    (header,) = records(path, "WatchHeader")
    assert header.modules == ("Sequential",)
    assert header.parameters[0][0] == "0.weight"
    assert "Compiled" in header.note
    assert all(np.isfinite(floats(s.spreads)).all() for s in records(path, "WatchSample"))


def test_gradients_under_amp_are_those_before_scaling(path):
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    with gs.watch(model, optimizer, to=path) as watch:
        with torch.autocast("cpu", torch.bfloat16):
            loss = loss_of(model)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        watch.step(loss)
    plain = net()
    with torch.autocast("cpu", torch.bfloat16):
        loss = loss_of(plain)
    loss.backward()
    (sample,) = records(path, "WatchSample")
    expected = [p.grad.norm().item() for p in plain.parameters()]
    np.testing.assert_allclose(floats(sample.gradients), expected, rtol=1e-4)


def test_each_rank_has_a_file_and_names_as_without_ddp(tmp_path):
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1
    )
    try:
        model = nn.parallel.DistributedDataParallel(net())
        with gs.watch(model, to=tmp_path / "a.watch") as watch:
            loss = loss_of(model)
            loss.backward()
            watch.step(loss)
    finally:
        torch.distributed.destroy_process_group()
    (header,) = records(tmp_path / "a.watch", "WatchHeader")
    assert header.parameters[0][0] == "0.weight"
    assert header.modules == ("0", "1", "2")
    (sample,) = records(tmp_path / "a.watch", "WatchSample")
    assert (floats(sample.gradients) > 0).all()


def test_ranks_of_a_launcher_are_in_names_and_headers(tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "4")
    gs.watch(net(), to=tmp_path / "a.watch").close()
    (header,) = records(tmp_path / "a.rank3.watch", "WatchHeader")
    assert (header.rank, header.ranks) == (3, 4)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork there")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_workers_of_a_loader_change_nothing(path, always):
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    data = torch.utils.data.TensorDataset(X, Y)
    with gs.watch(model, optimizer, to=path) as watch:
        loader = torch.utils.data.DataLoader(data, 2, num_workers=2, multiprocessing_context="fork")
        for x, y in loader:
            loss = (model(x) - y).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch.step(loss)
    steps, _ = losses(path)
    assert steps.tolist() == [1, 2, 3, 4]
    assert records(path)[-1].kind == "end"


def test_bad_arguments_are_refused_at_once(tmp_path):
    with pytest.raises(TypeError, match="needs a module, not list"):
        gs.watch([])
    with pytest.raises(TypeError, match="needs an optimizer, not float"):
        gs.watch(net(), 0.1)
    there = tmp_path / "there.watch"
    there.write_text("mine")
    with pytest.raises(ValueError, match="cannot be created: File exists"):
        gs.watch(net(), to=there)
    with pytest.raises(ValueError, match="cannot be created"):
        gs.watch(net(), to=tmp_path / "none" / "a.watch")
    assert there.read_text() == "mine"


def test_a_window_is_started_for_a_file_of_its_own(monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(watching, "open_window", opened.append)
    monkeypatch.setattr(watching.tempfile, "tempdir", str(tmp_path))
    watch = gs.watch(net())
    watch.close()
    assert opened == [watch.path]
    assert watch.path.parent.parent == tmp_path
    assert records(watch.path, "WatchHeader")


def test_a_fault_of_the_writer_does_not_reach_the_loop():
    waiting = queue.Queue(1)
    waiting.put(None)
    writer = object.__new__(watch_writer.WatchWriter)
    writer._waiting, writer.lost = waiting, 0
    assert not writer.send(watch_file.WatchEvent("note", 1, ""))
    assert writer.lost == 1
