"""Settings in force, and the lines of a step, are sent whenever they change."""

import math
import time

import torch

from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol.training import replies as training_replies
from gradscribe.engine.protocol.training import requests
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve.hosted_run import HostedRun
from tests.engine.train.modules import CAREFUL
from tests.engine.train.serve.test_host import Desk, curve, of, only

LINE = {"data": "line", "model": "linear", "batch": 0, "validate_every": 0}


def sgd(lr, **given):
    return setup.parse({**LINE, "optimizer": {"name": "sgd", "lr": lr}, **given})


def begun(lr=0.05):
    desk = Desk()
    desk.ask(requests.Train(1, sgd(lr)))
    return desk


def rate(desk):
    return desk.host._runs[1].run.program.optimizer.param_groups[0]["lr"]


def test_going_back_past_a_change_tells_that_the_former_setting_holds():
    desk = begun()
    desk.steps(30)
    desk.ask(requests.ChangeSetup(1, sgd(0.2)))
    desk.steps(5)
    assert not of(training_replies.SetupRestored, desk.ask(requests.Rewind(1, 32)))
    went = only(training_replies.SetupRestored, desk.ask(requests.Rewind(1, 20)))
    assert (went.step, rate(desk)) == (20, 0.05)
    assert went.before.optimizer.options["lr"] == 0.2
    assert went.now.optimizer.options["lr"] == 0.05
    assert not of(training_replies.SetupRestored, desk.steps(20))


def test_what_holds_at_a_step_is_there_still_when_one_goes_back_to_it():
    desk = begun()
    desk.steps(30)
    desk.ask(requests.ChangeSetup(1, sgd(0.2)))
    desk.steps(5)
    assert not of(training_replies.SetupRestored, desk.ask(requests.Rewind(1, 30)))
    assert rate(desk) == 0.2


def test_a_reset_keeps_what_was_set_on_the_way_and_begins_with_the_same_weights():
    desk = begun()
    model = desk.host._runs[1].run.program.model
    first = [p.detach().clone() for p in model.parameters()]
    desk.steps(30)
    desk.ask(requests.ChangeSetup(1, sgd(0.2)))
    desk.steps(5)
    made = only(training_replies.RunStarted, desk.ask(requests.ResetRun(1)))
    assert made.setup.optimizer.options["lr"] == 0.2
    run = desk.host._runs[1].run
    assert all(
        torch.equal(p, q) for p, q in zip(run.program.model.parameters(), first, strict=True)
    )
    other = Desk()
    other.ask(requests.Train(1, sgd(0.2)))
    assert curve(desk.steps(20)) == curve(other.steps(20))


def test_a_reset_keeps_the_weights_one_began_with_by_hand():
    desk = begun()
    desk.ask(requests.EditWeight(1, "weight", 0, 7.0))
    desk.steps(3)
    desk.ask(
        requests.EditWeight(1, "weight", 0, -7.0),
        requests.ChangeSetup(1, sgd(0.2)),
        requests.ResetRun(1),
    )
    assert desk.host._runs[1].run.program.model.weight.item() == 7.0


def test_a_change_tells_the_lines_that_a_step_has_now():
    desk = begun()
    desk.steps(3)
    told = only(
        training_replies.SetupChanged, desk.ask(requests.ChangeSetup(1, sgd(0.05, clip_norm=1.0)))
    )
    assert [event for event, _ in told.lines][-2:] == ["clip", "step"]
    events = [only(training_replies.EventDone, desk.ask(requests.StepEvent(1))) for _ in told.lines]
    assert [one.event for one in events] == [event for event, _ in told.lines]
    assert events[-1].done
    assert len(only(training_replies.SetupRestored, desk.ask(requests.Rewind(1, 1))).lines) == 5


def test_a_loss_that_is_not_finite_is_told_once_with_the_op_that_made_it():
    desk = begun(lr=5.0)
    state = of(training_replies.TrainState, desk.steps(100))[-1]
    bad, made = state.step + 1, "mse_loss in criterion made the first infinity"
    assert state.problem.message == f"The loss of step {bad} is infinite: {made}"


def table(rows):
    text = "a,b\n" + "".join(f"{i},{3 * i}\n" for i in range(rows))
    return requests.ProvideFile(0, "t.csv", text.encode())


def of_table(**given):
    data = {"name": "csv", "path": "t.csv", "inputs": ["a"], "target": "b"}
    return setup.parse({**LINE, "data": data, "standardize": True, **given})


def rows(desk, run_id):
    return len(desk.host._runs[run_id].run.program.x)


def test_a_file_that_changes_is_another_only_for_who_reads_it_again():
    desk = Desk()
    desk.ask(table(10), requests.Train(1, of_table()))
    desk.steps(5)
    desk.ask(table(20), requests.Fork(2, 1, 3, of_table()))
    assert rows(desk, 2) == 10, "a fork has the past, and the data, of its run"
    desk.ask(requests.ResetRun(2, weights=True))
    assert rows(desk, 2) == 10
    desk.ask(requests.ChangeSetup(1, of_table(model="polynomial")))
    assert rows(desk, 1) == 10
    desk.ask(requests.Train(3, of_table()))
    assert rows(desk, 3) == 20


def test_a_file_is_read_again_on_demand_and_what_is_refused_changes_nothing():
    desk = Desk()
    desk.ask(table(10), requests.Train(1, of_table()))
    desk.steps(5)
    desk.ask(requests.ProvideFile(0, "t.csv", b"a,b\n1,2\n3,four\n"))
    said = desk.ask(requests.ChangeSetup(1, of_table(), reread=True))
    assert "row 3" in only(training_replies.TrainProblem, said).problem.message
    assert (rows(desk, 1), desk.host._runs[1].run.step) == (10, 5)
    desk.ask(table(20))
    said = desk.ask(requests.ChangeSetup(1, of_table(), reread=True))
    assert only(training_replies.SetupChanged, said).restarts == ("data",)
    assert (rows(desk, 1), desk.host._runs[1].run.step) == (20, 0)


def test_a_fork_with_new_weights_is_told_to_branch_off_no_more():
    desk = begun()
    desk.steps(30)
    assert (
        only(training_replies.RunStarted, desk.ask(requests.Fork(2, 1, 20, sgd(0.05)))).parent == 1
    )
    again = only(training_replies.RunStarted, desk.ask(requests.ResetRun(2, weights=True)))
    assert (again.parent, again.parent_step) == (None, 0)


def test_data_out_of_a_file_are_told_with_the_names_of_their_columns(tmp_path):
    path = tmp_path / "houses.csv"
    path.write_text("size,rooms,price\n50,2,100\n70,3,150\n90,4,180\n")
    named = {"name": "csv", "path": str(path), "inputs": ["size", "rooms"], "target": "price"}
    shown = only(
        training_replies.DataSample, Desk().ask(requests.Train(1, setup.parse({"data": named})))
    )
    assert (shown.x_names, shown.y_names) == (("size", "rooms"), ("price",))
    plain = only(
        training_replies.DataSample, Desk().ask(requests.Train(1, setup.parse({"data": "line"})))
    )
    assert plain.y_names == ()


def test_a_view_that_could_not_be_made_of_some_weights_is_made_again_of_others():
    run = TrainingRun(sgd(0.01, model={"name": "own", "source": CAREFUL}))
    said = []
    held = HostedRun(1, run, said.append, wishes=(requests.ViewRequest("fit", 0),))
    weight = run.program.model.line.weight

    def shown():
        while not held.pace.is_due("0:fit", time.perf_counter()):
            assert held.pace._due["0:fit"] < math.inf, "it is never made again"
        said.clear()
        held.send_views(at_once=False)
        return [view.step for view in said]

    assert shown() == [0]
    for step, value, expected in ((1, 1000.0, []), (2, 1.0, [2])):
        torch.nn.init.constant_(weight, value)
        run.step = step
        assert shown() == expected
