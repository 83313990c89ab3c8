import pytest
from msgspec.structs import replace

from gradscribe.app.training.session.run_store import KEPT_RUNS
from gradscribe.app.training.session.state import DEFAULT_SETUP, describe_difference, run_name
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.tape import Place
from tests.app.training.fakes import SGD, boundary, problem


def test_opening_trains_at_once(session, train_link):
    session.controller.open()
    train = train_link.last(messages.Train)
    assert train.setup == DEFAULT_SETUP
    train_link.begin(train.run_id, DEFAULT_SETUP)
    play = train_link.last(messages.Play)
    assert play.run_id == train.run_id
    assert 0 < play.rate <= 60, "slow enough to watch"
    assert [until.kind for until in play.until] == ["solved", "plateau"]
    assert session.controller.plays
    train_link.state(train.run_id, 150, reached="solved")
    session.controller.play()
    assert train_link.last(messages.Play).until == ()


def test_an_engine_that_still_starts_is_not_given_up(session, train_link):
    session.controller.open()
    session.controller.pause()
    session.controller.next_event()
    assert not session.controller._patience.isActive()
    train_link.begin(1, DEFAULT_SETUP)
    session.controller.pause()
    assert session.controller._patience.isActive()
    session.controller._patience.stop()


def test_what_can_be_chosen_is_asked_again_of_another_engine(session, train_link):
    session.controller.open()
    train_link.kill("it ended")
    train_link.sent.clear()
    session.controller.begin(play=True)
    kinds = [type(one) for one in train_link.sent]
    assert kinds[:2] == [messages.ListCatalogue, messages.Train]
    session.store.catalogue = messages.Catalogue(0, (), {})
    train_link.sent.clear()
    session.controller.begin()
    assert train_link.last(messages.ListCatalogue) is None


def test_opening_twice_begins_one_run(session, train_link):
    session.controller.open()
    session.controller.open()
    assert len([one for one in train_link.sent if isinstance(one, messages.Train)]) == 1


def test_curves_grow_and_a_rewind_takes_them_back(begun, train_link):
    train_link.grow(1, 0, 50)
    train_link.grow(1, 20, 30, after=19)
    loss = begun.run.curve("loss")
    assert len(loss) == 29
    assert loss.last == 29
    assert begun.run.furthest == 49


def test_what_is_not_told_is_no_number_of_a_curve(begun, train_link):
    train_link.grow(1, 0, 50)
    assert len(begun.run.curve("val")) == 5
    assert begun.run.curve("val").steps(0, 5).tolist() == [0, 10, 20, 30, 40]


def test_messages_of_other_runs_are_dropped(begun, train_link):
    train_link.grow(77, 0, 50)
    train_link.received.emit(boundary(77))
    assert not begun.run.series
    assert not begun.run.views


def test_a_change_that_begins_anew_keeps_the_curves(begun, train_link):
    train_link.grow(1, 0, 100)
    train_link.state(1, 99, "running")
    begun.controller.change(SGD)
    train_link.received.emit(messages.SetupChanged(1, 99, restarts=("data",)))
    train_link.begin(1, SGD)
    kept, run = begun.runs
    assert len(kept.curve("loss")) == 99
    assert not kept.alive
    assert not len(run.curve("loss"))
    assert begun.run is run


def test_a_run_that_played_goes_on_after_it_began_anew(begun, train_link):
    train_link.sent.clear()
    train_link.begin(1, SGD)
    assert train_link.last(messages.Play) is not None
    begun.controller.pause()
    train_link.sent.clear()
    train_link.begin(1, SGD)
    assert train_link.last(messages.Play) is None


def test_a_condition_that_is_reached_stops_the_play(begun, train_link):
    until = messages.StopCondition("loss_below", 0.1)
    begun.controller.play([until])
    assert train_link.sent[-1].until == (until,)
    train_link.state(1, 80, reached="loss below 0.1")
    assert not begun.controller.plays


def test_a_fork_that_begins_anew_branches_off_no_more(begun, train_link):
    train_link.state(1, 60)
    begun.controller.fork()
    fork = begun.run
    train_link.begin(fork.run_id, DEFAULT_SETUP, parent=1, parent_step=60)
    other = replace(DEFAULT_SETUP, data=Part("xor"))
    begun.controller.change(other)
    train_link.restart(fork.run_id, other)
    assert fork.name == "xor · Layers · Adam 0.03"
    assert fork.branch is None


def test_a_run_can_be_hidden_and_forgotten_but_not_the_current_one(begun, train_link):
    train_link.state(1, 60)
    begun.controller.fork()
    begun.store.hide(1, True)
    assert begun.store.look.hidden == {1}
    begun.controller.drop(begun.run.run_id)
    begun.controller.drop(1)
    assert [run.run_id for run in begun.runs] == [begun.run.run_id]


def test_a_refused_setup_is_told_at_its_place(begun, train_link, qtbot):
    with qtbot.waitSignal(begun.store.error_changed) as told:
        train_link.received.emit(problem(1, "no layers", "model.layers"))
    assert told.args == ["model.layers", "no layers"]


def test_a_run_that_never_began_is_tried_again_with_the_next_setup(session, train_link):
    session.controller.open()
    train_link.received.emit(problem(1, "no such file", "data.path"))
    session.controller.change(SGD)
    session.controller.play()
    assert train_link.last(messages.Train).setup == SGD


def test_an_engine_that_dies_leaves_the_curves(begun, train_link):
    train_link.grow(1, 0, 100)
    train_link.state(1, 99, "running")
    train_link.died.emit("it was killed")
    assert len(begun.run.curve("loss")) == 99
    assert not begun.controller.plays
    assert begun.run.problem == "it was killed"
    begun.controller.play()
    assert train_link.last(messages.Train).run_id == 2
    assert len(begun.runs) == 2


def test_a_state_ends_the_patience(begun, train_link):
    begun.controller.pause()
    train_link.state(1, 3)
    assert not begun.controller._patience.isActive()


def test_a_nan_stops_the_play_and_says_why(begun, train_link):
    from gradscribe.engine.protocol.tape import Problem

    train_link.state(1, 7, "failed", problem=Problem("NaN", "log of a negative number"))
    assert not begun.controller.plays
    assert begun.run.problem == "log of a negative number"


def test_views_are_wanted_again_by_a_run_that_began_anew(begun, train_link):
    begun.controller.watch([messages.ViewRequest("gradients")])
    assert train_link.sent[-1] == messages.WatchViews(1, (messages.ViewRequest("gradients"),))
    train_link.sent.clear()
    begun.controller.watch([messages.ViewRequest("gradients")])
    assert not train_link.sent
    train_link.begin(1)
    assert train_link.last(messages.WatchViews) is not None


def test_a_run_s_name_tells_what_it_is_and_its_difference_what_is_other():
    assert run_name(Setup(Part("moons"), Part("mlp"), optimizer=Part("sgd", {"lr": 0.1}))) == (
        "moons · mlp · sgd 0.1"
    )
    one = Setup(model=Part("mlp", {"layers": [4, 2]}), batch=8)
    assert describe_difference(one, Setup(model=Part("mlp"))) == "layers 4-2, batch 8"
    assert describe_difference(one, one) == ""
    assert describe_difference(Setup(seed=4), Setup(seed=4, weight_seed=9)) == "weight seed 4"
    assert describe_difference(Setup(seed=4), Setup(seed=4, data_seed=4)) == ""
    assert describe_difference(Setup(seed=4), Setup()) == "seed 4"
    assert describe_difference(Setup(), Setup(features=("x1",))) == "features none"
    assert describe_difference(Setup(data=Part("sine")), Setup(data=Part("circle"))) == "sine"


def test_an_option_that_is_not_given_has_its_default():
    layers = messages.Option("layers", "ints", [16, 16])
    mlp = messages.CatalogueEntry(
        "model", "mlp", "MLP", options=(layers, messages.Option("dropout", "float", 0.0))
    )
    catalogue = messages.Catalogue(1, (mlp,))
    one = Setup(model=Part("mlp", {"layers": [4, 2]}))
    assert describe_difference(Setup(model=Part("mlp")), one, catalogue) == "layers 16-16"
    given = Setup(model=Part("mlp", {"layers": [16, 16], "dropout": 0.0}))
    assert describe_difference(Setup(model=Part("mlp")), given, catalogue) == ""


def test_of_many_runs_that_are_over_the_last_are_kept(begun, train_link):
    for _ in range(12):
        train_link.grow(1, 0, 30)
        train_link.begin(1)
    assert len([run for run in begun.runs if not run.alive]) == KEPT_RUNS
    assert begun.run.run_id == 1


@pytest.mark.parametrize(
    ("message", "line", "told"),
    [
        ("no 2", 7, "line 7: no 2"),
        ("line 4: expected an indented block", 4, "line 4: expected an indented block"),
        ("forward returns a tuple", 0, "forward returns a tuple"),
    ],
)
def test_what_one_s_own_module_raises_is_told_with_its_line(
    begun, train_link, qtbot, message, line, told
):
    found = problem(1, message, "model.source")
    placed = replace(found.problem, place=Place(line=line))
    with qtbot.waitSignal(begun.store.error_changed) as heard:
        train_link.received.emit(replace(found, problem=placed))
    assert heard.args == ["model.source", told]


def test_new_data_and_weights_stay_when_something_else_is_changed(begun, train_link, qtbot):
    begun.controller.reset(data=True)
    train_link.begin(1, Setup(weight_seed=0, data_seed=1))
    assert begun.run.setup.data_seed == 1
    begun.controller.change(replace(begun.setup, model=Part("linear")))
    qtbot.waitUntil(lambda: train_link.last(messages.ChangeSetup) is not None)
    asked = train_link.last(messages.ChangeSetup).setup
    assert (asked.model, asked.weight_seed, asked.data_seed) == (Part("linear"), 0, 1)


def test_a_run_that_was_refused_does_not_seem_to_train(session, train_link):
    train_link.greet()
    session.controller.open()
    assert session.controller.plays
    train_link.received.emit(problem(session.run.run_id, "no column 'b'", "data.target"))
    assert not session.controller.plays
    train_link.sent.clear()
    session.controller.toggle()
    assert train_link.last(messages.Train) is not None
    train_link.begin(session.run.run_id)
    assert session.controller.plays


def test_a_run_on_a_file_is_called_after_it():
    data = Part("csv", {"path": "/data/houses 2026.csv", "inputs": ["size"], "target": "price"})
    assert run_name(replace(DEFAULT_SETUP, data=data)) == "houses 2026.csv · mlp · adam 0.03"
