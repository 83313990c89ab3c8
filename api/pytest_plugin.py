"""The pytest plugin: the fixture ``tape``, ``--update-tapes``, tapes of failed tests as files.

It is loaded in every pytest session, also of projects that do not use it: so it imports nothing
before a test asks for a tape or calls an assertion of `gradscribe.testing`.
"""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import CodeType, FrameType, TracebackType

    from gradscribe.run_tape import RunTape
    from gradscribe.testing import GoldenFiles

WRITTEN, SAVED = "tape written", "tape saved"
"""Properties of a report: a golden file, the run of a failed test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("gradscribe", "Gradscribe")
    group.addoption(
        "--update-tapes",
        action="store_true",
        help="write the golden files of assert_same_graph anew, those that differ",
    )
    group.addoption(
        "--tapes",
        metavar="DIR",
        help="folder for the runs of failed tests; by default next to the JUnit report, else in"
        " pytest's cache",
    )


@pytest.fixture
def tape() -> RunTape:
    """Return the run of this test; it ends as soon as something of it is asked for.

    Recorded is the body of the test alone, not its other fixtures.
    """
    from gradscribe.run_tape import RunTape

    return RunTape()


def _golden_files() -> GoldenFiles | None:
    """Return those of `gradscribe.testing`; None as long as nothing has imported it."""
    module = sys.modules.get("gradscribe.testing")
    return None if module is None else module.golden_files


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Record the body of a test that has the fixture ``tape``."""
    files = _golden_files()
    if files is not None:
        files.begin(pyfuncitem.path.parent)
        files.update = pyfuncitem.config.getoption("--update-tapes")
    module = sys.modules.get("gradscribe.run_tape")
    found = pyfuncitem.funcargs.get("tape")
    # A project may have a fixture of that name of its own.
    if module is None or not isinstance(found, module.RunTape) or found.has_begun:
        return (yield)
    return (yield from _recorded(pyfuncitem, found))


def _recorded(item: pytest.Function, tape: RunTape) -> Generator[None, object, object]:
    from gradscribe.engine.run.in_process import visible_names
    from gradscribe.recording import Recording
    from gradscribe.testing import golden_files

    recording, code = Recording(tape), inspect.unwrap(item.function).__code__
    golden_files.begin(item.path.parent)
    golden_files.update = item.config.getoption("--update-tapes")
    golden_files.note(tape)

    def end() -> None:
        frame = _frame_of(code)
        recording.end({} if frame is None else visible_names(frame))

    tape.end_when_asked(end)
    recording.begin(sys._getframe(), code)
    try:
        return (yield)
    except BaseException as error:
        if recording.is_running:
            frame = _raised_in(code, error.__traceback__)
            recording.end({} if frame is None else visible_names(frame), error)
        raise
    finally:
        tape.end_when_asked(None)
        if recording.is_running:
            recording.end({})


def _frame_of(code: CodeType) -> FrameType | None:
    """Return the running call of the test."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame


def _raised_in(code: CodeType, trace: TracebackType | None) -> FrameType | None:
    """Return the call of the test that an exception has left."""
    while trace is not None:
        if trace.tb_frame.f_code is code:
            return trace.tb_frame
        trace = trace.tb_next
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Save the tapes of a failed test, and say where."""
    report = yield
    files = _golden_files()
    if call.when != "call" or files is None:
        return report
    noted = [(WRITTEN, str(path)) for path in files.written]
    lines = []
    if report.failed:
        for number, tape in enumerate(files.asked):
            lines.append(_save(item, tape, number))
    if lines:
        report.sections.append(("Gradscribe", "\n".join(lines)))
        noted += [(SAVED, line) for line in lines]
    # The JUnit report takes those of the teardown, which are the test's.
    item.user_properties += noted
    report.user_properties += noted
    files.begin(Path())
    return report


def _save(item: pytest.Item, tape: RunTape, number: int) -> str:
    """Save a tape and return a line that says where, or why not."""
    name = re.sub(r"\W+", "-", item.name).strip("-")[:60]
    mark = hashlib.sha256(item.nodeid.encode()).hexdigest()[:8]
    path = _folder(item.config) / f"{name}-{mark}{f'-{number + 1}' if number else ''}.tape"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tape.save(path)
    except (OSError, ValueError, RuntimeError) as error:
        return f"The run could not be saved: {error}"
    return f"The run is in {path}: gradscribe opens it"


def _folder(config: pytest.Config) -> Path:
    if config.getoption("--tapes"):
        return Path(config.getoption("--tapes")).resolve()
    if report := config.getoption("xmlpath", None):
        return Path(report).resolve().parent / "tapes"
    cache = getattr(config, "cache", None)
    if cache is not None:
        return Path(cache.mkdir("gradscribe"))
    return config.rootpath / "failed-tapes"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the golden files that were written."""
    written = [
        path
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, path in getattr(report, "user_properties", ())
        if name == WRITTEN
    ]
    for path in dict.fromkeys(written):
        terminalreporter.write_line(f"Wrote {path}")
