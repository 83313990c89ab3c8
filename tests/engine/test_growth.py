"""Work after a program and while it is recorded grows as the program does, not faster."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

import pytest

import gradscribe.engine
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.examine import finding_kinds, run_detector
from gradscribe.engine.protocol import frames, messages
from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.record import freeze
from gradscribe.engine.record.values.tensors import Tensors
from gradscribe.engine.run import run
from tests.engine.loop_forms import FORMS

pytestmark = pytest.mark.e2e

ENGINE = str(Path(gradscribe.engine.__file__).parent)
ROUNDS = 24
SLACK = 300
"""Lines that something may take once the loop is long enough for it."""
T = TypeVar("T")


class _Recording(NamedTuple):
    lines: dict[str, int]
    """Part of the work -> lines of the engine's own Python that ran for it."""
    tape: Tape
    source: str


def _counted(lines: dict[str, int], name: str, work: Callable[[], T]) -> T:
    """Do some work and count the lines and calls of the engine that run meanwhile."""
    count = 0

    def local(_frame: object, _event: str, _arg: object) -> object:
        nonlocal count
        count += 1
        return local

    def trace(frame, _event: str, _arg: object) -> object:
        nonlocal count
        if not frame.f_code.co_filename.startswith(ENGINE):
            return None
        count += 1
        return local

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return work()
    finally:
        sys.settrace(before)
        lines[name] = count


def _recorded(source: str, full_events: int) -> _Recording:
    lines = dict[str, int]()
    request = messages.Run(0, source, timeout=100, event_limit=1_000_000, full_events=full_events)
    recorder = run.new_recorder(request)
    done = _counted(lines, "recording", lambda: run.perform(request, recorder))
    assert done.error is None, done.error
    tape = _counted(
        lines, "freezing", lambda: freeze.freeze(recorder, freeze.leaves(recorder, done.names))
    )
    recorder.release()
    return _Recording(lines, tape, source)


def _sent(recorded: _Recording) -> None:
    reply = messages.Recorded(1, recorded.tape, 0.0)
    sent = _counted(recorded.lines, "encoding", lambda: b"".join(frames.encode_frames(reply)))
    reader = frames.MessageReader[messages.Reply](messages.Reply)
    (received,) = _counted(recorded.lines, "decoding", lambda: list(reader.feed(sent)))
    assert received.tape == recorded.tape


def _examined(recorded: _Recording) -> None:
    for kind in finding_kinds():
        evidence = Evidence(recorded.tape, recorded.source)
        _counted(recorded.lines, kind.id, lambda k=kind, e=evidence: run_detector(k, e))


def _faster_than_the_loop(few: _Recording, many: _Recording) -> dict[str, tuple[int, int]]:
    return {
        part: (few.lines[part], count)
        for part, count in many.lines.items()
        if count > 5 * few.lines[part] + SLACK
    }


@pytest.mark.parametrize("name", FORMS)
def test_four_times_the_rounds_are_at_most_five_times_the_work(name):
    few, many = (_recorded(FORMS[name].format(n=n), 0) for n in (ROUNDS, 4 * ROUNDS))
    for recorded in (few, many):
        _sent(recorded)
        _examined(recorded)
    assert len(many.tape.events) > 2 * len(few.tape.events)
    assert not _faster_than_the_loop(few, many)


@pytest.mark.parametrize("name", FORMS)
def test_steps_in_part_do_not_grow_faster_either(name):
    few, many = (_recorded(FORMS[name].format(n=n), 300) for n in (5 * ROUNDS, 20 * ROUNDS))
    assert not _faster_than_the_loop(few, many)


def test_a_search_in_a_list_at_each_round_is_seen():
    """The count finds work that grows as the square of the rounds."""
    values = (_recorded(FORMS["printing"].format(n=n), 0) for n in (ROUNDS, 4 * ROUNDS))
    few, many = values
    for recorded in (few, many):
        tape = recorded.tape
        _counted(
            recorded.lines,
            "square",
            lambda tape=tape: [Evidence(tape, "").dependencies([v.id]) for v in tape.values],
        )
    assert list(_faster_than_the_loop(few, many)) == ["square"]


@pytest.mark.parametrize("steps", [200, 400])
def test_writes_to_entries_look_at_living_views_alone(monkeypatch, steps):
    looked, sizes = Tensors.aliases, []

    def counted(tensors, t, most):
        sizes.extend(1 + len(known.others) for known in tensors._memories.values())
        return looked(tensors, t, most)

    monkeypatch.setattr(Tensors, "aliases", counted)
    tape = run.record(
        f"t = torch.zeros(9, 9)\nfor k in range({steps}):\n    t[k % 9, k % 8] += 1\n"
    )
    assert tape.error is None
    assert len(sizes) >= steps
    assert max(sizes) < 64


def test_living_views_are_still_found_among_many_that_are_gone():
    tape = run.record(
        "t = torch.zeros(4)\nrow = t[1:2]\nfor k in range(100):\n    t[k % 4] += 1\n"
        "print(row.tolist())\n"
    )
    rows = [v for v in tape.values if v.name == "row"]
    last = tape.snapshots[rows[-1].snapshot].array()
    assert tape.stdout == f"{last.tolist()}\n" == "[25.0]\n"
