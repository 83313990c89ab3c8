"""Drafts of a program that runs on: what they have, and that they change nothing."""

import threading

import msgspec
import pytest

from gradscribe.engine.protocol.check_tape import find_flaws
from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.run.live import drafts
from gradscribe.engine.run.run import execute

MLP = """\
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
X = torch.randn(16, 4)
for step in range(60):
    opt.zero_grad()
    loss = net(X).pow(2).mean()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print(step, loss.item())
"""
RETAINED = """\
w = torch.tensor([1.0, 2.0], requires_grad=True)
y = (w * w).sum()
total = []
for i in range(40):
    y.backward(retain_graph=True)
    v = w.detach() * i
    total.append(v.sum())
"""
GAN = """\
a, b = nn.Linear(2, 2), nn.Linear(2, 1)
opt_a, opt_b = torch.optim.SGD(a.parameters(), 0.1), torch.optim.SGD(b.parameters(), 0.1)
for i in range(50):
    for phase in (0, 1):
        opt_a.zero_grad(); opt_b.zero_grad()
        out = b(a(torch.ones(3, 2))).mean() * (1 - 2 * phase)
        out.backward()
        (opt_a, opt_b)[phase].step()
"""
PROGRAMS = {"mlp": MLP, "retained": RETAINED, "gan": GAN}


class EveryRound:
    """Takes the place of the process's sender: makes a draft at the end of each step."""

    def __init__(self):
        self.tapes = []

    def watch(self, recorder, make):
        def add():
            self.tapes.append(make())
            recorder.loops.draft_wanted = True

        recorder.loops.on_draft = add
        recorder.loops.draft_wanted = True


def timeless(tape):
    """Return a tape without what a clock gave it."""
    loops = tuple(
        msgspec.structs.replace(loop, columns=tuple(c for c in loop.columns if c.kind != "time"))
        for loop in tape.step_loops
    )
    return msgspec.structs.replace(tape, times=(), step_loops=loops)


@pytest.mark.parametrize("full_events", [40_000, 400], ids=["full", "part"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_drafts_leave_the_recording_as_it_is(monkeypatch, name, full_events):
    request = Run(1, PROGRAMS[name], full_events=full_events, drafts=True)
    plain = timeless(execute(request))
    made = EveryRound()
    monkeypatch.setattr(drafts, "current", made)
    assert timeless(execute(request)) == plain
    assert len(made.tapes) > 20


@pytest.mark.parametrize("full_events", [40_000, 400], ids=["full", "part"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_draft_is_the_beginning_of_the_tape(monkeypatch, name, full_events):
    made = EveryRound()
    monkeypatch.setattr(drafts, "current", made)
    tape = execute(Run(1, PROGRAMS[name], full_events=full_events, drafts=True))
    sizes = [len(part.events) for part in made.tapes]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1] <= len(tape.events)
    for part in made.tapes:
        assert not list(filter(None, find_flaws(part)))
        count = len(part.events)
        assert part.events == tape.events[:count]
        assert part.snapshots == tape.snapshots[: len(part.snapshots)]
        shared = zip(part.values, tape.values, strict=False)
        assert all((a.id, a.snapshot, a.shape) == (b.id, b.snapshot, b.shape) for a, b in shared)
        assert tape.stdout.startswith(part.stdout)


def test_without_a_request_there_is_none(monkeypatch):
    made = EveryRound()
    monkeypatch.setattr(drafts, "current", made)
    execute(Run(1, MLP))
    assert made.tapes == []


class Loops:
    draft_wanted = False
    on_draft = None


class Recorder:
    def __init__(self):
        self.loops = Loops()


def test_a_draft_is_asked_for_when_it_is_due_and_sent_once(monkeypatch):
    monkeypatch.setattr(drafts, "FIRST_S", 0.0)
    sent, arrived = [], threading.Event()
    sender = drafts.DraftSender(lambda run_id, tape: (sent.append((run_id, tape)), arrived.set()))
    recorder, tape = Recorder(), Tape(stdout="so far")
    sender.tick()
    sender.begin(7)
    sender.watch(recorder, lambda: tape)
    sender.tick()
    assert recorder.loops.draft_wanted
    recorder.loops.draft_wanted = False
    sender.tick()
    assert not recorder.loops.draft_wanted, "asked for once"
    recorder.loops.on_draft()
    assert arrived.wait(10)
    sender.end()
    assert sent == [(7, tape)]
    assert recorder.loops.on_draft is None
    sender.tick()
    assert not recorder.loops.draft_wanted
    sender.close()
