"""Tabs of ranks in the window: opened from files, picked, compared, run and stopped."""

import threading

import msgspec
import pytest

from gradscribe.app.commands import compare, file
from gradscribe.app.commands import run as run_commands
from gradscribe.app.files import documents, tape_files
from gradscribe.app.ranks import rank_files
from gradscribe.app.ranks.controller import ALL, RanksController
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Collective, Problem, RankInfo
from gradscribe.engine.protocol.tape_file import RunFile, RunProgram
from gradscribe.engine.run import run as engine_run

SOURCE = """\
w = param({w})
total = torch.zeros(())
loss = w * 2
loss.backward()
total.add_(loss.detach())
"""


@pytest.fixture(scope="module")
def tapes():
    """Two ranks that begin with other weights; ``add_`` stands for their collective."""
    found = []
    for rank, w in enumerate((1.0, 3.0)):
        tape = engine_run.record(SOURCE.format(w=w))
        at = next(at for at, op in enumerate(tape.ops) if op.op == "add_")
        op = tape.ops[at]
        call = Collective("all_reduce", (0, 1), 0, op.place, at, op.inputs[:1], op.outputs, "sum")
        info = RankInfo(rank, 2, "a")
        found.append(msgspec.structs.replace(tape, collectives=(call,), rank=info))
    return found


def _runs(tapes):
    return tuple(RunFile(RunProgram(SOURCE.format(w=1.0), "s.py"), tape) for tape in tapes)


def _titles(window):
    return [window.ranks.bar.tabText(at) for at in range(window.ranks.bar.count())]


@pytest.fixture
def files(tapes, tmp_path):
    """The tapes of both ranks as files; returns that of the second."""
    for rank, run in enumerate(_runs(tapes)):
        path = rank_files.path_of(tmp_path / "run.tape", rank)
        documents.write_bytes(path, tape_files.encode(run.program, run.tape))
    return path


def test_any_tape_opens_all_ranks_and_nothing_runs(settled, files, link):
    before = len(link.runs)
    file.open_path(settled.context, str(files))
    assert _titles(settled) == [ALL, "Rank 0", "Rank 1"]
    assert not settled.ranks.bar.isHidden()
    assert [call.name for call in settled.session.result.tape.calls] == ["rank 0", "rank 1"]
    assert len(link.runs) == before


def test_a_tab_shows_the_tape_of_its_rank(settled, files, tapes):
    file.open_path(settled.context, str(files))
    settled.ranks.bar.setCurrentIndex(2)
    assert settled.session.result.tape.ops == tapes[1].ops
    assert settled.session.view.position == len(tapes[1].events)
    settled.ranks.bar.setCurrentIndex(0)
    assert len(settled.session.result.tape.ops) == 2 * len(tapes[0].ops) - 1


def test_another_program_hides_the_tabs(settled, files, tmp_path):
    file.open_path(settled.context, str(files))
    other = tmp_path / "other.py"
    other.write_text("x = 1")
    file.open_path(settled.context, str(other))
    assert settled.ranks.bar.isHidden()
    assert settled.ranks.parting() is None


def test_without_one_of_the_tapes_the_others_are_shown(settled, files):
    rank_files.path_of(files.with_name("run.tape"), 0).unlink()
    file.open_path(settled.context, str(files))
    assert _titles(settled) == ["Rank 0", "Rank 1"]
    assert not settled.ranks.bar.isTabEnabled(0)
    assert "run.rank0.tape" in settled.notices.notice.text


def test_findings_of_all_ranks_are_on_each_tape(window, tapes):
    waits = replace(tapes[0].collectives[0], is_done=False)
    late = msgspec.structs.replace(
        tapes[0], status="timeout", error=Problem("Timeout", "over"), collectives=(waits,)
    )
    other = msgspec.structs.replace(tapes[1], collectives=())
    window.ranks.show(_runs([late, other]))
    for at in range(3):
        window.ranks.bar.setCurrentIndex(at)
        assert window.session.result.latest.findings[0].id == "ranks-wait"


def test_ranks_are_compared(settled, files, monkeypatch):
    file.open_path(settled.context, str(files))
    shown = []
    monkeypatch.setattr(settled.comparison, "show", lambda *sides: shown.append(sides))
    compare.compare_ranks(settled.context)
    (((left, one), (right, other)),) = shown
    assert (one, other) == ("Rank 0", "Rank 1")
    assert (left.rank.rank, right.rank.rank) == (0, 1)


class FakeRun:
    """Ranks that end when the test says."""

    def __init__(self, runs):
        self.runs, self.over, self.calls = runs, threading.Event(), []

    def wait(self):
        self.over.wait()
        return self.runs

    def stop(self):
        self.calls.append("stop")

    def kill(self):
        self.calls.append("kill")
        self.over.set()


@pytest.fixture
def started(window, tapes, qtbot):
    """A controller that starts fake ranks; what it started is in ``made``."""
    made, said = [], []

    def start(job, count):
        made.append((job, count, FakeRun(_runs(tapes))))
        return made[-1][2]

    controller = RanksController(window.session, window.notices, said.append, window, start)
    qtbot.addWidget(controller.bar)
    controller.made, controller.said = made, said
    yield controller
    controller.close()


def test_the_program_runs_on_ranks_and_their_tapes_are_shown(started, window, qtbot):
    window.session.edit(SOURCE.format(w=1.0))
    assert started.run(2) == ""
    job, count, run = started.made[0]
    assert (job.source, count, started.is_running) == (SOURCE.format(w=1.0), 2, True)
    assert "2 ranks" in window.notices.notice.text
    assert started.run(2) == "Ranks are running already"
    started.stop()
    assert run.calls == ["stop"]
    run.over.set()
    qtbot.waitUntil(lambda: not started.is_running)
    assert started.bar.count() == 3
    assert started.said == ["2 ranks: all ended well"]


def test_tapes_of_a_program_that_was_edited_since_are_not_shown(started, window, qtbot):
    window.session.edit(SOURCE.format(w=1.0))
    started.run(2)
    window.session.edit("x = 1")
    started.made[0][2].over.set()
    qtbot.waitUntil(lambda: not started.is_running)
    assert started.bar.count() == 0


@pytest.mark.parametrize("count", [0, -3, 65, 10**9])
def test_an_impossible_number_of_ranks_is_one_line(started, count):
    assert started.run(count) == f"{count} is not a number of ranks, 1 to 64"
    assert started.made == []


def test_a_program_from_elsewhere_is_trusted_first(settled, files):
    file.open_path(settled.context, str(files))
    settled.answers["number"] = 2
    run_commands.on_ranks(settled.context)
    assert not settled.ranks.is_running
    assert "trust the program first" in settled.status.message.text()


def test_closing_the_window_ends_the_ranks(started):
    started.run(2)
    started.close()
    assert started.made[0][2].calls == ["kill"]
