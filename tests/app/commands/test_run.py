"""Run: now, stop, again, with what seed and where."""

import pytest

from gradscribe.app.commands import run


def test_run_now_does_not_wait(settled, link):
    settled.session.edit("x = 1")
    run.run_now(settled.context)
    assert link.sources[-1] == "x = 1"


def test_stop_interrupts(settled, link):
    run.run_now(settled.context)
    run.stop(settled.context)
    assert link.stops == 1


def test_restart_takes_a_fresh_engine(settled, link):
    run.restart(settled.context)
    assert link.closed
    assert link.started == 1


@pytest.mark.checklist(86)
def test_a_seed_is_asked_for(settled, link):
    settled.answers["number"] = 42
    run.seed(settled.context)
    assert link.runs[-1][1] == 42
    settled.answers.clear()
    before = len(link.runs)
    run.seed(settled.context)
    assert len(link.runs) == before


def test_the_next_seed_is_one_more(settled, link):
    run.reseed(settled.context)
    assert link.runs[-1][1] == 1


def test_the_devices_are_those_of_the_engine(settled, link, sum_times):
    link.greet(("cpu", "cuda:0"))
    assert [(c.title, c.checked) for c in run.device(settled.context)] == [
        ("cpu", True),
        ("cuda:0", False),
    ]
    run.device(settled.context)[1].run(settled.context)
    assert link.runs[-1][2] == "cuda:0"


def test_the_limits_are_chosen_remembered_and_given_to_the_next_run(settled, link):
    ticked = [choice.title for choice in run.memory(settled.context) if choice.checked]
    assert ticked == ["256 MB"]
    next(choice for choice in run.memory(settled.context) if choice.title == "1 GB").run(
        settled.context
    )
    assert link.limits[-1]["memory"] == 1 << 30
    assert settled.settings.number("memory") == 1024.0
    next(choice for choice in run.timeout(settled.context) if choice.title == "2 minutes").run(
        settled.context
    )
    assert [choice.title for choice in run.timeout(settled.context) if choice.checked] == [
        "2 minutes"
    ]
    assert settled.session.limits.timeout == 120.0


def test_times_are_spoken():
    assert [run.duration_text(time) for time in (1, 30, 60, 600, 3600)] == [
        "1 second",
        "30 seconds",
        "1 minute",
        "10 minutes",
        "1 hour",
    ]
