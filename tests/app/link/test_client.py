"""The link keeps an engine at hand, whatever programs do to the one before."""

import os
import signal
import sys

import pytest

from gradscribe.app.link import client, engine_process, launch
from gradscribe.app.link.client import Link
from gradscribe.engine.protocol import messages
from tests.app import torchless

pytestmark = pytest.mark.e2e

PATIENCE_MS = 60_000
BUSY = "print('before')\nsum(iter(int, 1))"
"""A loop inside compiled code, which no interrupt can reach."""
LOOP = "while True: pass"

real = pytest.mark.usefixtures("with_torch")
posix = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")


class Heard:
    """Everything a link said, and in which order."""

    def __init__(self, link):
        self.link = link
        self.all = []
        link.ready.connect(self.all.append)
        link.received.connect(self.all.append)
        link.died.connect(self.all.append)

    def of(self, kind):
        return [message for message in self.all if isinstance(message, kind)]

    def tape(self, run_id):
        return next((m.tape for m in self.of(messages.Recorded) if m.run_id == run_id), None)


@pytest.fixture(autouse=True)
def quick(request, monkeypatch):
    """Let engines start without torch, except where the test is about the real one."""
    if "with_torch" not in request.fixturenames:
        monkeypatch.setattr(launch, "engine_arguments", torchless.arguments)


@pytest.fixture
def with_torch():
    """Asks for the real engine."""


@pytest.fixture
def heard(qtbot, quick):
    """A link whose engine is ready, with all it said."""
    made = Link()
    found = Heard(made)
    made.start()
    qtbot.waitUntil(lambda: bool(found.of(messages.Ready)), timeout=PATIENCE_MS)
    yield found
    made.close()
    made.deleteLater()


@pytest.fixture
def tape_of(qtbot, heard):
    """Run a program and return its tape."""

    def run(source, **options):
        run_id = heard.link.run(source, **options)
        qtbot.waitUntil(lambda: heard.tape(run_id) is not None, timeout=PATIENCE_MS)
        return heard.tape(run_id)

    return run


def wait_ready_again(qtbot, heard, times=2):
    qtbot.waitUntil(lambda: len(heard.of(messages.Ready)) == times, timeout=PATIENCE_MS)


def test_a_program_comes_back_as_a_tape(tape_of, heard):
    tape = tape_of("print('a')\nprint('b')")
    assert (tape.status, tape.stdout, len(tape.ops)) == ("ok", "a\nb\n", 0)
    assert "".join(message.text for message in heard.of(messages.Printed)) == "a\nb\n"


def test_the_name_of_the_file_and_the_memory_for_values_reach_the_program(with_torch, tape_of):
    tape = tape_of("print(__file__)", filename="net.py")
    assert tape.stdout == "net.py\n"
    source = "xs = [torch.ones(300, 300) * i for i in range(9)]"
    assert tape_of(source, memory=1 << 20).dropped > 0
    assert tape_of(source).dropped == 0


def test_run_ids_go_up_and_every_reply_carries_one(tape_of, heard):
    tape_of("1")
    tape_of("2")
    assert [m.run_id for m in heard.of(messages.Recorded)] == [1, 2]


def test_a_program_given_before_the_engine_is_ready_is_run(qtbot):
    made = Link()
    heard = Heard(made)
    run_id = made.run("print('early')")
    qtbot.waitUntil(lambda: heard.tape(run_id) is not None, timeout=PATIENCE_MS)
    assert heard.tape(run_id).stdout == "early\n"
    made.close()


def test_a_stop_before_the_engine_is_ready_is_answered_and_kills_nothing(qtbot):
    made = Link()
    heard = Heard(made)
    run_id = made.run(LOOP)
    made.stop()
    assert heard.tape(run_id).error.type == "Stopped"
    qtbot.waitUntil(lambda: bool(heard.of(messages.Ready)), timeout=PATIENCE_MS)
    assert not heard.of(str)
    made.close()


def test_a_loop_without_end_is_interrupted_and_the_engine_lives(tape_of, heard):
    pid = heard.link.pid()
    assert tape_of(LOOP, timeout=0.3).status == "timeout"
    assert tape_of("1").status == "ok"
    assert heard.link.pid() == pid


def test_a_stop_interrupts_and_the_engine_lives(qtbot, heard):
    run_id = heard.link.run(LOOP)
    qtbot.waitUntil(lambda: bool(heard.of(messages.Started)), timeout=PATIENCE_MS)
    pid = heard.link.pid()
    heard.link.stop()
    qtbot.waitUntil(lambda: heard.tape(run_id) is not None, timeout=PATIENCE_MS)
    assert heard.tape(run_id).error.type == "Stopped"
    assert heard.link.pid() == pid


def test_stopping_twice_or_with_nothing_to_stop_is_harmless(qtbot, heard):
    heard.link.stop()
    run_id = heard.link.run(LOOP)
    heard.link.stop()
    heard.link.stop()
    qtbot.waitUntil(lambda: heard.tape(run_id) is not None, timeout=PATIENCE_MS)
    assert heard.tape(run_id).error.type == "Stopped"


def test_a_program_that_cannot_be_stopped_is_killed_and_its_line_is_known(
    qtbot, heard, monkeypatch
):
    monkeypatch.setattr(client, "STOP_GRACE_MS", 200)
    run_id = heard.link.run(BUSY)
    qtbot.waitUntil(lambda: bool(heard.of(messages.Printed)), timeout=PATIENCE_MS)
    heard.link.stop()
    qtbot.waitUntil(lambda: heard.tape(run_id) is not None, timeout=PATIENCE_MS)
    tape = heard.tape(run_id)
    assert (tape.status, tape.error.type, tape.stdout) == ("error", "Stopped", "before\n")
    assert os.name != "posix" or tape.error.place.line == 2
    wait_ready_again(qtbot, heard)


def test_a_loop_in_compiled_code_is_killed_past_its_limit(qtbot, heard, tape_of, monkeypatch):
    monkeypatch.setattr(launch, "GRACE_S", 0.2)
    tape = tape_of(BUSY, timeout=0.3)
    assert (tape.status, tape.error.type) == ("timeout", "Timeout")
    assert tape.error.message.startswith("Still running after 0.3 s")
    assert heard.of(str) == ["Python ended (the program ran too long) and starts again"]
    assert tape_of("print('again')").stdout == "again\n"


def test_of_programs_given_while_one_runs_only_the_newest_is_done(qtbot, heard):
    first = heard.link.run(LOOP)
    qtbot.waitUntil(lambda: bool(heard.of(messages.Started)), timeout=PATIENCE_MS)
    second, third = heard.link.run("print(2)"), heard.link.run("print(3)")
    heard.link._send(messages.Stop(first))
    qtbot.waitUntil(lambda: heard.tape(third) is not None, timeout=PATIENCE_MS)
    assert heard.tape(third).stdout == "3\n"
    assert heard.tape(first).error.type == "Stopped"
    assert heard.tape(second) is None


ME = "import os, signal, ctypes, threading\nme = os.getpid()\n"
ENDS = {
    "abort": ("os.abort()", "aborted"),
    "segfault": ("ctypes.string_at(0)", "segmentation fault"),
    "exit": ("os._exit(3)", "exit code 3"),
    "exit by its other name": ("import posix; posix._exit(status=0)", "exit code 0"),
    "exit by C": ("ctypes.CDLL(None)._exit(4)", "exit code 4"),
    "exit by C, by its index": ("ctypes.pythonapi['_exit'](5)", "exit code 5"),
    "raise by C": ("ctypes.PyDLL(None)['raise'](9)", "killed, signal 9"),
    "kill": ("os.kill(me, signal.SIGKILL)", "killed, signal 9"),
    "kill its group": ("os.killpg(0, 9)", "killed, signal 9"),
    "raise": ("signal.raise_signal(signal.SIGTERM)", "signal 15, SIGTERM"),
    "kill its thread": (
        "signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)",
        "signal 10, SIGUSR1",
    ),
}


@posix
@pytest.mark.parametrize("end", ENDS)
def test_a_program_that_takes_the_engine_down_is_told_of_on_its_line(qtbot, heard, end):
    line, reason = ENDS[end]
    run_id = heard.link.run(f"print('last words')\n{ME}def end():\n    {line}\nend()\nx = 1")
    qtbot.waitUntil(lambda: heard.tape(run_id) is not None, timeout=PATIENCE_MS)
    tape = heard.tape(run_id)
    assert (tape.status, tape.stdout) == ("died", "last words\n")
    assert reason in tape.error.message
    assert (tape.error.place.line, tape.error.place.column) == (5, 4)
    died = heard.of(str)[0]
    assert died == f"Python ended ({reason}) and starts again"
    assert heard.all.index(died) < heard.all.index(heard.of(messages.Recorded)[0])
    wait_ready_again(qtbot, heard)


@posix
@pytest.mark.parametrize("end", ["exit", "kill", "raise"])
def test_who_ended_python_by_itself_is_told_so(tape_of, end):
    line, reason = ENDS[end]
    assert tape_of(ME + line).error.message == f"The program ended Python itself ({reason})"


@posix
def test_a_program_that_ends_python_in_a_thread_is_told_of_on_its_line(tape_of):
    source = "def end():\n    os._exit(1)\nthreading.Thread(target=end).start()\nwhile True: pass"
    assert tape_of(ME + source).error.place.line == 4


WAITS = "import time\nx = 1\nprint('here')\n{}\nx = 2"
LASTS = ["time.sleep(999)", "while True: pass", "[x for x in iter(int, 1)]"]


@posix
@pytest.mark.parametrize("sent", ["SIGKILL", "SIGTERM"])
@pytest.mark.parametrize("line", LASTS)
def test_a_kill_from_outside_is_told_of_on_the_line_that_ran(qtbot, heard, line, sent):
    run_id = heard.link.run(WAITS.format(line), timeout=300.0)
    job = lambda: heard.link._running  # noqa: E731
    qtbot.waitUntil(lambda: job() is not None and job().at is not None, timeout=PATIENCE_MS)
    os.kill(heard.link.pid(), getattr(signal, sent))
    qtbot.waitUntil(lambda: heard.tape(run_id) is not None, timeout=PATIENCE_MS)
    tape = heard.tape(run_id)
    assert (tape.status, tape.stdout, tape.error.place.line) == ("died", "here\n", 4)
    number = int(getattr(signal, sent))
    assert f"signal {number}" in tape.error.message
    assert "itself" not in tape.error.message
    assert "crashed" not in tape.error.message
    assert "last seen on this line" in tape.error.hint


@posix
@pytest.mark.parametrize("stop", ["os.kill(me, signal.SIGSTOP)", "signal.raise_signal(19)"])
def test_a_program_that_stops_its_process_is_told_of_on_that_line(tape_of, stop):
    # It is let on to tell where it stands, and may come to the next statement before it does.
    tape = tape_of(f"{ME}{stop}; any(0 for _ in iter(int, 1))", timeout=0.2)
    assert (tape.status, tape.error.place.line) == ("timeout", 3)
    assert stop in tape.error.message


@posix
def test_a_process_stopped_from_outside_still_tells_where_it_was(qtbot, heard):
    run_id = heard.link.run("print('begun')\nx = 1\nwhile True: pass", timeout=0.5)
    qtbot.waitUntil(lambda: bool(heard.of(messages.Printed)), timeout=PATIENCE_MS)
    os.kill(heard.link.pid(), signal.SIGSTOP)
    qtbot.waitUntil(lambda: heard.tape(run_id) is not None, timeout=PATIENCE_MS)
    tape = heard.tape(run_id)
    assert (tape.status, tape.error.place.line) == ("timeout", 3)


@posix
def test_signals_that_a_program_hears_itself_end_nothing(tape_of):
    hears = "heard = []\nsignal.signal(signal.SIGUSR1, lambda *_: heard.append(1))\n"
    sends = "os.kill(me, signal.SIGUSR1)\nos.kill(me, 0)\nos.kill(me, signal.SIGCONT)\n"
    tape = tape_of(f"{ME}{hears}{sends}print(len(heard))")
    assert (tape.status, tape.stdout) == ("ok", "1\n")


@posix
def test_an_engine_killed_while_idle_is_replaced_and_works(qtbot, heard, tape_of):
    os.kill(heard.link.pid(), signal.SIGKILL)
    qtbot.waitUntil(lambda: bool(heard.of(str)), timeout=PATIENCE_MS)
    assert "killed, signal 9" in heard.of(str)[0]
    assert not heard.of(messages.Recorded)
    assert tape_of("print('back')").stdout == "back\n"


@posix
def test_a_program_that_had_not_begun_is_given_to_the_fresh_engine(qtbot, heard):
    os.kill(heard.link.pid(), signal.SIGSTOP)
    run_id = heard.link.run("print('survived')")
    os.kill(heard.link.pid(), signal.SIGKILL)
    qtbot.waitUntil(lambda: heard.tape(run_id) is not None, timeout=PATIENCE_MS)
    assert heard.tape(run_id).stdout == "survived\n"


@posix
def test_garbage_on_the_wire_brings_a_fresh_engine(qtbot, heard, tape_of):
    write = "  try: os.write(fd, b'\\xff' * 99)\n  except OSError: pass"
    tape = tape_of(f"import os\nfor fd in range(3, 12):\n{write}\n{LOOP}")
    assert tape.status == "died"
    assert "something else than messages" in heard.of(str)[0]
    assert tape_of("print('fine')").stdout == "fine\n"


SLOW_LIBRARY = """import time
start = time.monotonic()
while time.monotonic() - start < 3:
    pass
"""


def test_the_import_of_a_library_does_not_count_for_the_limit(
    heard, tape_of, monkeypatch, tmp_path
):
    """Neither the engine's limit nor the window's: together they are shorter than this import."""
    monkeypatch.setattr(launch, "GRACE_S", 0.3)
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "slow_library.py").write_text(SLOW_LIBRARY)
    source = f"import sys\nsys.path.insert(0, {str(folder)!r})\nimport slow_library\nprint('there')"
    tape = tape_of(source, timeout=0.8)
    assert (tape.stdout, tape.status) == ("there\n", "ok")
    assert not heard.of(str), "the engine was not replaced"


def test_a_report_about_imports_of_another_run_lengthens_nothing(heard, qtbot):
    run_id = heard.link.run(LOOP, timeout=0.5)
    qtbot.waitUntil(lambda: bool(heard.of(messages.Started)), timeout=PATIENCE_MS)
    job = heard.link._running
    before = job.spent.limit
    heard.link._take(messages.Importing(run_id + 1, 50.0))
    assert job.spent.limit == before
    heard.link._take(messages.Importing(run_id, 1e9))
    assert job.spent.limit == before + client.IMPORTING_S
    heard.link._take(messages.Importing(run_id, 1e9))
    assert job.spent.limit == before + client.IMPORTING_S
    heard.link.stop()
    qtbot.waitUntil(lambda: heard.tape(run_id) is not None, timeout=PATIENCE_MS)


def test_an_engine_that_never_starts_is_tried_a_few_times_only(qtbot, monkeypatch):
    monkeypatch.setattr(
        launch, "engine_arguments", lambda: ["-c", "raise SystemExit('no torch here')"]
    )
    made = Link()
    heard = Heard(made)
    made.start()
    qtbot.waitUntil(
        lambda: any("does not start" in reason for reason in heard.of(str)), timeout=PATIENCE_MS
    )
    assert len(heard.of(str)) == client.RESTARTS + 1
    assert "no torch here" in heard.of(str)[-1]
    monkeypatch.setattr(launch, "engine_arguments", torchless.arguments)
    run_id = made.run("print('now')")
    qtbot.waitUntil(lambda: heard.tape(run_id) is not None, timeout=PATIENCE_MS)
    made.close()


def test_an_engine_that_never_gets_ready_is_replaced(qtbot, monkeypatch):
    monkeypatch.setattr(engine_process, "BOOT_S", 0.05)
    monkeypatch.setattr(launch, "engine_arguments", lambda: ["-c", "while True: pass"])
    made = Link()
    heard = Heard(made)
    run_id = made.run("print('at last')")

    def mend(why):
        monkeypatch.setattr(launch, "engine_arguments", torchless.arguments)
        monkeypatch.setattr(engine_process, "BOOT_S", 60.0)

    made.died.connect(mend)
    qtbot.waitUntil(lambda: heard.tape(run_id) is not None, timeout=PATIENCE_MS)
    assert "does not get ready" in heard.of(str)[0]
    assert heard.tape(run_id).stdout == "at last\n"
    made.close()


def test_a_missing_python_is_told_of(qtbot, monkeypatch):
    monkeypatch.setattr(launch, "python_executable", lambda _interpreter=None: "no-such-python")
    made = Link()
    heard = Heard(made)
    made.start()
    qtbot.waitUntil(
        lambda: any("does not start" in reason for reason in heard.of(str)), timeout=PATIENCE_MS
    )
    made.close()


@real
def test_a_check_is_answered(qtbot, heard, tape_of):
    tape = tape_of("x = param(3.0)\ny = x * x\ny.backward()")
    heard.link.check(1, tape.leaves[0].value)
    qtbot.waitUntil(lambda: bool(heard.of(messages.Checked)), timeout=PATIENCE_MS)
    assert heard.of(messages.Checked)[0].agrees


def test_a_check_while_a_program_runs_is_refused_at_once(qtbot, heard):
    heard.link.run(LOOP)
    heard.link.check(1, 1)
    assert "is running" in heard.of(messages.Checked)[0].problem
    heard.link.stop()


@real
def test_numbers_left_out_can_be_asked_for(qtbot, heard, tape_of):
    tape = tape_of("x = torch.ones(3000)\ny = x * 2")
    heard.link.peek(1, tape.values[-1].snapshot)
    qtbot.waitUntil(lambda: bool(heard.of(messages.Peeked)), timeout=PATIENCE_MS)
    assert heard.of(messages.Peeked)[0].full.array().sum() == 6000


def test_closing_ends_the_engine_even_while_a_program_runs(qtbot, heard):
    heard.link.run(LOOP)
    qtbot.waitUntil(lambda: bool(heard.of(messages.Started)), timeout=PATIENCE_MS)
    pid = heard.link.pid()
    heard.link.close()
    assert heard.link.pid() == 0
    if sys.platform == "linux":
        assert not os.path.exists(f"/proc/{pid}")
    assert not heard.of(str)


def test_a_closed_link_can_start_again(qtbot, heard, tape_of):
    heard.link.close()
    heard.link.close()
    heard.link.start()
    assert tape_of("print('anew')").stdout == "anew\n"


def test_closing_before_the_engine_is_ready_leaves_nothing(qtbot):
    made = Link()
    made.start()
    made.close()
    assert made.pid() == 0
