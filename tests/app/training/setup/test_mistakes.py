"""The cost of a mistake, in a line, and the setup that shows it."""

import math

import pytest
from msgspec.structs import replace

from gradscribe.app.training.session.state import DEFAULT_SETUP
from gradscribe.app.training.setup import mistakes
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import MISTAKES, Part
from gradscribe.engine.protocol.step_order import RIGHT_ORDER
from tests.app.training.fakes import catalogue
from tests.app.training.fakes import problem as refused

BASE = {"step": 400, "right_step": 400, "loss": 2.5, "right_loss": 0.0015, "val": 0.57,
        "right_val": 0.0267, "grad": 12.0, "right_grad": 0.5, "first": 0.0, "right_first": 4.3,
        "rows": 16, "in_train": 0.57, "in_eval": 0.0267, "kept": 400, "nodes": 15,
        "bytes": 2_200_000, "saved": 5300, "lr": 3.0, "right_lr": 0.03,
        "highest": 812.5}  # fmt: skip
NUMBERS = {
    "no_zero_grad": "24.0 times",
    "column_target": "256 differences",
    "validate_in_train_mode": "0.5700 in train mode, 0.0267 of the same weights in eval mode",
    "validate_with_grad": "5.3 kB",
    "keep_graphs": "6,000 backward nodes, 2.2 MB",
    "softmax_first": "24.0 times",
    "huge_lr": "lr 3 in place of 0.03, loss 2.5000 against 0.0015 over the last 20 steps, 812.5",
    "freeze_first": "0 against 4.3",
}


def wrong(name):
    return replace(DEFAULT_SETUP, mistakes=(name,))


@pytest.mark.parametrize("name", sorted(MISTAKES.keys() - {"wrong_device"}))
def test_every_mistake_is_told_with_its_numbers(name):
    line = mistakes.describe_cost(wrong(name), BASE)
    assert line.startswith("Step 400: ")
    assert NUMBERS[name] in line
    assert "\n" not in line


def test_a_mistake_that_raised_is_told_with_the_right_run():
    line = mistakes.describe_cost(
        wrong("wrong_device"), {**BASE, "right_step": 300}, "Another device."
    )
    assert line == "Another device. The right run: loss 0.0015 at step 300"
    assert mistakes.describe_cost(wrong("wrong_device"), {}, "Another device.") == "Another device."


@pytest.mark.parametrize(
    ("setup", "words"),
    [
        ({"order": RIGHT_ORDER[1:]}, ("Gradients are never cleared", "24.0 times the right ones")),
        ({"order": (*RIGHT_ORDER, "step")}, ("updates 2 times a step", "Step 400: loss 2.5000")),
        ({"manual_update": True}, ("all 41 weights of the optimizer, to the bit",)),
    ],
)
@pytest.mark.checklist(81)
def test_another_order_is_explained_and_compared_with_the_right_run(setup, words):
    line = mistakes.describe_cost(
        replace(DEFAULT_SETUP, **setup), {**BASE, "weights": 41, "equal": 41, "apart": 0.0}
    )
    assert all(part in line for part in words)


def test_an_order_without_effect_says_that_the_losses_are_the_same():
    setup = replace(DEFAULT_SETUP, order=("forward", "zero_grad", "loss", "backward", "step"))
    line = mistakes.describe_cost(setup, {**BASE, "loss": BASE["right_loss"]})
    assert line.endswith("loss 0.0015, as in the right run")


def test_weights_that_are_not_the_optimizer_s_are_counted():
    facts = {**BASE, "weights": 41, "equal": 40, "apart": 1e-3}
    line = mistakes.describe_cost(replace(DEFAULT_SETUP, manual_update=True), facts)
    assert line.endswith("40 of 41 weights are the optimizer's, the others at most 0.0010 away")


def test_an_order_that_raises_says_why_and_not_the_error_again():
    setup = replace(DEFAULT_SETUP, order=("zero_grad", "loss", "backward", "step"))
    line = mistakes.describe_cost(
        setup, {**BASE, "right_step": 300}, "name 'output' is not defined"
    )
    assert "forward has not made yet: NameError." in line
    assert "is not defined" not in line
    assert line.endswith("The right run: loss 0.0015 at step 300")


def test_several_mistakes_are_told_one_after_the_other():
    both = replace(DEFAULT_SETUP, mistakes=("no_zero_grad", "huge_lr"))
    assert mistakes.describe_cost(both, BASE).count(";") == 1


def test_where_nothing_differs_the_line_says_so():
    same = {**BASE, "in_train": 0.5, "in_eval": 0.5}
    assert "nothing differs" in mistakes.describe_cost(wrong("validate_in_train_mode"), same)
    unseen = {key: value for key, value in BASE.items() if key not in ("in_train", "saved")}
    for name in ("validate_in_train_mode", "validate_with_grad"):
        assert "nothing is validated" in mistakes.describe_cost(wrong(name), unseen)
    # (1, 1) against (1) is one difference, as (1, 1) against (1, 1) is.
    assert "nothing differs" in mistakes.describe_cost(wrong("column_target"), {**BASE, "rows": 1})
    one = mistakes.describe_cost(wrong("softmax_first"), {**BASE, "outputs": 1})
    assert "a single output is 1" in one
    none = mistakes.describe_cost(wrong("no_zero_grad"), {**BASE, "grad": 0.0, "right_grad": 0.0})
    assert "1.00 times" in none


def test_a_mistake_that_does_no_harm_says_so():
    better = {**BASE, "loss": 0.001, "val": 0.02}
    for name in ("no_zero_grad", "column_target", "huge_lr", "freeze_first"):
        assert "no worse so far" in mistakes.describe_cost(wrong(name), better)
        assert "no worse" not in mistakes.describe_cost(wrong(name), BASE)


def test_the_highest_loss_of_a_long_run_is_a_bound():
    facts = {**BASE, "peaks": 1}
    assert ", 812.5" in mistakes.describe_cost(wrong("huge_lr"), facts)
    facts["peaks"] = 0
    assert "at least 812.5" in mistakes.describe_cost(wrong("huge_lr"), facts)


def test_times_are_read_at_a_glance():
    assert mistakes.ratio_text(4.0, 2.0) == "2.00 times"
    assert mistakes.ratio_text(5_237_000.0, 1.0) == "5,240,000 times"
    assert mistakes.ratio_text(0.0226, 1.0) == "0.0226 times"
    assert (
        mistakes.ratio_text(1.0, 0.0)
        == mistakes.ratio_text(math.inf, 1.0)
        == "infinitely many times"
    )


def test_a_mistake_gets_what_it_takes_to_show():
    found = mistakes.with_needed_changes(wrong("column_target"), catalogue())
    assert found.data.name == "sine"
    found = mistakes.with_needed_changes(
        replace(wrong("softmax_first"), data=Part("sine")), catalogue()
    )
    assert (found.data.name, found.loss) == ("moons", Part("cross_entropy"))
    found = mistakes.with_needed_changes(wrong("validate_in_train_mode"), catalogue())
    assert found.model.options["dropout"] == 0.3
    same = replace(wrong("validate_in_train_mode"), model=Part("mlp", {"norm": "batch"}))
    assert mistakes.with_needed_changes(same, catalogue()) == same
    slow = replace(wrong("huge_lr"), optimizer=Part("sgd", {"lr": 1e-5}))
    assert mistakes.with_needed_changes(slow, catalogue()) == slow
    for name in ("no_zero_grad", "huge_lr", "wrong_device"):
        assert mistakes.with_needed_changes(wrong(name), catalogue()) == wrong(name)


def test_a_module_of_ones_own_gets_numbers_of_as_many_inputs():
    flat = messages.CatalogueEntry("data", "plane", "Plane", "", (), "regression", "2", "Planes")
    known = replace(catalogue(), entries=(*catalogue().entries, flat))
    own = replace(wrong("column_target"), data=Part("moons"), model=Part("own", {"source": ""}))
    assert mistakes.with_needed_changes(own, known).data.name == "plane"
    assert mistakes.with_needed_changes(own, catalogue()).data.name == "sine", (
        "there are no other numbers"
    )
    assert mistakes.with_needed_changes(wrong("column_target"), known).data.name == "sine"


def switch(switching, setup, *made):
    return switching.switched(setup, replace(setup, mistakes=made), catalogue())


@pytest.mark.parametrize("name", ["column_target", "softmax_first", "validate_in_train_mode"])
@pytest.mark.parametrize("data", ["moons", "sine"])
def test_what_a_mistake_brought_along_goes_with_it(name, data):
    switching, plain = (
        mistakes.MistakeSwitcher(),
        replace(DEFAULT_SETUP, data=Part(data, {"noise": 0.07})),
    )
    wrong_one, _ = switch(switching, plain, name)
    right, words = switch(switching, wrong_one)
    assert right == plain
    assert bool(words) == (replace(wrong_one, mistakes=()) != plain)


def test_one_of_two_mistakes_keeps_what_it_needs():
    switching = mistakes.MistakeSwitcher()
    one, _ = switch(switching, DEFAULT_SETUP, "validate_in_train_mode")
    both, _ = switch(switching, one, "validate_in_train_mode", "column_target")
    assert (both.data.name, both.model.options["dropout"]) == ("sine", 0.3)
    left, _ = switch(switching, both, "column_target")
    assert (left.data.name, left.model) == ("sine", DEFAULT_SETUP.model)
    assert switch(switching, left)[0] == DEFAULT_SETUP


def test_what_was_changed_since_stays_when_the_mistake_goes():
    switching = mistakes.MistakeSwitcher()
    setup, _ = switch(switching, DEFAULT_SETUP, "validate_in_train_mode")
    options = {**setup.model.options, "dropout": 0.5}
    mine = replace(setup, model=Part("mlp", options), batch=4)
    assert switch(switching, mine)[0] == replace(mine, mistakes=())
    setup, _ = switch(switching, DEFAULT_SETUP, "softmax_first")
    other = replace(setup, data=Part("circle"))
    assert switch(switching, other)[0] == replace(other, mistakes=())


def test_a_set_up_from_elsewhere_loses_nothing_to_a_mistake_of_before():
    switching = mistakes.MistakeSwitcher()
    brought, _ = switch(switching, DEFAULT_SETUP, "validate_in_train_mode")
    own = replace(brought, mistakes=())
    huge, _ = switch(switching, own, "huge_lr")
    assert switch(switching, huge)[0] == own


def test_switching_a_mistake_off_in_the_room_takes_back_what_it_brought(room, begun):
    heard = []
    begun.said.connect(heard.append)
    room.form.edited.emit(wrong("validate_in_train_mode"))
    assert begun.setup.model.options["dropout"] == 0.3
    room.form.edited.emit(replace(begun.setup, mistakes=()))
    assert begun.setup == DEFAULT_SETUP
    assert "Undone with the mistake" in heard[-1]


def test_making_a_mistake_begins_both_runs_from_the_start(begun, train_link):
    train_link.grow(1, 1, 60)
    begun.controller.change(wrong("no_zero_grad"))
    begun.controller._rest.timeout.emit()
    along = train_link.last(messages.PairRuns)
    both = [begun.store.find(along.run_id), begun.store.find(along.right_id)]
    assert begun.run is both[0]
    assert [run.setup.mistakes for run in both] == [("no_zero_grad",), ()]
    assert begun.store.look.hidden == {begun.runs[0].run_id}
    assert begun.controller.plays
    for run in both:
        train_link.begin(run.run_id, run.setup)
    assert "no zero grad" in both[0].name
    assert "no zero grad" not in both[1].name
    begun.controller.undo()
    begun.controller._rest.timeout.emit()
    assert begun.store.right_id == 0
    assert begun.run.setup.mistakes == ()


@pytest.mark.checklist(76)
def test_the_line_stands_in_the_room_while_the_mistake_is_made(room, begun, train_link):
    room.form.edited.emit(wrong("no_zero_grad"))
    begun.controller._rest.timeout.emit()
    along = train_link.last(messages.PairRuns)
    train_link.begin(along.run_id, begun.setup)
    kinds = [wish.kind for wish in train_link.last(messages.WatchViews).wishes]
    assert "beside" in kinds
    train_link.received.emit(messages.ViewReply(along.run_id, "beside", 400, {}, BASE))
    assert "24.0 times" in room.beside.said()
    assert room.mistake_strip.isVisible()
    room.form.edited.emit(DEFAULT_SETUP)
    begun.controller._rest.timeout.emit()
    train_link.begin(begun.run.run_id, DEFAULT_SETUP)
    assert not room.mistake_strip.isVisible()


def test_what_a_mistake_takes_is_said(room, begun, train_link):
    heard = []
    begun.said.connect(heard.append)
    room.form.edited.emit(wrong("softmax_first"))
    assert "cross entropy" in heard[-1]
    assert begun.setup.loss == Part("cross_entropy")
    train_link.received.emit(refused(begun.run.run_id, "no"))
