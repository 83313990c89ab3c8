"""Views made by a process beside the trainer are what the trainer itself would show."""

import functools
import os
import select
import subprocess
import sys
import threading
import types

import msgspec
import numpy as np
import pytest
import torch

from gradscribe.engine.protocol import messages, setup
from gradscribe.engine.protocol.training import replies, requests
from gradscribe.engine.train import views
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve import view_process
from gradscribe.engine.train.serve.hosted_run import HostedRun
from gradscribe.engine.train.serve.view_client import ViewClient
from gradscribe.engine.zoo import provided_files

PATIENCE_S = 120


@pytest.fixture
def studio(monkeypatch):
    """A painter, what it passed on, and the loop that its process would run, which never rests."""
    monkeypatch.setattr(view_process, "SHARE", 1e9)
    down, up = os.pipe(), os.pipe()
    seen = []
    painter = ViewClient(seen.append, down[1], up[0])
    thread = threading.Thread(target=view_process.serve, args=(down[0], up[1]))
    thread.start()
    yield painter, seen, up[0]
    painter._close()
    thread.join()
    os.close(up[1])


@pytest.fixture
def stranger():
    """A painter with what it passed on, and the two ends of a process that does as it likes."""
    down, up = os.pipe(), os.pipe()
    seen = []
    painter = ViewClient(seen.append, down[1], up[0])
    yield painter, seen, down[0], up[1]
    painter._close()
    for end in (down[0], up[1]):
        os.close(end)


def spoken(subject, *bodies):
    return b"".join(view_process.HEADER.pack(len(body), subject) + body for body in bodies)


def view(run_id=1, kind="boundary"):
    return msgspec.msgpack.encode(replies.ViewReply(run_id, kind, 3, {}))


def held_at(steps, wishes=(), **given_setup):
    run = TrainingRun(setup.parse(given_setup))
    run.enter()
    assert run.advance(steps) == steps
    hosted = HostedRun(1, run, print, wishes)
    hosted.playing = True
    return hosted


def wait(painter, results, done):
    """Take what comes until a condition holds."""
    while not done():
        assert select.select([results], [], [], PATIENCE_S)[0], "no answer"
        painter.exchange()


def shown(studio, held):
    """Every view of the present step, made aside: by kind and options."""
    painter, seen, results = studio
    assert painter.send_snapshot(held)
    wait(painter, results, lambda: painter._unanswered == 0)
    return seen


OWN = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 4)
        self.b = nn.Linear(4, 1)

    def forward(self, x):
        return self.b(torch.sin(self.a(x)))
"""
EMBEDDED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(8, 4, sparse=True)
        self.last = nn.Linear(4, 1)
        self.same = self.last
        self.calls = nn.Buffer(torch.tensor(0))

    def forward(self, x):
        self.calls = self.calls + 1
        return self.last(self.table(x[:, 0].clamp(0, 7).long()))
"""
WARMING = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(2, 1)
        self.calls, self.average = 0, torch.zeros(2)

    def forward(self, x):
        self.calls += 1
        if self.training:
            self.average.mul_(0.9).add_(x.mean(0), alpha=0.1)
        return self.line(x - self.average) * (2 if self.calls > 30 else 0.1)
"""
SETUPS = [
    {"data": "circle", "optimizer": {"name": "sgd", "lr": 0.1, "momentum": 0.9}, "batch": 10},
    {"data": "sine", "model": {"name": "mlp", "layers": [5]}, "dtype": "float64"},
    {"data": "spirals", "model": {"name": "mlp", "norm": "batch", "dropout": 0.2}},
    {"data": {"name": "digits", "n": 40}, "model": {"name": "cnn", "channels": 2}},
    {"data": "moons", "model": {"name": "own", "source": OWN}, "frozen": ["a"], "clip_norm": 0.1},
    {"data": "houses", "model": "linear", "standardize": True, "optimizer": "adagrad"},
    {"data": "line", "model": {"name": "own", "source": EMBEDDED}, "optimizer": "adagrad"},
    {"data": "xor", "model": {"name": "own", "source": WARMING}, "standardize": True},
]


@pytest.mark.parametrize("given_setup", SETUPS, ids=lambda one: str(one["data"]))
def test_a_view_from_aside_is_the_view_of_the_run(studio, given_setup):
    wishes = [requests.ViewRequest(kind) for kind in views.KINDS if not views.is_only_paused(kind)]
    wishes += [
        requests.ViewRequest("histograms", options={"of": of}) for of in ("gradient", "activation")
    ]
    held = held_at(40, tuple(wishes), **given_setup)
    got = shown(studio, held)
    expected = [
        (wish.kind, picture)
        for wish in wishes
        if (picture := views.compute(held.run, wish.kind, wish.options)) is not None
    ]
    assert [view.kind for view in got] == [kind for kind, _ in expected]
    for view, (kind, picture) in zip(got, expected, strict=True):
        assert (view.run_id, view.step) == (1, 40)
        assert view.arrays == picture.arrays, kind
        assert view.facts == pytest.approx(picture.facts, rel=1e-6), kind


def test_it_follows_the_run(studio):
    painter, seen, _ = studio
    held = held_at(
        3, (requests.ViewRequest("boundary", 0), requests.ViewRequest("surface", 0)), data="circle"
    )
    for step in (3, 10, 300):
        held.run.advance(step - held.run.step)
        painter._next = painter._points_at = 0.0
        seen.clear()
        shown(studio, held)
        for view in seen:
            assert view.step == step
            assert view.arrays == views.compute(held.run, view.kind, {}).arrays


def test_a_slow_view_alone_costs_few_snapshots(studio):
    painter, seen, _ = studio
    held = held_at(3, (requests.ViewRequest("spread", 60_000),), data="moons")
    shown(studio, held)
    assert [view.kind for view in seen] == ["spread"]
    held.run.advance(1)
    assert painter.send_snapshot(held)
    assert painter._unanswered == 0, "the next snapshot is seconds away"
    painter.handle_request(requests.WatchViews(1, ()))
    assert painter.send_snapshot(held)
    assert painter._unanswered == 1, "new wishes are fulfilled at once"


def test_it_follows_what_is_changed_on_the_way(studio):
    painter, seen, _ = studio
    held = held_at(3, (requests.ViewRequest("scores", 0),), data="moons")
    shown(studio, held)
    held.run.change_setup(setup.parse({"data": "moons", "loss": "hinge", "optimizer": "sgd"}))
    held.run.advance(2)
    painter._next = 0.0
    seen.clear()
    shown(studio, held)
    assert seen[0].facts == views.compute(held.run, "scores", {}).facts


@pytest.mark.parametrize(
    "request_", [requests.Rewind(1, 2), requests.Pause(1), requests.Play(1)], ids=str
)
def test_a_view_of_what_is_no_more_is_not_passed_on(studio, request_):
    painter, seen, results = studio
    held = held_at(3, (requests.ViewRequest("boundary"),), data="circle")
    painter.send_snapshot(held)
    painter.handle_request(request_)
    wait(painter, results, lambda: painter._unanswered == 0)
    assert seen == []


def test_a_view_survives_what_changes_nothing(studio):
    painter, seen, results = studio
    held = held_at(3, (requests.ViewRequest("boundary"),), data="circle")
    painter.send_snapshot(held)
    painter.handle_request(requests.WatchViews(1, held.wishes))
    wait(painter, results, lambda: painter._unanswered == 0)
    assert [view.kind for view in seen] == ["boundary"]


def test_a_table_travels_along(studio):
    provided_files.provide("t.csv", b"a,b\n" + b"".join(b"%d,%d\n" % (i, 2 * i) for i in range(20)))
    data = {"name": "csv", "path": "t.csv", "inputs": ["a"], "target": "b"}
    held = held_at(3, (requests.ViewRequest("fit"),), data=data, model="linear")
    assert shown(studio, held)[0].arrays == views.compute(held.run, "fit", {}).arrays


def test_what_cannot_be_made_there_is_left_to_the_trainer(studio):
    painter, seen, results = studio
    held = held_at(3, (requests.ViewRequest("boundary"),), data="circle")
    held.run.program.setup = setup.parse({"data": {"name": "csv", "path": "/nowhere.csv"}})
    painter.send_snapshot(held)
    wait(painter, results, lambda: painter._unanswered == 0)
    assert seen == []
    assert not painter.send_snapshot(held)
    other = held_at(3, (requests.ViewRequest("boundary"),), data="circle")
    painter._next = 0.0
    assert painter.send_snapshot(other)


def test_without_that_process_the_trainer_makes_its_views_itself():
    down, up = os.pipe(), os.pipe()
    os.close(up[1])
    os.close(down[0])
    painter = ViewClient(pytest.fail, down[1], up[0])
    held = held_at(1, (requests.ViewRequest("boundary"),), data="circle")
    assert not painter.send_snapshot(held)


def test_a_run_that_does_not_play_hands_nothing_over(studio):
    painter, _, _ = studio
    held = held_at(1, (requests.ViewRequest("boundary"),), data="circle")
    held.playing = False
    assert not painter.send_snapshot(held)
    assert painter._unanswered == 0


def test_half_precision_arrives_whole():
    run = held_at(2, (), data="moons", dtype="bfloat16").run
    down, up = os.pipe(), os.pipe()
    painter = ViewClient(pytest.fail, down[1], up[0])
    moment = painter._moment(run, [("0", requests.ViewRequest("weights"))], [])
    other = TrainingRun(setup.parse({"data": "moons", "dtype": "bfloat16"}))
    view_process._refresh(other, moment)
    for one, two in zip(
        run.program.model.parameters(), other.program.model.parameters(), strict=True
    ):
        assert torch.equal(one, two)
    for end in (*down, *up):
        os.close(end)


LIES = {
    "rubbish": b"\xff" * 300,
    "a body that is no message": spoken(1, b"\xc1\x00\x00"),
    "a message of another kind": spoken(1, msgspec.msgpack.encode(messages.Printed(1, "text"))),
    "a text that is none": spoken(1, view().replace(b"boundary", b"\xff" * 8)),
    "a view of another run": spoken(1, view(run_id=2)),
    "two views where one was ordered": spoken(1, view(), view()),
    "a gigabyte to come": view_process.HEADER.pack(1 << 30, 1),
    "an array longer than its bytes": spoken(
        1, view()[:-1] + b"\x80" + b"\xa6arrays" + b"\x81\xa1a\x93\x91\x09\xa3<f4\xc4\x00"
    ),
    "answers nobody asked for": spoken(
        1, view_process.DONE, view_process.DONE, view_process.DONE, view_process.DONE
    ),
    "old views without end": spoken(0, *[view()] * 50),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_process_that_lies_is_left_and_the_trainer_makes_its_views_itself(stranger, lie):
    painter, seen, _, up = stranger
    held = held_at(2, (requests.ViewRequest("boundary"),), data="circle")
    assert painter.send_snapshot(held)
    os.write(up, lie)
    painter.exchange()
    assert not painter.send_snapshot(held)
    assert len(seen) <= 1
    with pytest.raises(BrokenPipeError):
        os.write(up, b"x")


def test_what_is_true_arrives_whatever_its_pieces(stranger):
    painter, seen, _, up = stranger
    held = held_at(2, (requests.ViewRequest("boundary"),), data="circle")
    painter.send_snapshot(held)
    nan = replies.RawArray((3,), "<f4", np.full(3, np.nan, "<f4").tobytes())
    body = msgspec.msgpack.encode(replies.ViewReply(1, "boundary", 2, {"grid": nan}, {"x": np.nan}))
    for byte in spoken(1, view_process.DONE, body, view_process.DONE):
        os.write(up, bytes([byte]))
        painter.exchange()
    assert [one.arrays["grid"].data for one in seen] == [nan.data]
    assert painter._unanswered == 0


def test_half_an_answer_is_not_waited_for_without_end(stranger, monkeypatch):
    monkeypatch.setattr("gradscribe.engine.train.serve.view_client.PATIENCE_S", 0.2)
    monkeypatch.setattr("gradscribe.engine.train.serve.view_client.WORK_S", 0.1)
    painter, seen, _, up = stranger
    held = held_at(2, (requests.ViewRequest("boundary"),), data="circle")
    painter.send_snapshot(held)
    os.write(up, spoken(1, view())[:-5])
    while painter.send_snapshot(held):
        held.run.advance(5)
    assert seen == []
    assert held.run.step > 2


@pytest.mark.parametrize(("worked", "stays"), [(0.01, True), (0.5, False)])
def test_a_trainer_that_was_itself_kept_from_working_waits_on(stranger, monkeypatch, worked, stays):
    painter, _, _, _ = stranger
    held = held_at(2, (requests.ViewRequest("boundary"),), data="circle")
    clock = types.SimpleNamespace()
    monkeypatch.setattr("gradscribe.engine.train.serve.view_client.time", clock)
    gone_on = []
    for now in (100, 108, 116, 124):
        clock.perf_counter = functools.partial(float, now)
        clock.thread_time = functools.partial(float, now * worked)
        gone_on.append(painter.send_snapshot(held))
    assert gone_on == [True, True, True, stays]


def test_nobody_waits_for_a_process_that_does_not_read(stranger):
    painter, _, down, _ = stranger
    layers = {"name": "mlp", "layers": [600, 1000]}
    held = held_at(1, (requests.ViewRequest("weights"),), data="circle", model=layers)
    assert painter.send_snapshot(held)
    waiting = len(painter._unsent)
    assert waiting > 600 * 1000 * 4
    while painter._unsent:
        os.read(down, 1 << 16)
        assert painter.send_snapshot(held)
    assert painter._unanswered == 2


HANGS = """
import os
from gradscribe.engine.train.serve import view_process as easel

def forever(orders, results):
    os.write(results, b"x")
    while True:
        pass

easel.serve = forever
orders, results, child = easel.fork_process(lambda: None, ())
os.read(results, 1)
os.close(results)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@pytest.mark.e2e
@pytest.mark.skipif(sys.platform != "linux", reason="there is no such process")
def test_a_process_that_hangs_ends_when_nobody_listens():
    told = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=99)
    assert told.stdout == "0\n", told.stderr


def test_a_model_that_keeps_too_much_is_shown_by_the_trainer_itself(studio):
    painter, seen, _ = studio
    source = WARMING.replace("self.calls, ", "self.table = torch.zeros(2 ** 21); self.calls, ")
    model = {"name": "own", "source": source}
    held = held_at(3, (requests.ViewRequest("scores"),), data="xor", model=model)
    assert not painter.send_snapshot(held)
    assert seen == []


ENDS = """
import os, select
from gradscribe.engine.train.serve import view_process as easel
from gradscribe.engine.train.serve.hosted_run import HostedRun as Held
from gradscribe.engine.train.serve.view_client import ViewClient as Painter
from gradscribe.engine.train.runs.run import TrainingRun as Run
from gradscribe.engine.protocol import setup

easel.serve = lambda orders, results: os._exit(3)
orders, results, child = easel.fork_process(lambda: None, ())
painter = Painter(print, orders, results, child)
held = Held(1, Run(setup.parse({})), print)
held.playing = True
select.select([results], [], [])
while painter._child:
    painter.send_snapshot(held)
try:
    os.kill(child, 0)
except ProcessLookupError:
    print("gone")
"""


@pytest.mark.e2e
@pytest.mark.skipif(sys.platform != "linux", reason="there is no such process")
def test_a_process_that_ended_leaves_no_trace():
    told = subprocess.run([sys.executable, "-c", ENDS], capture_output=True, text=True, timeout=99)
    assert told.stdout == "gone\n", told.stderr


def test_a_model_with_very_many_parameters_is_shown_by_the_trainer_itself(studio, monkeypatch):
    painter, seen, _ = studio
    held = held_at(3, (requests.ViewRequest("scores"),))
    held.playing = True
    monkeypatch.setattr("gradscribe.engine.train.serve.view_client.MAX_VIEW_PARAMETERS", 3)
    assert not painter.send_snapshot(held)
    monkeypatch.undo()
    assert painter.send_snapshot(held)
    assert seen == []
