"""Requests of the window are answered, in bounded messages, with torch's own numbers."""

import csv
import io
import json
import math

import numpy as np
import pytest
import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol.setup import Part
from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.protocol.training import replies as training_replies
from gradscribe.engine.protocol.training import requests as training_requests
from gradscribe.engine.train.serve.host import TrainingHost
from gradscribe.engine.train.source import codegen


class Desk:
    """A host, and all it has said."""

    def __init__(self):
        self.said = []
        self.host = TrainingHost(self.said.append)

    def ask(self, *requests):
        """Ask, and return what was said since."""
        before = len(self.said)
        for request in requests:
            self.host.take(request)
        return self.said[before:]

    def train(self, run_id=1, **given):
        given = {"data": "moons", "batch": 16, **given}
        return self.ask(training_requests.Train(run_id, setup.parse(given)))

    def work(self):
        """Let it go on until nothing plays."""
        before = len(self.said)
        while self.host.work() is not None:
            pass
        return self.said[before:]

    def steps(self, count, run_id=1):
        self.ask(training_requests.Advance(run_id, count))
        return self.work()


def of(kind, messages):
    return [m for m in messages if isinstance(m, kind)]


def only(kind, messages):
    (one,) = of(kind, messages)
    return one


def curve(messages, column=0):
    """Step and value of a column, as told, what was to be forgotten left out."""
    told = {}
    for part in of(training_replies.SeriesChunk, messages):
        if part.after is not None:
            told = {step: value for step, value in told.items() if step <= part.after}
        for step, row in zip(part.steps.array(), part.values.array(), strict=True):
            told[int(step)] = float(row[column])
    return told


@pytest.fixture
def desk():
    return Desk()


def test_the_catalogue_names_everything_with_its_defaults(desk):
    found = only(training_replies.Catalogue, desk.ask(training_requests.ListCatalogue(7)))
    adam = next(e for e in found.entries if e.name == "adam")
    assert {o.name: o.default for o in adam.options}["betas"] == [0.9, 0.999]
    kinds = {e.kind for e in found.entries}
    assert kinds == {"data", "model", "loss", "optimizer", "schedule"}
    assert "no_zero_grad" in found.mistakes
    assert all(e.title and e.help for e in found.entries)


def test_a_run_begins_paused_with_all_there_is_to_know(desk):
    said = desk.train(model={"name": "mlp", "layers": [4, 2]})
    begun, data = only(training_replies.RunStarted, said), only(training_replies.DataSample, said)
    assert [p.shape for p in begun.parameters] == [(4, 2), (4,), (2, 4), (2,), (1, 2), (1,)]
    assert [p.start for p in begun.parameters] == [0, 8, 12, 20, 22, 24]
    assert [(u.name, u.width) for u in begun.units] == [("0", 4), ("2", 2), ("4", 1)]
    assert [event for event, _ in begun.lines] == [
        "zero_grad", "forward", "loss", "backward", "step"
    ]  # fmt: skip
    assert data.x.array().shape == (200, 2)
    assert data.train.array().sum() == 160
    state = of(training_replies.TrainState, said)[-1]
    assert (state.status, state.step) == ("paused", 0)
    assert begun.setup.loss == Part("bce", {})


def test_every_step_is_told_once_and_in_order(desk):
    desk.train(model="linear", optimizer="sgd", batch=0)
    said = desk.steps(5000) + desk.steps(1)
    told = curve(said)
    assert [s for s in told if s] == list(range(1, 5002))
    assert sum(len(p.steps.array()) for p in of(training_replies.SeriesChunk, said)) == 5001
    assert all(
        len(p.steps.array()) <= training_replies.SERIES_STEPS
        for p in of(training_replies.SeriesChunk, said)
    )
    assert of(training_replies.TrainState, said)[-1].step == 5001


def test_forks_go_on_from_where_they_were_taken(desk):
    desk.train(optimizer={"name": "adam", "lr": 0.01})
    plain = curve(desk.steps(100))
    given = {"data": "moons", "batch": 16, "optimizer": {"name": "adam", "lr": 0.01}}
    said = desk.ask(training_requests.Fork(2, 1, 70, setup.parse(given)))
    begun = only(training_replies.RunStarted, said)
    assert (begun.parent, begun.parent_step) == (1, 70)
    again = curve(said + desk.steps(30, 2))
    assert again == plain | {0: again[0]} or all(again[s] == plain[s] for s in range(1, 101))
    said = desk.ask(training_requests.Fork(3, 1, 70, setup.parse({**given, "optimizer": "sgd"})))
    other = curve(said + desk.steps(30, 3))
    assert other[71] == plain[71]
    assert other[75] != plain[75]


def test_rewinding_tells_what_to_forget(desk):
    desk.train()
    first = curve(desk.steps(200))
    back = desk.ask(training_requests.Rewind(1, 90))
    assert only(training_replies.SeriesChunk, back).after == 90
    assert of(training_replies.TrainState, back)[-1].step == 90
    assert curve(desk.steps(110))[200] == first[200]


def test_reset_keeps_weights_and_data_unless_new_ones_are_wanted(desk):
    desk.train()
    first = curve(desk.steps(5))
    desk.ask(training_requests.ResetRun(1))
    assert curve(desk.steps(5))[5] == first[5]
    for new in ({"weights": True}, {"data": True}):
        said = desk.ask(training_requests.ResetRun(1, **new))
        begun = only(training_replies.RunStarted, said)
        seeds = codegen.seeds(begun.setup)
        assert seeds != (0, 0)
        assert curve(desk.steps(5))[5] != first[5]


def test_views_show_what_the_model_says(desk):
    desk.train(model={"name": "mlp", "layers": [4], "dropout": 0.5}, data="circle")
    desk.steps(20)
    kinds = ["boundary", "units", "confusion", "scores", "gradients", "histograms", "weights",
             "optimizer", "surface", "fit", "residuals", "nothing"]  # fmt: skip
    wishes = tuple(training_requests.ViewRequest(kind, 0, {"side": 10}) for kind in kinds)
    said = of(training_replies.ViewReply, desk.ask(training_requests.WatchViews(1, wishes)))
    assert [v.kind for v in said] == kinds[:-3]
    views = {v.kind: {k: a.array() for k, a in v.arrays.items()} for v in said}
    program = desk.host._runs[1].run.program
    model = program.model
    assert model.training
    x0, y0, x1, y1 = views["boundary"]["box"].tolist()
    model.eval()
    corner = model(torch.tensor([[x0, y1]])).item()
    assert views["boundary"]["grid"][0, 0, 0] == pytest.approx(corner, abs=1e-5)
    layer = torch.tanh(model[0](torch.tensor([[x1, y0]])))[0]
    assert views["units"]["grid"][:4, -1, -1] == pytest.approx(layer.tolist(), abs=1e-5)
    right = ((model(program.x)[:, 0] > 0).long() == program.y)[program.tensor("val_rows")]
    assert np.trace(views["confusion"]["val"]) == right.sum()
    flat = torch.cat([p.reshape(-1) for p in model.parameters()])
    assert torch.equal(torch.tensor(views["weights"]["flat"]), flat.detach())
    assert views["histograms"]["counts"].sum() == len(flat)
    memory = program.optimizer.state[model[0].weight]["exp_avg"]
    assert views["optimizer"]["exp_avg"][:8].tolist() == memory.reshape(-1).tolist()
    loss = program.criterion(model(program.tensor("x_train")), program.tensor("y_train")).item()
    scores = next(v.facts for v in said if v.kind == "scores")
    assert scores["train_loss"] == pytest.approx(loss)
    assert views["surface"]["grid"].shape == (10, 10)


def test_views_leave_a_run_as_it_was(desk):
    net = {"name": "mlp", "dropout": 0.5, "norm": "batch"}
    desk.train(model=net)
    plain = curve(desk.steps(60))
    other = Desk()
    other.train(model=net)
    wishes = tuple(
        training_requests.ViewRequest(k, 0, {"side": 5})
        for k in ("boundary", "units", "histograms", "surface")
    )
    other.ask(training_requests.WatchViews(1, wishes))
    told = {}
    for _ in range(60):
        torch.rand(3)
        told |= curve(other.steps(1))
    assert all(told[step] == plain[step] for step in range(1, 61))


def test_gradient_norms_and_update_ratios_are_told_for_some_steps(desk):
    said = desk.train(optimizer={"name": "sgd", "lr": 0.5}, model="linear", batch=0)
    columns = only(training_replies.RunStarted, said).series
    model = desk.host._runs[1].run.program.model
    desk.steps(1)
    before = model.weight.detach().clone()
    said = desk.steps(1)
    norm = curve(said, columns.index("grad:weight"))[2]
    ratio = curve(said, columns.index("ratio:weight"))[2]
    assert norm == pytest.approx(model.weight.grad.norm().item())
    assert ratio == pytest.approx(0.5 * norm / before.norm().item(), rel=1e-4)


def test_the_tape_of_a_step_is_that_step(desk):
    desk.train(optimizer="sgd")
    told = curve(desk.steps(30))
    wanted = desk.ask(training_requests.RecordStep(1, 12))
    found = only(training_replies.StepTape, wanted)
    assert isinstance(found.tape, Tape)
    assert (found.step, found.tape.status) == (12, "ok")
    loss = next(v for v in reversed(found.tape.values) if v.name == "loss")
    assert found.tape.snapshots[loss.snapshot].item() == told[13]
    assert [s.optimizer for s in found.tape.steps] == ["SGD"]
    assert curve(desk.steps(1))[31] == curve(Desk_run(31))[31]


def Desk_run(count):
    other = Desk()
    other.train(optimizer="sgd")
    return other.steps(count)


CONDITIONS = [
    (training_requests.StopCondition("step", 33), "step", lambda s: s == 33),
    (training_requests.StopCondition("loss_below", 0.5), "loss_below", lambda s: 0 < s < 3000),
    (training_requests.StopCondition("plateau", 30), "plateau", lambda s: 0 < s < 100_000),
]


@pytest.mark.parametrize(("until", "reached", "fits"), CONDITIONS, ids=lambda c: str(c)[:20])
def test_a_run_goes_on_until_a_condition_holds(desk, until, reached, fits):
    desk.train(optimizer={"name": "adam", "lr": 0.02})
    desk.ask(training_requests.Play(1, until=(until,)))
    state = of(training_replies.TrainState, desk.work())[-1]
    assert (state.status, state.reached) == ("paused", reached)
    assert fits(state.step)


def test_a_nan_pauses_before_the_step_that_made_it_and_names_the_op(desk):
    source = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(1, 1)

    def forward(self, x):
        return torch.sqrt(self.line(x) - 0.2)
"""
    desk.train(
        data={"name": "house_size", "noise": 0.0},
        model={"name": "own", "source": source},
        optimizer={"name": "sgd", "lr": 3.0},
        batch=0,
        weight_seed=3,
    )
    said = desk.steps(200)
    state = of(training_replies.TrainState, said)[-1]
    assert (state.status, state.reached) == ("paused", "nan")
    assert "sqrt" in state.problem.message.lower()
    weights = desk.host._runs[1].run.program.model.parameters()
    assert all(torch.isfinite(p).all() for p in weights)
    assert (
        of(training_replies.TrainState, desk.ask(training_requests.Rewind(1, 0)))[-1].problem
        is None
    )


def test_events_are_told_one_by_one(desk):
    desk.train()
    said = [
        only(training_replies.EventDone, desk.ask(training_requests.StepEvent(1))) for _ in range(5)
    ]
    assert [h.event for h in said] == ["zero_grad", "forward", "loss", "backward", "step"]
    assert said[-1].done
    assert said[2].loss == desk.host._runs[1].run.history.recent[-1]


def test_live_changes_say_what_holds_and_what_restarts(desk):
    desk.train()
    desk.steps(5)
    new = setup.parse({"data": "moons", "batch": 8})
    altered = only(training_replies.SetupChanged, desk.ask(training_requests.ChangeSetup(1, new)))
    assert (altered.applied, altered.restarts, altered.step) == (("batch",), (), 5)
    said = desk.ask(
        training_requests.ChangeSetup(1, setup.parse({"data": "moons", "model": "linear"}))
    )
    assert only(training_replies.SetupChanged, said).restarts == ("model",)
    assert only(training_replies.RunStarted, said).parameters[0].shape == (1, 2)


def test_bad_requests_leave_the_run_as_it_was(desk):
    desk.train()
    desk.steps(5)
    bad = [
        training_requests.ChangeSetup(
            1, setup.parse({"data": "moons", "optimizer": {"name": "adam", "lr": -1}})
        ),
        training_requests.EditWeight(1, "nobody", 0, 1.0),
        training_requests.EditWeight(1, "0.weight", 10**9, 1.0),
        training_requests.EditWeight(1, "0.weight", 0, float("nan")),
        training_requests.EditWeight(1, "0.weight", 0, 1e39),
        training_requests.ChangeSetup(
            1, setup.parse({"data": "moons", "loss": "mse", "accumulate": 999})
        ),
    ]
    for request in bad:
        assert only(training_replies.TrainProblem, desk.ask(request)).problem.message
    assert only(training_replies.TrainState, desk.ask(training_requests.Play(99))).status == "gone"
    assert of(training_replies.TrainState, desk.steps(1))[-1].step == 6


def test_a_checkpoint_is_safetensors(desk):
    desk.train(model={"name": "mlp", "norm": "batch"})
    desk.steps(3)
    data = only(
        training_replies.Exported, desk.ask(training_requests.Export(1, "safetensors"))
    ).data
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    state = desk.host._runs[1].run.program.model.state_dict()
    assert header.keys() - {"__metadata__"} == state.keys()
    kinds = {"F32": "<f4", "I64": "<i8"}
    for name, tensor in state.items():
        start, end = header[name]["data_offsets"]
        raw = data[8 + length + start : 8 + length + end]
        read = np.frombuffer(raw, kinds[header[name]["dtype"]]).reshape(header[name]["shape"])
        assert read.tolist() == tensor.tolist()


def test_the_curves_are_exported_as_csv(desk):
    desk.train()
    told = curve(desk.steps(120))
    data = only(training_replies.Exported, desk.ask(training_requests.Export(1, "csv"))).data
    rows = list(csv.DictReader(io.StringIO(data.decode())))
    assert {int(r["step"]): float(r["loss"]) for r in rows if r["loss"]} == {
        s: v for s, v in told.items() if not math.isnan(v)
    }
    assert [int(r["step"]) for r in rows if r["val"]] == [0, 50, 100]


def test_a_csv_file_is_looked_into(desk, tmp_path):
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("size;town;price\n1,5;A;3\n2;B;4\n", encoding="utf-8")
    found = only(
        training_replies.FileSummary, desk.ask(training_requests.InspectFile(1, str(good)))
    )
    assert found.columns == ("size", "town", "price")
    assert found.numeric == (True, False, True)
    bad.write_text("a,b\n1,2\n3,4,5\n", encoding="utf-8")
    found = only(training_replies.FileSummary, desk.ask(training_requests.InspectFile(1, str(bad))))
    assert "row 3" in found.problem.message
    missing = only(
        training_replies.FileSummary,
        desk.ask(training_requests.InspectFile(1, str(tmp_path / "no.csv"))),
    )
    assert "no such file" in missing.problem.message


def test_a_csv_file_is_trained_on_and_its_errors_name_the_row(desk, tmp_path):
    file = tmp_path / "houses.csv"
    rows = [f"{size},{size % 3},{2 * size + 1}" for size in range(40)]
    file.write_text("\n".join(["size,rooms,price", *rows]), encoding="utf-8")
    data = {"name": "csv", "path": str(file), "inputs": ["size", "rooms"], "target": "price"}
    said = desk.train(data=data, model="linear", standardize=True)
    assert only(training_replies.RunStarted, said).inputs == ("size", "rooms")
    rows[17] = "seven,1,2"
    file.write_text("\n".join(["size,rooms,price", *rows]), encoding="utf-8")
    problem = only(training_replies.TrainProblem, desk.train(2, data=data, model="linear"))
    assert "row 19" in problem.problem.message
    assert "'seven'" in problem.problem.message


def test_no_steps_are_no_steps(desk):
    desk.train()
    state = of(training_replies.TrainState, desk.steps(0))[-1]
    assert (state.status, state.step) == ("paused", 0)
    desk.steps(4)
    desk.ask(training_requests.Play(1, until=(training_requests.StopCondition("step", 2),)))
    state = of(training_replies.TrainState, desk.work())[-1]
    assert (state.status, state.step, state.reached) == ("paused", 4, "step")


def test_a_run_that_was_paused_by_nan_goes_on_when_its_structure_is_changed(desk):
    """The window need not have heard of the NaN yet when the change is made."""
    wild = {"data": "line", "optimizer": {"name": "sgd", "lr": 10.0}, "loss": "mse"}
    desk.train(**wild)
    desk.ask(training_requests.Play(1))
    state = of(training_replies.TrainState, desk.work())[-1]
    assert (state.status, state.reached) == ("paused", "nan")
    tame = setup.parse({"data": "sine", "batch": 16})
    desk.ask(training_requests.ChangeSetup(1, tame))
    for _ in range(5):
        desk.host.work()
    states = of(training_replies.TrainState, desk.said)
    assert (states[-1].status, states[-1].reached) == ("running", "")
    assert states[-1].step > 0


def test_a_run_that_was_paused_by_hand_stays_paused_when_its_structure_is_changed(desk):
    desk.train()
    desk.ask(
        training_requests.Play(1),
        training_requests.Pause(1),
        training_requests.ChangeSetup(1, setup.parse({"data": "sine"})),
    )
    assert desk.work() == []
    assert of(training_replies.TrainState, desk.said)[-1].status == "paused"


def test_a_change_after_nan_takes_the_word_for_it_back(desk):
    desk.train(data="line", optimizer={"name": "sgd", "lr": 10.0}, loss="mse")
    desk.ask(training_requests.Play(1))
    desk.work()
    slower = {"data": "line", "optimizer": {"name": "sgd", "lr": 0.01}, "loss": "mse"}
    said = desk.ask(training_requests.ChangeSetup(1, setup.parse({"batch": 16, **slower})))
    state = of(training_replies.TrainState, said)[-1]
    assert (state.status, state.reached, state.problem) == ("paused", "", None)


def test_going_back_and_on_again_sends_the_steps_to_set_aside_and_to_bring_back(desk):
    desk.train()
    known = curve(desk.steps(60))
    back = only(training_replies.SeriesChunk, desk.ask(training_requests.Rewind(1, 20)))
    assert (back.after, back.until, len(back.steps.array())) == (20, None, 0)
    there = desk.ask(training_requests.Rewind(1, 45))
    assert only(training_replies.SeriesChunk, there).until == 45
    assert of(training_replies.TrainState, there)[-1].step == 45
    end = desk.ask(training_requests.Rewind(1, None))
    assert only(training_replies.SeriesChunk, end).until == 60
    assert of(training_replies.TrainState, end)[-1].step == 60
    desk.ask(training_requests.Rewind(1, 20))
    again = curve(desk.ask(training_requests.Rewind(1, 70)) + desk.work())
    assert sorted(again) == list(range(61, 71))
    desk.ask(training_requests.Rewind(1, 0))
    assert {step: loss for step, loss in curve(desk.steps(60)).items() if step} == {
        step: loss for step, loss in known.items() if step
    }


def test_a_fork_without_a_step_or_a_setup_is_of_where_the_run_is(desk):
    desk.train()
    desk.steps(30)
    said = desk.ask(training_requests.Fork(2, 1, None, None))
    begun = only(training_replies.RunStarted, said)
    assert (begun.parent, begun.parent_step) == (1, 30)
    assert begun.setup.optimizer == Part("adam", begun.setup.optimizer.options)


def parsed(lr=0.001, **more):
    given = {"data": "moons", "batch": 16, "optimizer": {"name": "adam", "lr": lr}, **more}
    return setup.parse(given)


def test_only_what_was_edited_is_changed_of_a_setup_that_has_changed_meanwhile(desk):
    desk.train(optimizer={"name": "adam", "lr": 0.001})
    desk.steps(10)
    desk.ask(training_requests.ChangeSetup(1, parsed(0.1), base=parsed()))
    desk.steps(10)
    desk.ask(training_requests.Rewind(1, 5))
    # The window has not heard of the rewind yet.
    asked, base = parsed(0.1, clip_norm=2.0), parsed(0.1)
    said = desk.ask(training_requests.ChangeSetup(1, asked, base=base))
    changed = only(training_replies.SetupChanged, said)
    assert changed.applied == ("clip_norm",)
    assert (changed.setup, changed.base) == (asked, base)
    state = desk.host._runs[1].run.setup
    assert (state.clip_norm, state.optimizer.options["lr"]) == (2.0, 0.001)


def test_a_default_that_depends_on_the_data_follows_other_data(desk):
    desk.train()
    base = setup.parse({"data": "moons", "batch": 16})
    asked = setup.parse({"data": "sine", "batch": 16})
    begun = only(
        training_replies.RunStarted,
        desk.ask(training_requests.ChangeSetup(1, asked, base=base)),
    )
    assert begun.setup.loss == Part("mse", {})


def test_a_step_is_recorded_in_its_middle_and_the_run_stays_there(desk):
    desk.train()
    desk.steps(5)
    for _ in range(3):
        desk.ask(training_requests.StepEvent(1))
    tape = only(training_replies.StepTape, desk.ask(training_requests.RecordStep(1)))
    assert (tape.step, tape.done) == (5, 3)
    done = only(training_replies.EventDone, desk.ask(training_requests.StepEvent(1)))
    assert (done.step, done.index, done.event) == (5, 3, "backward")
