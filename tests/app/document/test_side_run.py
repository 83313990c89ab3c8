"""Another program beside the one that is shown, in an engine of its own."""

from gradscribe.app.document.side_run import SideRun
from gradscribe.app.document.state import Doc, Limits
from gradscribe.engine.run import run
from tests.app.fakes import FakeLink


def test_a_trial_runs_as_the_document_does_and_ends_its_engine(qapp):
    links, tapes = [], []

    def link(_parent):
        links.append(FakeLink())
        return links[-1]

    trial = SideRun(link=link)
    trial.ended.connect(tapes.append)
    trial.start("x = 1", Doc(seed=7, device="cpu"), Limits(3.0, 1 << 20))
    assert links[0].runs == [("x = 1", 7, "cpu")]
    assert (links[0].limits[0]["timeout"], links[0].limits[0]["memory"]) == (3.0, 1 << 20)
    tape = run.record("x = param(1.0)")
    links[0].answer(tape, run_id=99)
    assert not tapes
    links[0].answer(tape)
    assert tapes == [tape]
    assert links[0].closed


def test_another_trial_gives_the_first_one_up(qapp):
    links = []

    def link(_parent):
        links.append(FakeLink())
        return links[-1]

    trial, tapes = SideRun(link=link), []
    trial.ended.connect(tapes.append)
    trial.start("x = 1", Doc(), Limits())
    trial.start("x = 2", Doc(), Limits())
    assert links[0].closed
    links[0].answer(run.record("1"))
    assert not tapes
    trial.close()
    assert links[1].closed


def test_a_real_engine_answers(qtbot):
    trial = SideRun()
    with qtbot.waitSignal(trial.ended, timeout=90_000) as ended:
        trial.start("x = param(2.0)\n(x * 3).backward()", Doc(), Limits())
    assert ended.args[0].status == "ok"
