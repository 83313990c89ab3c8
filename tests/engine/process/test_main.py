"""The engine as a process: what it answers, what stops it, what kills it."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest
import torch

from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.tape import Place
from tests.engine.driver import Engine

pytestmark = pytest.mark.e2e

LOOP = "while True: pass"


@pytest.fixture
def engine():
    """An engine that may die."""
    engine = Engine()
    engine.ready = engine.next()
    yield engine
    engine.close()


def test_it_says_what_it_is_when_it_is_ready(shared):
    assert isinstance(shared.ready, messages.Ready)
    assert shared.ready.torch == str(torch.__version__)
    assert shared.ready.devices[0] == "cpu"
    assert shared.ready.pid == shared.process.pid


shares = pytest.mark.skipif(
    not Path("/proc/self/autogroup").exists(), reason="Linux shares by session"
)


def share(pid):
    """The session group of a process, and how far it stands back."""
    # A process that no session has ever been begun for has no group, and reads nothing.
    group, _, nice = Path(f"/proc/{pid}/autogroup").read_text().partition(" nice ")
    return group, int(nice or 0)


@shares
def test_it_leaves_the_processors_to_the_window_where_both_want_them(shared):
    shared.run("x = 1")
    assert share("self")[0] != share(shared.ready.pid)[0]
    assert share(shared.ready.pid)[1] > 0


@shares
def test_until_it_is_asked_for_something_it_makes_haste(engine):
    assert share(engine.ready.pid)[1] == 0
    engine.run("x = 1")
    assert share(engine.ready.pid)[1] > 0


@shares
def test_where_there_is_no_window_it_leaves_the_processors_to_nobody():
    alone = Engine("--alone")
    try:
        ready = alone.next()
        alone.run("x = 1")
        assert share(ready.pid)[1] == 0
    finally:
        alone.close()


def test_a_run_is_announced_streamed_ended_and_recorded(shared):
    run_id = shared.start("x = param(2.0)\ny = x * x\ny.backward()\nprint(x.grad)")
    seen = shared.until(messages.Recorded, run_id)
    assert all(message.run_id == run_id for message in seen)
    kinds = [type(message) for message in seen if not isinstance(message, messages.Printed)]
    assert kinds == [messages.Started, messages.Ended, messages.Recorded]
    assert seen[-1].tape.status == "ok"
    assert seen[-1].tape.stdout == "tensor(4.)\n"
    assert "".join(m.text for m in seen if isinstance(m, messages.Printed)) == "tensor(4.)\n"


def test_a_syntax_error_is_an_answer_with_a_place(shared):
    tape = shared.run("x = 1\ny = 2 +")
    assert tape.status == "error"
    assert tape.error.type == "SyntaxError"
    assert tape.error.place == Place(2, 6, 2, 7)


def test_every_run_begins_in_a_fresh_namespace(shared):
    shared.run("left_over = 1")
    assert shared.run("left_over").error.type == "NameError"


def test_a_loop_without_end_is_stopped_at_its_time_limit(shared):
    begun = time.monotonic()
    tape = shared.run("x = 1\n" + LOOP, timeout=0.3)
    assert tape.status == "timeout"
    assert tape.error.message == "Still running after 0.3 s: while True: pass"
    assert time.monotonic() - begun < 10


def test_a_loop_of_tensor_operations_is_stopped_too(shared):
    source = "x = param(1.0)\nwhile True:\n    x = x * 1"
    tape = shared.run(source, timeout=0.3, event_limit=500)
    assert tape.status == "timeout"
    assert tape.error.place.line in (2, 3)
    assert tape.ops


def test_a_sleep_is_cut_short(shared):
    assert shared.run("import time\ntime.sleep(1000)", timeout=0.3).status == "timeout"


def test_a_program_that_swallows_the_interrupt_is_interrupted_again(shared):
    source = "try:\n    x = 0\n    while True: x = 1\nexcept BaseException: pass\nwhile True: x = 2"
    tape = shared.run(source, timeout=0.3)
    assert (tape.status, tape.error.place.line) == ("timeout", 5)


def test_a_stop_ends_the_run_it_names(shared):
    run_id = shared.start(LOOP, timeout=50)
    shared.until(messages.Started, run_id)
    shared.send(messages.Stop(run_id))
    tape = shared.until(messages.Recorded, run_id)[-1].tape
    assert (tape.status, tape.error.type) == ("error", "Stopped")
    assert shared.run("print(1)").status == "ok"


def test_a_stop_of_another_run_changes_nothing(shared):
    run_id = shared.start("for i in range(300000): pass\nprint('done')")
    shared.send(messages.Stop(run_id - 1), messages.Stop(run_id + 1))
    assert shared.until(messages.Recorded, run_id)[-1].tape.stdout == "done\n"


def test_a_stop_may_overtake_the_run_it_stops(shared):
    first, second = shared.new_id(), shared.new_id()
    shared.send(messages.Run(first, LOOP, timeout=50))
    shared.until(messages.Started, first)
    shared.send(messages.Run(second, LOOP, timeout=50), messages.Stop(second), messages.Stop(first))
    assert shared.until(messages.Recorded, first)[-1].tape.error.type == "Stopped"
    seen = shared.until(messages.Recorded, second)
    assert seen[-1].tape.error.type == "Stopped"
    assert not any(isinstance(message, messages.Started) for message in seen)


def test_of_several_waiting_runs_only_the_newest_is_done(shared):
    first = shared.start(LOOP, timeout=50)
    shared.until(messages.Started, first)
    waiting = [messages.Run(shared.new_id(), f"print({i})") for i in range(5)]
    shared.send(*waiting, messages.Stop(first))
    seen = shared.until(messages.Recorded, waiting[-1].run_id)
    assert {message.run_id for message in seen} == {first, waiting[-1].run_id}
    assert seen[-1].tape.stdout == "4\n"


def test_output_arrives_while_the_program_runs(shared):
    run_id = shared.start("print('early')\n" + LOOP, timeout=50)
    seen = shared.until(messages.Printed, run_id)
    assert seen[-1].text.startswith("early")
    shared.send(messages.Stop(run_id))
    shared.until(messages.Recorded, run_id)


SLOW = """\
import time
w = torch.tensor(5.0, requires_grad=True)
for i in range(40):
    loss = (w - 3) ** 2
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
    w.grad = None
    time.sleep(0.05)
"""


def test_the_loss_of_a_loop_arrives_while_the_program_runs(shared):
    run_id = shared.start(SLOW, timeout=50)
    seen = shared.until(messages.Recorded, run_id)
    kinds = [type(message) for message in seen]
    assert kinds.count(messages.Computed) >= 2
    assert kinds.index(messages.Ended) > max(
        place for place, kind in enumerate(kinds) if kind is messages.Computed
    )
    w, exact = torch.tensor(5.0, requires_grad=True), []
    for _ in range(40):
        loss = (w - 3) ** 2
        loss.backward()
        exact.append(loss.item())
        with torch.no_grad():
            w -= 0.01 * w.grad
        w.grad = None
    scalars = [one for m in seen if isinstance(m, messages.Computed) for one in m.scalars]
    numbers = [number for one in scalars if one.line == 4 for number in one.numbers]
    assert 3 <= len(numbers) <= 40
    assert numbers == exact[: len(numbers)]


def test_a_run_that_is_short_sends_no_scalars(shared):
    run_id = shared.start(SLOW.replace("0.05", "0"))
    seen = shared.until(messages.Recorded, run_id)
    assert messages.Computed not in map(type, seen)


def test_a_flood_of_output_is_cut_into_pieces_and_bounded(shared):
    run_id = shared.start("for i in range(30): print('x' * 100_000)")
    seen = shared.until(messages.Recorded, run_id)
    pieces = [m.text for m in seen if isinstance(m, messages.Printed)]
    assert max(map(len, pieces)) <= 20_000
    assert sum(map(len, pieces)) == 1_000_000
    assert len(seen[-1].tape.stdout) == 30 * 100_001


def test_printing_from_c_and_into_descriptors_does_not_reach_the_wire(shared):
    source = (
        "import ctypes, os\nos.write(1, b'raw')\n"
        "c = ctypes.CDLL(None if os.name == 'posix' else 'msvcrt')\nc.puts(b'C')\nprint('fine')"
    )
    assert shared.run(source).stdout == "fine\n"
    assert b"raw" in shared.errors


def test_there_is_nothing_to_read_on_standard_input(shared):
    assert shared.run("x = input()").error.type == "EOFError"
    assert shared.run("import os\nprint(os.read(0, 9))").stdout == "b''\n"


def test_text_that_no_message_can_carry_is_mended(shared):
    tape = shared.run("print('\\ud800')\nraise ValueError('\\udfff')")
    assert (tape.status, tape.error.type) == ("error", "ValueError")
    tape.stdout.encode()
    tape = shared.run(
        "import warnings\nnet = nn.Module()\nnet.add_module('\\ud800', nn.Linear(1, 1))\n"
        "next(net.children())(torch.ones(1))\nwarnings.warn('\\udfff')\n"
    )
    assert (tape.status, tape.error) == ("ok", None)
    assert "?.weight" in str([leaf.name for leaf in tape.leaves])
    assert tape.stderr == "line 5: UserWarning: ?\n"


def test_a_greedy_program_is_told_so_and_the_engine_lives(shared):
    assert "40 TB" in shared.run("x = torch.ones(10**13)").error.hint
    assert shared.run("x = b'a' * 10**13").error.type == "MemoryError"
    assert shared.run("print(1)").status == "ok"


def test_an_exit_ends_the_program_not_the_engine(shared):
    assert shared.run("import sys\nprint(1)\nsys.exit()").status == "ok"
    tape = shared.run("import sys\nsys.exit(3)")
    assert (tape.status, tape.error.type, tape.error.place.line) == ("error", "SystemExit", 2)


def test_a_script_finds_the_modules_beside_it_and_no_longer(engine, tmp_path):
    (tmp_path / "neighbour_module.py").write_text("number = 7")
    script = tmp_path / "script.py"
    script.write_text("import neighbour_module\nprint(neighbour_module.number)")
    assert engine.run(script.read_text(), filename=str(script)).stdout == "7\n"
    assert str(tmp_path) not in engine.run("import sys\nprint(sys.path)").stdout


def test_an_environment_below_the_script_keeps_its_modules(engine, tmp_path):
    installed = tmp_path / ".venv" / "lib" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "loaded_once.py").write_text("number = 7")
    script = tmp_path / "script.py"
    source = f"import sys\nsys.path.append({str(installed)!r})\nimport loaded_once"
    script.write_text(source)
    # A confined engine reads the folder of its first script only: this one is its first.
    assert engine.run(source, filename=str(script)).status == "ok"
    found = engine.run("import sys\nprint('loaded_once' in sys.modules)", filename=str(script))
    assert found.stdout == "True\n"


def test_a_check_agrees_with_autograd(shared):
    run_id = shared.start("x = param(2.0)\ny = x ** 3\ny.backward()")
    tape = shared.until(messages.Recorded, run_id)[-1].tape
    shared.send(messages.Check(run_id, tape.leaves[0].value))
    answer = shared.until(messages.Checked)[-1]
    assert answer.agrees
    assert answer.numeric == pytest.approx(12, rel=1e-3)


def test_a_custom_function_is_held_against_gradcheck(shared):
    source = (
        "class Twice(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x):\n        return 2 * x\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g\n"
        "x = param([1.0, 2.0])\nTwice.apply(x).sum().backward()"
    )
    run_id = shared.start(source)
    shared.until(messages.Recorded, run_id)
    shared.send(messages.Gradcheck(run_id, 0))
    answer = shared.until(messages.Gradchecked)[-1]
    assert (answer.function, answer.agrees) == ("Twice", False)
    assert answer.pairs[0].by_differences == pytest.approx(2)


@pytest.mark.parametrize("count", [5_000, 300_000])
def test_numbers_left_out_of_the_tape_can_be_asked_for(shared, count):
    run_id = shared.start(f"x = torch.arange({count}.0, requires_grad=True)\ny = x * 2")
    tape = shared.until(messages.Recorded, run_id)[-1].tape
    index = tape.values[-1].snapshot
    assert tape.snapshots[index].data is None
    shared.send(messages.Peek(run_id, index), messages.Peek(run_id + 1, index))
    full = shared.until(messages.Peeked)[-1].full
    assert torch.equal(torch.from_numpy(full.array().copy()), torch.arange(float(count)) * 2)
    assert shared.until(messages.Peeked)[-1].full is None


def test_it_ends_when_nobody_listens_any_more(engine):
    run_id = engine.start(LOOP, timeout=50)
    engine.until(messages.Started, run_id)
    engine.process.stdin.close()
    assert engine.wait_end() == 0


def test_it_ends_when_it_is_asked_to_though_a_program_runs(engine):
    run_id = engine.start(LOOP, timeout=50)
    engine.until(messages.Started, run_id)
    engine.send(messages.Quit())
    assert engine.wait_end() == 0


def test_garbage_ends_it_with_a_word(engine):
    engine.write(b"\xff" * 100)
    assert engine.wait_end() == 2
    assert b"garbage" in engine.errors


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_an_abort_tells_the_line_it_happened_at(engine):
    engine.start("import os\nos.abort()", filename="<mine>")
    assert engine.wait_end() == -signal.SIGABRT
    assert b'File "<mine>", line 2' in engine.errors


def test_a_program_may_end_the_process_and_the_pipe_says_so(engine):
    engine.start("import os\nos._exit(7)")
    assert engine.wait_end() == 7


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_a_key_pressed_in_the_terminal_does_not_end_it(engine):
    os.kill(engine.process.pid, signal.SIGINT)
    assert engine.run("print(1)").stdout == "1\n"
