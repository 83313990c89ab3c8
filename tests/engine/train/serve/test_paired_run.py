"""A run with a mistake goes beside the right one: each is what it would be alone."""

import pytest
import torch

from gradscribe.engine.protocol.setup import MISTAKES, Part, Setup, SetupError, parse
from gradscribe.engine.protocol.training import replies, requests
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve import paired_run
from gradscribe.engine.train.serve.host import TrainingHost
from gradscribe.engine.train.serve.hosted_run import STEPS_AFTER_FAILURE

NET = Part("mlp", {"layers": [6], "dropout": 0.3})
BASE = Setup(Part("moons", {"n": 60}), NET, batch=16, optimizer=Part("adam"), validate_every=5)


def of(mistake):
    data, loss = (
        (Part("sine", {"n": 60}), None) if mistake == "column_target" else (BASE.data, None)
    )
    if mistake == "softmax_first":
        loss = Part("cross_entropy")
    return Setup(data, NET, loss, BASE.optimizer, batch=16, validate_every=5, mistakes=(mistake,))


def pair(setup, steps):
    """Both runs in a host, after so many steps, and all that was said."""
    said = []
    host = TrainingHost(said.append)
    host.take(requests.Train(1, setup))
    host.take(requests.Train(2, setup.corrected()))
    host.take(requests.PairRuns(1, 2))
    host.take(requests.WatchViews(1, (requests.ViewRequest("beside", 1),)))
    host.take(requests.Advance(1, steps))
    work(host)
    return host, said


def work(host):
    while host.work() is not None:
        pass


def told(said, run_id=1):
    """The losses that were told of a run, by their steps."""
    found = {}
    for message in said:
        if isinstance(message, replies.SeriesChunk) and message.run_id == run_id:
            for step, row in zip(message.steps.array(), message.values.array(), strict=True):
                if row[0] == row[0]:
                    found[int(step)] = float(row[0])
    return found


def alone(setup, steps):
    run = TrainingRun(setup)
    run.advance(steps)
    said, values, _ = run.history.take()
    return {int(s): float(v) for s, v in zip(said, values[:, 0], strict=True) if s}


def last(said, kind, run_id=1):
    return [m for m in said if isinstance(m, kind) and m.run_id == run_id][-1]


@pytest.mark.parametrize("mistake", sorted(MISTAKES.keys() - {"wrong_device"}))
def test_each_of_the_two_is_what_it_would_be_alone(mistake):
    setup = of(mistake)
    _, said = pair(setup, 30)
    assert told(said, 1) == alone(setup, 30)
    assert told(said, 2) == alone(setup.corrected(), 30)


def facts_of(mistake, steps=60):
    _, said = pair(of(mistake), steps)
    found = last(said, replies.ViewReply).facts
    assert found["step"] == found["right_step"] == steps
    return found


def test_gradients_that_are_never_cleared_are_bigger():
    found = facts_of("no_zero_grad")
    assert found["grad"] > 3 * found["right_grad"]


def test_a_frozen_layer_does_not_move():
    found = facts_of("freeze_first")
    assert found["first"] == 0 < found["right_first"]


def test_validation_without_no_grad_saves_what_backward_would_need():
    # 12 rows: dropout is off, so tanh saves its (12, 6) output; the loss its (12, 1) input.
    found = facts_of("validate_with_grad", 10)
    assert found["saved"] >= 12 * 6 * 4


def test_kept_losses_hold_their_nodes():
    found = facts_of("keep_graphs", 40)
    run = TrainingRun(of("keep_graphs"))
    run.advance(40)
    assert found["kept"] == len(run.program.names["kept"]) == 40
    assert found["nodes"] > 5
    assert found["bytes"] >= 0


def test_a_rate_too_big_and_a_table_of_differences_are_told():
    found = facts_of("huge_lr")
    # 100 times Adam's 0.001 is a rate that trains well: so much is never too little.
    assert (found["lr"], found["right_lr"]) == (100.0, 0.001)
    assert found["highest"] > 3 * found["right_highest"]
    assert facts_of("column_target")["rows"] == 16
    found = facts_of("validate_in_train_mode")
    assert found["in_train"] != found["in_eval"]


def test_where_the_mistake_raises_the_right_run_goes_on_alone():
    _, said = pair(of("wrong_device"), 50)
    state = last(said, replies.TrainState)
    assert state.status == "failed"
    assert "device" in state.problem.message
    assert last(said, replies.TrainState, 2).step == STEPS_AFTER_FAILURE
    assert last(said, replies.ViewReply).facts["right_step"] == STEPS_AFTER_FAILURE


def test_the_right_run_follows_back_and_through_changes():
    setup = of("huge_lr")
    host, said = pair(setup, 20)
    host.take(requests.Rewind(1, 8))
    assert last(said, replies.TrainState, 2).step == 8
    slower = Setup(setup.data, NET, None, Part("adam", {"lr": 0.0005}), batch=16,
                   validate_every=5, mistakes=setup.mistakes)  # fmt: skip
    host.take(requests.ChangeSetup(1, slower))
    host.take(requests.Advance(1, 5))
    work(host)
    run = TrainingRun(setup.corrected())
    run.advance(8)
    run.change_setup(slower.corrected())
    run.advance(5)
    steps, values, _ = run.history.take()
    expected = {int(s): float(v) for s, v in zip(steps, values[:, 0], strict=True) if s}
    assert told(said, 2) | expected == told(said, 2)
    assert host._runs[2].run.setup.mistakes == ()
    host.take(requests.ResetRun(1, weights=True))
    seeds = [host._runs[i].run.setup.weight_seed for i in (1, 2)]
    assert seeds[0] == seeds[1] == 1


def test_a_right_run_that_is_gone_is_done_without():
    host, said = pair(of("no_zero_grad"), 5)
    host.take(requests.DropRun(2))
    host.take(requests.Advance(1, 5))
    work(host)
    assert last(said, replies.TrainState).step == 10


def test_mistakes_are_what_the_right_run_is_without():
    assert of("huge_lr").corrected().mistakes == ()
    assert paired_run.mirrored_request(requests.Play(1), 2) is None
    assert paired_run.mirrored_request(requests.Rewind(1, 4), 2) == requests.Rewind(2, 4)


@pytest.mark.parametrize(
    ("given", "shape"),
    [
        ({"data": "spirals"}, r"\(N,\)"),
        ({"data": "moons", "loss": "cross_entropy"}, r"\(N,\)"),
        ({"data": "digits"}, r"\(N,\)"),
        ({"data": {"name": "copy_tokens", "length": 6}, "model": "transformer"}, r"\(N, \d+\)"),
    ],
)
def test_targets_without_a_column_have_none_to_lose(given, shape):
    with pytest.raises(SetupError, match=f"column_target .*{shape}") as refused:
        TrainingRun(parse({**given, "mistakes": ["column_target"]}))
    assert refused.value.place == "mistakes"


def test_a_column_that_there_is_can_be_lost():
    for given in ({"data": "sine"}, {"data": "moons", "loss": "bce"}):
        assert TrainingRun(parse({**given, "mistakes": ["column_target"]})).step == 0


TIED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))
        self.hidden = nn.Linear(2, 4)
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(self.scale * x)))
"""


@pytest.mark.parametrize(
    ("model", "data", "held"),
    [
        ("linear", "houses", {"weight"}),
        ("polynomial", "sine", {"linear.weight"}),
        ("two_parameters", "line", {"a"}),
        ("cnn", {"name": "digits", "n": 40}, {"features.0.weight", "features.0.bias"}),
        ("transformer", {"name": "sort_tokens", "n": 20}, {"embedding.weight"}),
        ("recurrent", {"name": "copy_tokens", "n": 20}, {"embedding.weight"}),
        ({"name": "own", "source": TIED}, "moons", {"hidden.weight", "hidden.bias"}),
    ],
)
def test_the_first_layer_of_every_model_can_be_frozen(model, data, held):
    setup = parse({"data": data, "model": model, "mistakes": ["freeze_first"]})
    run, right = TrainingRun(setup), TrainingRun(setup.corrected())
    before = {name: p.detach().clone() for name, p in run.program.model.named_parameters()}
    run.advance(5)
    right.advance(5)
    after = dict(run.program.model.named_parameters())
    assert {name for name, p in after.items() if p.equal(before[name])} == held
    found = paired_run.comparison_facts(run, right, 0)
    assert found["first"] == 0 < found["right_first"]
    assert found["loss"] != found["right_loss"]


def test_a_model_of_a_single_parameter_is_not_frozen_altogether():
    alone = {"name": "linear", "bias": False}
    with pytest.raises(SetupError, match="every parameter is frozen") as refused:
        TrainingRun(parse({"data": "sine", "model": alone, "mistakes": ["freeze_first"]}))
    assert refused.value.place == "mistakes"
    run = TrainingRun(parse({"data": "sine", "frozen": ["2.", "4."]}))
    with pytest.raises(SetupError, match="every parameter is frozen"):
        run.change_setup(
            parse({"data": "sine", "frozen": ["2.", "4."], "mistakes": ["freeze_first"]})
        )
    learns = [name for name, p in run.program.model.named_parameters() if p.requires_grad]
    assert learns == ["0.weight", "0.bias"]


EMBEDDING = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 4)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        return self.out(self.table((x + 4).long().clamp(0, 8)).flatten(1))
"""


@pytest.mark.parametrize(
    ("model", "data"),
    [
        ("mlp", "circle"),
        ("two_parameters", "line"),
        ("cnn", {"name": "digits", "n": 40}),
        ({"name": "recurrent", "cell": "gru"}, {"name": "copy_tokens", "n": 20}),
        ("transformer", {"name": "sort_tokens", "n": 20}),
        ({"name": "own", "source": EMBEDDING}, "moons"),
    ],
)
def test_data_on_another_device_is_never_trained_on(model, data):
    run = TrainingRun(parse({"data": data, "model": model, "mistakes": ["wrong_device"]}))
    run.advance(5)
    assert run.step == 0
    assert "not on the expected device" in run.problem.message


def test_a_softmax_too_many_goes_over_the_tokens_and_not_over_the_places():
    data = {"name": "sort_tokens", "n": 20, "length": 3}
    run = TrainingRun(parse({"data": data, "model": "transformer", "mistakes": ["softmax_first"]}))
    x, y = run.program.tensor("x_train"), run.program.tensor("y_train")
    shares = run.program.model(x).softmax(dim=-1)
    expected = torch.nn.functional.cross_entropy(shares.flatten(0, 1), y.flatten()).item()
    run.advance(1)
    assert run.history.recent == [pytest.approx(expected, rel=1e-6)]


GRU = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRU(1, 6, 2, batch_first=True, dropout=0.5)
        self.out = nn.Linear(6, 3)

    def forward(self, x):
        return self.out(self.cell(x.unsqueeze(-1))[0][:, -1])
"""


def modes_of(given):
    setup = parse({**given, "mistakes": ["validate_in_train_mode"]})
    run, right = TrainingRun(setup), TrainingRun(setup.corrected())
    run.advance(5)
    state = {name: value.clone() for name, value in run.program.model.state_dict().items()}
    found = paired_run.comparison_facts(run, right, 0)
    for name, value in run.program.model.state_dict().items():
        assert value.equal(state[name])
    return found.get("in_train"), found.get("in_eval"), run


def test_what_train_mode_does_to_validation_is_measured():
    # Dropout inside a recurrent layer is no module of its own.
    given = {"data": "gaussians", "model": {"name": "own", "source": GRU}}
    training, evaluation, run = modes_of(given)
    assert training != evaluation
    run.program.model.eval()
    with torch.no_grad():
        output = run.program.model(run.program.tensor("x_val"))
    expected = torch.nn.functional.cross_entropy(output, run.program.tensor("y_val")).item()
    assert evaluation == pytest.approx(expected, rel=1e-6)
    # The transformer's layers have dropout of 0, the batch norm here does differ.
    tokens = {"name": "sort_tokens", "n": 20}
    training, evaluation, _ = modes_of({"data": tokens, "model": "transformer"})
    assert training == pytest.approx(evaluation, rel=1e-6)
    training, evaluation, _ = modes_of({"data": "sine", "model": {"name": "mlp", "norm": "batch"}})
    assert training != evaluation
    assert modes_of({"data": "sine", "train": 1})[:2] == (None, None)
    assert modes_of({"data": "sine", "validate_every": 0})[:2] == (None, None)


def test_both_runs_go_back_and_on_again_together():
    host, _ = pair(of("no_zero_grad"), 40)
    ends = [host._runs[number].run.state() for number in (1, 2)]
    host.take(requests.Rewind(1, 10))
    assert [host._runs[number].run.step for number in (1, 2)] == [10, 10]
    host.take(requests.Rewind(1, None))
    for number, end in zip((1, 2), ends, strict=True):
        run = host._runs[number].run
        assert run.step == 40
        for now, then in zip(run.state().parameters, end.parameters, strict=True):
            assert torch.equal(now, then)
    host.take(requests.Rewind(1, 10))
    host.take(requests.Rewind(1, 45))
    work(host)
    assert [host._runs[number].run.step for number in (1, 2)] == [45, 45]
