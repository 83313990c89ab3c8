"""Runs outlive their engine: they come back bit for bit, and kill no more than one."""

import pytest
from msgspec.structs import replace

from gradscribe.app.files.file_writer import FileWriter
from gradscribe.app.training.saving import session_file
from gradscribe.app.training.saving.session_file import TrainingSessionData
from gradscribe.app.training.saving.session_reader import load_session
from gradscribe.app.training.saving.session_store import SessionStore, to_session_run
from gradscribe.app.training.session.engine_restart import MOST_TRIES, RunRestorer
from gradscribe.app.training.session.session import TrainSession
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.tape import Problem
from gradscribe.engine.train.serve.host import TrainingHost
from tests.app.training.saving.test_session_store import HostLink

SETUP = Setup(data=Part("moons", {"n": 60}), optimizer=Part("adam"), batch=16, validate_every=5)


class MortalLink(HostLink):
    """Its engine can be killed; the one that comes after it knows nothing."""

    def die(self):
        self.host = TrainingHost(self.received.emit)
        self.died.emit("The training engine ended (killed, signal 9)")


@pytest.fixture
def link(qapp):
    return MortalLink()


@pytest.fixture
def session(link):
    made = TrainSession(link)
    yield made
    made.close()


@pytest.fixture
def revival(session, link):
    made = RunRestorer(session, link, session)
    made.heard = []
    made.said.connect(made.heard.append)
    yield made
    made.close()


def trained(session, link, revival, qtbot, steps=30, setup=SETUP):
    session.store.setup = setup
    session.controller.begin()
    session.controller.advance(steps)
    link.work()
    keeps(session, revival, qtbot)


def keeps(session, revival, qtbot):
    """Wait until what is kept is what there is."""
    qtbot.waitUntil(lambda: not revival._timer.isActive() and not revival._is_news(session.run))


def weights(session, link):
    run = session.run
    run.views.clear()
    link.send(messages.WatchViews(run.run_id, (messages.ViewRequest("weights"),)))
    return run.views["weights"].arrays["flat"].array().tolist()


def losses(run):
    return run.curve("loss").numbers().tolist()


def test_a_run_is_back_where_it_stood_and_goes_on_as_if_nothing_had_been(
    session, link, revival, qtbot
):
    trained(session, link, revival, qtbot)
    there, curve = weights(session, link), losses(session.run)
    session.controller.advance(20)
    link.work()
    end, whole = weights(session, link), losses(session.run)
    session.controller.rewind(30)
    keeps(session, revival, qtbot)
    link.die()
    run = session.run
    assert (run.alive, run.step, len(session.runs)) == (True, 30, 1)
    assert (weights(session, link), losses(run)) == (there, curve)
    assert not session.controller.plays
    assert "the run is restored after 30 steps" in revival.heard[-1]
    session.controller.advance(20)
    link.work()
    assert (weights(session, link), losses(run)) == (end, whole)


def test_a_run_on_a_table_comes_back_with_the_file_it_needs(
    session, link, revival, qtbot, tmp_path
):
    table = tmp_path / "t.csv"
    table.write_text("a,b\n" + "".join(f"{i},{2 * i}\n" for i in range(40)))
    options = {"path": str(table), "inputs": ["a"], "target": "b", "limit": 30}
    trained(session, link, revival, qtbot, setup=replace(SETUP, data=Part("csv", options)))
    link.die()
    back = link.last(messages.ResumeRun)
    assert (back.path, back.rows) == (str(table), 30)
    assert session.run.alive
    assert session.run.step == 30


def test_steps_that_were_not_kept_are_made_again(session, link, revival, qtbot):
    trained(session, link, revival, qtbot)
    session.controller.advance(7)
    link.work()
    whole = losses(session.run)
    link.die()
    assert session.run.step == 30
    assert len(losses(session.run)) == 30
    assert session.run.furthest == 37
    session.controller.go_to_furthest()
    link.work()
    assert losses(session.run) == whole


def test_what_was_changed_on_the_way_is_kept_too(session, link, revival, qtbot):
    trained(session, link, revival, qtbot)
    session.controller.edit_weight("0.weight", 0, 0.625)
    keeps(session, revival, qtbot)
    session.controller.change(replace(SETUP, optimizer=Part("adam", {"lr": 0.25})))
    qtbot.waitUntil(lambda: session.run.setup.optimizer.options.get("lr") == 0.25)
    session.controller.advance(5)
    link.work()
    keeps(session, revival, qtbot)
    there = weights(session, link)
    link.die()
    assert (session.run.step, weights(session, link)) == (35, there)
    session.controller.rewind(30)
    start = next(one.start for one in session.run.begun.parameters if one.name == "0.weight")
    assert weights(session, link)[start] == 0.625
    session.controller.advance(5)
    link.work()
    assert weights(session, link) == there


def test_every_run_comes_back_not_only_the_one_that_is_driven(session, link, revival, qtbot):
    trained(session, link, revival, qtbot)
    first = session.run
    session.controller.fork()
    session.controller.advance(10)
    link.work()
    keeps(session, revival, qtbot)
    link.die()
    assert [(one.alive, one.step) for one in session.runs] == [(True, 30), (True, 40)]
    assert session.run is not first
    assert session.run.begun.parent == first.run_id
    session.controller.select(first.run_id)
    session.controller.advance(1)
    link.work()
    assert first.step == 31


def test_a_run_that_kills_its_engine_on_the_way_back_is_left_alone(session, link, revival, qtbot):
    trained(session, link, revival, qtbot)
    asked = []
    link.send = asked.append  # an engine that never answers
    for _ in range(MOST_TRIES + 2):
        link.died.emit("The training engine ended (killed, signal 9)")
    assert sum(isinstance(one, messages.ResumeRun) for one in asked) == MOST_TRIES
    assert not session.run.alive
    assert len(losses(session.run)) == 30, "its curves stay"


def test_a_state_that_does_not_fit_is_told_and_the_curves_stay(session, link, revival, qtbot):
    trained(session, link, revival, qtbot)
    revival._kept[session.run.run_id] = messages.RunSaved(session.run.run_id, 30, b"nonsense")
    link.die()
    assert "does not hold a run" in session.run.problem
    assert len(losses(session.run)) == 30


def test_a_run_that_cannot_be_kept_is_not_asked_for_without_end(session, link, revival, qtbot):
    trained(session, link, revival, qtbot)
    session.controller.advance(1)
    link.work()
    count = len(link.sent)
    no = messages.RunSaved(
        session.run.run_id, 31, problem=Problem("Session", "a thing cannot be saved")
    )
    link.received.emit(no)
    keeps(session, revival, qtbot)
    assert len(link.sent) - count <= 1
    assert revival.saved_run(session.run.run_id).step == 30 or len(link.sent) - count == 1


def test_a_run_out_of_a_file_survives_an_engine_that_dies_over_it(session, link, revival, qtbot):
    trained(session, link, revival, qtbot)
    there, held = weights(session, link), revival.saved_run(session.run.run_id)
    saving = SessionStore(session, link, FileWriter(session), session)
    saving.resumed.connect(revival.expect)
    row = to_session_run(session, session.run, 30, held.data)
    send, link.send = link.send, lambda message: None  # it dies before it reads
    saving.open(load_session(TrainingSessionData(session.setup, (row,), 0)))
    link.send = send
    link.die()
    assert (session.run.alive, session.run.step) == (True, 30)
    assert weights(session, link) == there


def test_every_run_out_of_a_file_survives_an_engine_that_dies_later(session, link, revival, qtbot):
    trained(session, link, revival, qtbot)
    session.controller.fork()
    session.controller.advance(3)
    link.work()
    keeps(session, revival, qtbot)
    held = [revival.saved_run(run.run_id) for run in session.runs]
    rows = [
        to_session_run(session, run, one.step, one.data)
        for run, one in zip(session.runs, held, strict=True)
    ]
    saving = SessionStore(session, link, FileWriter(session), session)
    saving.resumed.connect(revival.expect)
    saving.open(load_session(TrainingSessionData(session.setup, tuple(rows), 1)))
    link.die()
    link.die()
    assert [(run.alive, run.step) for run in session.runs] == [(True, 30), (True, 33)]


WRONG = replace(SETUP, mistakes=("no_zero_grad",))


def side_by_side(session, link, revival, qtbot):
    """Return the run with a mistake and its correct run, at step 30 and kept."""
    trained(session, link, revival, qtbot, setup=WRONG)
    right = session.store.find(session.store.right_id)
    qtbot.waitUntil(lambda: revival.saved_run(right.run_id) is not None)
    qtbot.waitUntil(lambda: revival.saved_run(right.run_id).step == right.step == 30)
    return session.run, right


def both_go_on(session, link):
    """Advance the current run, and check that its correct run makes the same steps."""
    run, right = session.run, session.store.find(session.store.right_id)
    link.send(messages.WatchViews(run.run_id, (messages.ViewRequest("beside"),)))
    session.controller.advance(12)
    link.work()
    assert (run.step, right.step) == (42, 42)
    assert run.views["beside"].facts["right_step"] == 42
    assert (run.setup.mistakes, right.setup.mistakes) == (("no_zero_grad",), ())
    return losses(run), losses(right)


def test_two_runs_side_by_side_stay_a_pair_when_their_engine_dies(session, link, revival, qtbot):
    side_by_side(session, link, revival, qtbot)
    link.die()
    link.work()
    after = both_go_on(session, link)
    other = TrainSession(undisturbed := MortalLink())
    other.store.setup = WRONG
    other.controller.begin()
    other.controller.advance(30)
    undisturbed.work()
    assert both_go_on(other, undisturbed) == after
    other.close()


def test_two_runs_side_by_side_are_a_pair_again_out_of_a_file(
    session, link, revival, qtbot, tmp_path
):
    side_by_side(session, link, revival, qtbot)
    saving = SessionStore(session, link, FileWriter(session), session)
    saving.save(tmp_path / "pair.gradscribe")
    link.work()
    qtbot.waitUntil((tmp_path / "pair.gradscribe").exists)
    saved = session_file.read(tmp_path / "pair.gradscribe")
    assert saved.runs[saved.right].setup.mistakes == ()
    later = TrainSession(fresh := MortalLink())
    SessionStore(later, fresh, FileWriter(later), later).open(load_session(saved))
    fresh.work()
    assert [run.step for run in later.runs] == [30, 30]
    both_go_on(later, fresh)
    later.close()


def test_a_correct_run_that_is_gone_or_current_makes_no_pair(session, link, revival, qtbot):
    run, right = side_by_side(session, link, revival, qtbot)
    for number in (0, 99, run.run_id):
        session.controller.pair(number)
        assert session.store.right_id == right.run_id
    session.controller.select(right.run_id)
    session.controller.pair(run.run_id)
    assert session.store.right_id == right.run_id


def test_a_run_that_one_forks_from_is_kept_where_it_was_left(session, link, revival, qtbot):
    trained(session, link, revival, qtbot)
    session.controller.advance(12)
    link.work()
    session.controller.fork()
    left = session.runs[0]
    qtbot.waitUntil(lambda: revival.saved_run(left.run_id).step == 42)
    keeps(session, revival, qtbot)
    link.die()
    assert [(run.alive, run.step) for run in session.runs] == [(True, 42), (True, 42)]


@pytest.mark.parametrize("reads", [False, True])
def test_a_fork_whose_engine_dies_at_once_is_made_again(session, link, revival, qtbot, reads):
    trained(session, link, revival, qtbot)
    there, curve = weights(session, link), losses(session.run)
    send = link.send
    if not reads:
        link.send = lambda message: None
    session.controller.fork()
    link.send = send
    link.die()
    fork = session.run
    assert fork.branch == (session.runs[0].run_id, 30)
    assert (fork.alive, fork.step, len(session.runs)) == (True, 30, 2)
    assert losses(fork) == curve
    assert weights(session, link) == there
    assert "the run is restored after 30 steps" in revival.heard[-1]
    session.controller.advance(3)
    link.work()
    assert fork.step == 33


def test_what_is_too_much_to_be_kept_is_said_where_the_run_comes_back(
    session, link, revival, qtbot
):
    source = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line, self.cache, self.calls = nn.Linear(2, 1), torch.zeros(2 ** 21), 0

    def forward(self, x):
        self.calls += 1
        return self.line(x) * (1 + self.calls / 50)
"""
    setup = replace(SETUP, model=Part("own", {"source": source}))
    trained(session, link, revival, qtbot, setup=setup)
    link.die()
    assert revival.heard[-1] == "Net.cache is reset: it is too large to be saved with the run"
    assert (session.run.alive, session.run.step) == (True, 30)


def test_a_run_that_made_space_for_others_goes_on_when_it_is_chosen(session, link, revival, qtbot):
    trained(session, link, revival, qtbot)
    there, curve = weights(session, link), losses(session.run)
    for _ in range(8):
        session.controller.fork()
        keeps(session, revival, qtbot)
    (first,) = (run for run in session.runs if not run.alive)
    assert first.can_go_on
    session.controller.select(first.run_id)
    assert session.run is first
    assert first.alive
    assert (weights(session, link), losses(first)) == (there, curve)
    session.controller.advance(5)
    link.work()
    assert losses(first)[:30] == curve
    assert first.step == 35


def test_a_run_that_went_back_is_restored_with_its_later_steps(session, link, revival, qtbot):
    trained(session, link, revival, qtbot)
    curve = losses(session.run)
    session.controller.rewind(10)
    keeps(session, revival, qtbot)
    link.die()
    assert session.run.step == session.run.curve("loss").last == 10
    session.controller.go_to_furthest()
    assert session.run.step == 30
    assert losses(session.run) == curve


def test_a_run_restored_from_before_it_went_back_has_its_curve_again(session, link, revival, qtbot):
    trained(session, link, revival, qtbot)
    curve = losses(session.run)
    session.controller.rewind(10)
    link.die()
    assert session.run.step == 30
    assert losses(session.run) == curve
