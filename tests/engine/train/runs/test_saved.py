"""A run that was saved goes on where it was, bit for bit."""

import csv
import io
import sys

import msgspec
import numpy as np
import pytest
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol.training import replies, requests
from gradscribe.engine.train.runs import measure, saved
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve.host import TrainingHost
from gradscribe.engine.train.source.changes import WeightEdit
from gradscribe.engine.train.source.program import ProgramError

NET = {"name": "mlp", "layers": [6], "dropout": 0.3, "norm": "batch"}
BASE = {"data": {"name": "moons", "n": 60}, "batch": 16, "model": NET, "validate_every": 3}
KINDS = {
    "adam": {"optimizer": "adam"},
    "momentum": {"optimizer": {"name": "sgd", "momentum": 0.9}},
    "milestones": {"optimizer": "sgd", "schedule": {"name": "multistep", "milestones": [3, 7, 12]}},
    "one cycle": {"optimizer": "sgd", "schedule": "one_cycle"},
    "constant": {"optimizer": "sgd", "schedule": {"name": "constant", "total_iters": 12}},
    "polynomial": {"optimizer": "sgd", "schedule": {"name": "polynomial", "total_iters": 15}},
    "plateau": {"optimizer": "adam", "schedule": {"name": "plateau", "patience": 1}},
    "scaler": {"amp": "float16", "optimizer": "sgd"},
    "lbfgs": {"optimizer": "lbfgs", "batch": 0, "model": "mlp"},
    "micro-batches": {"accumulate": 3, "batch": 7, "shuffle": False, "drop_last": True},
    "double": {"dtype": "float64", "clip_norm": 0.5, "frozen": ["0"]},
    "tokens": {"data": {"name": "copy_tokens", "n": 40}, "model": "recurrent"},
}


def bits(run):
    """Everything that a run has computed, to the bit."""
    return (
        run.step,
        run.epoch,
        [p.detach().clone() for p in run.program.model.parameters()],
        [b.clone() for b in run.program.model.buffers()],
        run.history.recent,
        run.program.optimizer.param_groups[0]["lr"],
    )


def same(one, other):
    assert one[:2] == other[:2]
    for mine, theirs in zip(one[2] + one[3], other[2] + other[3], strict=True):
        assert torch.equal(mine, theirs)
    assert one[4:] == other[4:]


@pytest.mark.parametrize("name", KINDS)
def test_a_run_goes_on_bit_for_bit(name):
    run = TrainingRun(setup.parse({**BASE, **KINDS[name]}))
    run.advance(10)
    run.leave()
    data = saved.save(run)
    torch.manual_seed(4321)
    again = saved.resume(data)
    same(bits(run), bits(again))
    for one in (run, again):
        one.enter()
        one.advance(10)
        one.leave()
    same(bits(run), bits(again))
    run.enter()
    run.rewind(4)
    again.rewind(4)
    same(bits(run), bits(again))


def test_what_was_changed_by_hand_is_saved_too():
    run = TrainingRun(setup.parse({**BASE, "optimizer": "sgd"}))
    run.advance(4)
    run.edit(WeightEdit("0.weight", 2, 0.75))
    run.change_setup(setup.parse({**BASE, "optimizer": "adam", "batch": 9}))
    run.advance(300)
    again = saved.resume(saved.save(run))
    assert again.changes == run.changes
    for step in (280, 4, 2):
        run.rewind(step)
        again.rewind(step)
        same(bits(run), bits(again))
        for one in (run, again):
            one.leave()


def test_a_step_that_is_open_goes_on_where_it_was():
    run, plain = TrainingRun(setup.parse(BASE)), TrainingRun(setup.parse(BASE))
    run.advance(3)
    for _ in range(3):
        run.next_event()
    data = saved.save(run)
    again = saved.resume(data)
    assert again.pending_events == 3
    again.enter()
    for _ in range(again.pending_events):
        again.next_event()
    assert again.events.index == run.events.index == 2
    assert again.events.loss == run.events.loss
    again.advance(3)
    plain.enter()
    plain.advance(6)
    same(bits(again), bits(plain))


def test_the_host_lights_the_lines_that_had_happened():
    run = TrainingRun(setup.parse(BASE))
    run.advance(3)
    for _ in range(2):
        run.next_event()
    data = saved.save(run)
    run.leave()
    said = []
    host = TrainingHost(said.append)
    host.take(requests.ResumeRun(5, data))
    happened = [one for one in said if isinstance(one, replies.EventDone)]
    assert [(one.step, one.index, one.done) for one in happened] == [(3, 0, False), (3, 1, False)]
    state = [one for one in said if isinstance(one, replies.TrainState)][-1]
    assert (state.status, state.step, state.event) == ("paused", 3, 2)
    host.take(requests.StepEvent(5))
    last = [one for one in said if isinstance(one, replies.EventDone)][-1]
    run.enter()
    assert (last.index, last.loss) == (2, run.next_event().loss)


def test_a_run_between_two_steps_has_nothing_to_finish():
    run = TrainingRun(setup.parse(BASE))
    run.advance(2)
    assert saved.resume(saved.save(run)).pending_events == 0


def test_checkpoints_are_thinned_to_the_budget(monkeypatch):
    run = TrainingRun(setup.parse({"data": {"name": "line"}, "model": "linear"}))
    run.advance(3000)
    whole = len(saved.resume(saved.save(run)).checkpoints)
    monkeypatch.setattr(saved, "BUDGET", 100_000)
    again = saved.resume(saved.save(run))
    assert 1 < len(again.checkpoints) < whole
    again.rewind(1500)
    run.rewind(1500)
    same(bits(again), bits(run))


def test_what_is_no_run_is_refused():
    good = saved.save(TrainingRun(setup.parse(BASE)))
    for bad in (b"", b"\x80", good[:-1], good[: len(good) // 2], b"\x93" + good[1:]):
        with pytest.raises(saved.SavedRunError):
            saved.resume(bad)


def test_a_run_whose_data_has_changed_is_refused(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("a,b\n1,2\n2,3\n3,5\n")
    given = {"data": {"name": "csv", "path": str(file), "inputs": ["a"], "target": "b"}}
    run = TrainingRun(setup.parse({**given, "model": "linear"}))
    data = saved.save(run)
    assert saved.resume(data).step == 0
    file.write_text("a,b\n1,2\n2,3\n3,6\n")
    with pytest.raises(saved.SavedRunError, match="not what it was"):
        saved.resume(data)
    file.unlink()
    with pytest.raises(setup.SetupError, match="no file"):
        saved.resume(data)


def test_numbers_that_do_not_fit_the_model_are_refused():
    small = saved.save(
        TrainingRun(setup.parse({"data": "moons", "model": {"name": "mlp", "layers": [3]}}))
    )
    big = saved.save(
        TrainingRun(setup.parse({"data": "moons", "model": {"name": "mlp", "layers": [5]}}))
    )
    mixed = msgspec.structs.replace(
        msgspec.msgpack.decode(small, type=saved.SavedRun),
        now=msgspec.msgpack.decode(big, type=saved.SavedRun).now,
    )
    with pytest.raises(saved.SavedRunError, match="do not fit"):
        saved.resume(msgspec.msgpack.encode(mixed))


def forged(run, **parts):
    given = msgspec.msgpack.decode(saved.save(run), type=saved.SavedRun)
    return msgspec.msgpack.encode(msgspec.structs.replace(given, **parts))


def with_memory(state, change):
    """A saved state whose optimizer's dict was changed."""
    at = saved._FIELDS.index("optimizer")
    memory = saved.from_lists(state.tree[at])
    change(memory)
    tree = [*state.tree[:at], saved.to_lists(memory), *state.tree[at + 1 :]]
    return msgspec.structs.replace(state, tree=tree)


FORGED = {
    "text": lambda memory: memory["state"].update({"weight": {"step": 1.0}}),
    "beyond": lambda memory: memory["state"].update({99: {"step": 1.0}}),
    "tensor": lambda memory: memory["state"].update({torch.zeros(2): {"step": 1.0}}),
    "group": lambda memory: memory["param_groups"][0].update(params=[0, 0, 0, 0, 0, 0]),
    "none": lambda memory: memory.pop("state"),
}


@pytest.mark.parametrize("name", FORGED)
@pytest.mark.parametrize("place", ["now", "past"])
def test_what_an_optimizer_remembers_of_no_parameter_is_refused(name, place):
    run = TrainingRun(setup.parse({**BASE, "optimizer": "adam"}))
    run.advance(3)
    given = msgspec.msgpack.decode(saved.save(run), type=saved.SavedRun)
    bad = with_memory(given.now if place == "now" else given.past[0], FORGED[name])
    with pytest.raises(saved.SavedRunError):
        saved.resume(forged(run, **{place: bad if place == "now" else (bad, *given.past[1:])}))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("curve", ["kept", "val"])
@pytest.mark.parametrize(
    "steps", [[float("nan")], [float("inf")], [0.5], [2, 1], [1, 1], [-1], [4], [1e300]]
)
def test_curves_of_steps_that_were_not_made_are_refused(curve, steps):
    run = TrainingRun(setup.parse(BASE))
    run.advance(3)
    width = 3 if curve == "kept" else 2
    rows = np.array([[step] + [0.5] * (width - 1) for step in steps])
    with pytest.raises(saved.SavedRunError, match="curves"):
        saved.resume(forged(run, **{curve: rows.astype("<f8").tobytes()}))


@pytest.mark.parametrize(
    ("key", "number"), [("threads", 2**20), ("threads", -1), ("batch", -3), ("seed", -5)]
)
def test_a_setup_that_nobody_could_have_chosen_is_refused(key, number):
    given = msgspec.msgpack.decode(saved.save(TrainingRun(setup.parse(BASE))), type=saved.SavedRun)
    forged = tuple(msgspec.structs.replace(one, **{key: number}) for one in given.setups)
    data = msgspec.msgpack.encode(msgspec.structs.replace(given, setups=forged))
    with pytest.raises(setup.SetupError, match=key):
        saved.resume(data)


def test_plain_and_live_are_each_other_s_inverse():
    value = {
        "a": [1, None, (2.5, True)],
        3: torch.tensor([[1.5, float("inf")]]),
        "e": torch.zeros(0),
    }
    found = saved.from_lists(saved.to_lists(value))
    assert found["a"] == value["a"]
    assert torch.equal(found[3], value[3])
    assert found["e"].shape == (0,)
    with pytest.raises(saved.SavedRunError, match="object"):
        saved.to_lists(object())


@pytest.mark.parametrize("limit", [1_000, 30_000])
def test_containers_that_lie_too_deep_are_refused(limit):
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        value, written = 1, 1
        for _ in range(400):
            value, written = [value], ["list", [written]]
        with pytest.raises(saved.SavedRunError, match="too deep"):
            saved.to_lists(value)
        with pytest.raises(ValueError, match="deeper"):
            saved.from_lists(written)
    finally:
        sys.setrecursionlimit(before)


HARMLESS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.a, self.b = nn.Linear(2, width), nn.Linear(width, 1)
    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))
"""
HARM = {
    "an import": "import os\n" + HARMLESS,
    "when it is made": HARMLESS.replace("super().__init__()", "super().__init__(); open('x')"),
    "at a step": HARMLESS.replace("return ", "().__class__; return "),
    "a name made then": HARMLESS.replace("return ", "getattr(x, '_' + '_class__'); return "),
}


def own(source, **options):
    return setup.parse({**BASE, "model": {"name": "own", "source": source, **options}})


def test_a_module_from_elsewhere_trains_as_it_does_otherwise():
    free, held = (TrainingRun(own(HARMLESS, guarded=guarded)) for guarded in (False, True))
    for run in (free, held):
        run.enter()
        run.advance(5)
        run.leave()
    same(bits(free), bits(held))


@pytest.mark.parametrize("name", HARM)
def test_a_module_from_elsewhere_may_do_no_more_than_a_program_from_there(name):
    with pytest.raises(ProgramError) as refused:
        TrainingRun(own(HARM[name], guarded=True))
    assert refused.value.problem.type == "Refused"
    assert refused.value.problem.hint


def test_its_arguments_are_held_to_the_same():
    with pytest.raises(ProgramError):
        TrainingRun(own(HARMLESS, arguments="__import__('os').getpid()", guarded=True))
    TrainingRun(own(HARMLESS, arguments="__import__('os').getpid() * 0 + 3"))


def test_what_is_opened_from_elsewhere_is_held_to_it_whatever_it_says():
    run = TrainingRun(own(HARMLESS))
    run.leave()
    again = saved.resume(saved.save(run), policy=True)
    assert again.setup.model.options["guarded"] is True
    again.leave()


def test_a_run_with_too_many_weights_is_refused_before_any_copy_is_made(monkeypatch):
    run = TrainingRun(setup.parse(BASE))
    size = sum(p.nbytes for p in run.program.model.parameters())
    monkeypatch.setattr(saved, "LIMIT", size - 1)
    monkeypatch.setattr(run, "state", lambda: pytest.fail("it was copied"))
    with pytest.raises(saved.SavedRunError, match="more than"):
        saved.save(run)


def test_norms_from_before_stand_in_the_file_of_all_curves():
    run = TrainingRun(setup.parse({**BASE, "model": "mlp", "batch": 0}))
    weight = run.program.model.get_parameter("0.weight")
    seen = {}
    for step in (3, 7):
        run.advance(step - 1 - run.step)
        measure.measure_step(run)
        seen[step] = repr(weight.grad.norm().item())
    run.advance(10 - run.step)
    again = saved.resume(saved.save(run))
    assert again.history.csv() == run.history.csv()
    for one in (run, again):
        measure.measure_step(one)
    seen[11] = repr(weight.grad.norm().item())
    rows = list(csv.DictReader(io.StringIO(again.history.csv())))
    found = {int(row["step"]): float(row["grad:0.weight"]) for row in rows if row["grad:0.weight"]}
    assert found == {step: pytest.approx(float(norm), rel=1e-6) for step, norm in seen.items()}
    assert again.history.csv() == run.history.csv()
    again.rewind(5)
    assert again.history.norms()[:, 0].tolist() == [3.0]


def test_a_file_from_before_norms_were_saved_goes_on_without_them():
    run = TrainingRun(setup.parse(BASE))
    measure.measure_step(run)
    fields = msgspec.msgpack.decode(saved.save(run))
    del fields["norms"]
    again = saved.resume(msgspec.msgpack.encode(fields))
    assert again.step == 1
    assert len(again.history.norms()) == 0
    for spoilt in (b"\0" * 12, np.full(1 + 2 * 8, 99.0).astype("<f8").tobytes()):
        with pytest.raises(saved.SavedRunError):
            saved.resume(msgspec.msgpack.encode({**fields, "norms": spoilt}))
