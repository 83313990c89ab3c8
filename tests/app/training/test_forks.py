"""A run branches off where another one stands."""

import itertools

from msgspec.structs import replace

from gradscribe.app.training.session.state import DEFAULT_SETUP
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part
from tests.app.training.fakes import begun as made


def test_a_fork_has_the_curves_so_far_and_the_source_stays(begun, train_link):
    train_link.grow(1, 0, 100)
    train_link.state(1, 60)
    begun.controller.fork()
    fork = train_link.last(messages.Fork)
    assert (fork.source_id, fork.step) == (1, 60)
    assert begun.run.run_id == fork.run_id
    assert begun.run.curve("loss").last == 60
    train_link.begin(fork.run_id, DEFAULT_SETUP, parent=1, parent_step=60)
    assert begun.run.curve("loss").last == 60
    assert begun.store.find(1).alive
    begun.controller.select(1)
    assert begun.run.run_id == 1


def test_a_branch_of_a_branch_tells_where_it_left_the_last_one(begun, train_link):
    name = begun.run.name
    for at, run_id in ((60, 1), (80, None)):
        train_link.state(run_id or begun.run.run_id, at)
        begun.controller.fork()
        train_link.begin(begun.run.run_id, DEFAULT_SETUP, parent=1, parent_step=at)
        assert begun.run.name == f"{name} from step {at}"


def test_a_fork_that_is_forked_before_its_state_is_known_stands_where_it_branched_off(
    begun, train_link
):
    train_link.grow(1, 0, 100)
    train_link.state(1, 60)
    begun.controller.fork()
    first = begun.run
    assert first.step == 60
    train_link.received.emit(made(first.run_id, DEFAULT_SETUP, parent=1, parent_step=60))
    assert (first.step, first.furthest) == (60, 60)
    begun.controller.fork()
    again = train_link.last(messages.Fork)
    assert (again.source_id, again.step) == (first.run_id, 60)
    assert begun.run.curve("loss").last == 60


def test_forks_that_are_asked_for_quicker_than_they_begin_are_all_made(begun, train_link):
    train_link.grow(1, 0, 100)
    train_link.state(1, 60)
    for _ in range(5):
        begun.controller.fork()
    made_of = [(m.source_id, m.step) for m in train_link.sent if isinstance(m, messages.Fork)]
    ids = [run.run_id for run in begun.runs]
    assert len(set(ids)) == 6
    assert made_of == [(source, 60) for source in ids[:-1]]
    for before, run_id in itertools.pairwise(ids):
        train_link.begin(run_id, DEFAULT_SETUP, parent=before, parent_step=60)
    assert [run.curve("loss").last for run in begun.runs[1:]] == [60] * 5
    assert len({run.name for run in begun.runs}) == 6
    assert begun.run.run_id == ids[-1]


def test_what_is_changed_before_a_fork_has_begun_is_changed_in_the_fork(begun, train_link):
    train_link.grow(1, 0, 100)
    train_link.state(1, 60)
    begun.controller.fork()
    fork, count = begun.run, len(begun.runs)
    changed = replace(begun.setup, optimizer=Part("adam", {"lr": 0.5}))
    begun.controller.change(changed)
    begun.controller._send_setup()
    asked = train_link.last(messages.ChangeSetup)
    assert asked == messages.ChangeSetup(fork.run_id, changed, base=DEFAULT_SETUP)
    train_link.begin(fork.run_id, DEFAULT_SETUP, parent=1, parent_step=60)
    assert (begun.run, begun.setup, len(begun.runs)) == (fork, changed, count)
    train_link.received.emit(messages.SetupChanged(fork.run_id, 60, ("optimizer.lr",)))
    assert fork.setup == changed
    assert fork.name == "lr 0.5 from step 60"


def test_no_two_runs_have_the_same_name(begun, train_link):
    train_link.state(1, 60)
    for _ in range(3):
        begun.controller.select(1)
        begun.controller.fork()
        train_link.begin(begun.run.run_id, DEFAULT_SETUP, parent=1, parent_step=60)
    names = [run.name for run in begun.runs]
    plain = names[0]
    assert names[1:] == [f"{plain} from step 60{n}" for n in ("", " (2)", " (3)")]
    train_link.state(begun.run.run_id, 70)
    begun.controller.fork()
    assert begun.run.name == f"{plain} from step 70"
    begun.store.rename(begun.run.run_id, "")
    assert begun.run.name == f"{plain} from step 70"
    begun.store.rename(begun.run.run_id, "mine")
    begun.store.rename(begun.run.run_id, "")
    assert begun.run.name == f"{plain} from step 70"
