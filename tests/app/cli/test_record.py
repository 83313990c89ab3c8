"""The headless twin: one program, one engine, one tape."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from gradscribe.app.cli import main as command_line
from gradscribe.app.cli import record
from gradscribe.app.cli.exit_codes import REFUSED
from gradscribe.app.cli.record import NoDevice, record_source
from gradscribe.app.files import tape_files
from gradscribe.app.link import launch
from gradscribe.engine.protocol import frames
from gradscribe.engine.protocol import messages as protocol_messages
from gradscribe.engine.protocol.tape import Snapshot, Tape
from tests.app import torchless

pytestmark = pytest.mark.e2e

posix = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")


def test_a_script_is_recorded_and_its_output_streamed():
    script = (
        "import torch\nx = torch.ones(2, requires_grad=True)\nprint('é')\n(x * 3).sum().backward()"
    )
    pieces = []
    tape = record_source(script, printed=pieces.append)
    assert (tape.status, tape.stdout, "".join(pieces)) == ("ok", "é\n", "é\n")
    assert tape.snapshots[tape.leaves[0].grad].array().tolist() == [3.0, 3.0]


def test_a_failing_script_keeps_what_came_before():
    tape = record_source("x = param(2.0)\ny = x * x\n1 / 0")
    assert (tape.status, tape.error.type, len(tape.ops)) == ("error", "ZeroDivisionError", 1)


def test_a_script_gets_as_many_threads_as_torch_takes_by_itself(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    source = "import torch\nprint(torch.get_num_threads())"
    plain = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert record_source(source).stdout == plain.stdout


@pytest.fixture
def quick(monkeypatch):
    """Let the engine start without torch."""
    monkeypatch.setattr(launch, "engine_arguments", torchless.arguments)


def test_a_loop_ends_at_the_time_limit(quick):
    assert record_source("while True: pass", timeout=0.3).status == "timeout"


def test_a_loop_in_compiled_code_is_killed(quick, monkeypatch):
    monkeypatch.setattr(launch, "GRACE_S", 0.3)
    tape = record_source("print('before')\nsum(iter(int, 1))", timeout=0.3)
    assert (tape.status, tape.stdout) == ("timeout", "before\n")
    assert os.name != "posix" or tape.error.place.line == 2


@posix
def test_an_engine_that_dies_is_a_tape_that_says_so(quick, capfd):
    tape = record_source("import os\nprint('last')\nos.abort()")
    assert (tape.status, tape.stdout, tape.error.place.line) == ("died", "last\n", 3)
    assert "Fatal" not in capfd.readouterr().err


def test_an_engine_that_never_gets_ready_is_a_tape_that_says_why(monkeypatch):
    monkeypatch.setattr(launch, "engine_arguments", lambda: ["-c", "raise SystemExit('no torch')"])
    tape = record_source("1")
    assert tape.status == "died"
    assert "no torch" in tape.error.message


def test_what_a_script_writes_to_standard_error_passes_through(quick, capsys):
    record_source("import sys\nsys.stderr.write('a word')")
    assert "a word" in capsys.readouterr().err


def test_a_device_that_is_not_there_is_refused(quick):
    with pytest.raises(NoDevice, match="there is: cpu"):
        record_source("1", device="cuda:77")


def test_a_file_that_is_no_program_is_refused_before_anything_starts(tmp_path, monkeypatch):
    monkeypatch.setattr(launch, "python_executable", lambda _interpreter=None: "no-such-python")
    assert command_line.main(["record", str(tmp_path / "missing.py")]) == REFUSED


def test_the_same_seed_gives_the_same_numbers():
    first, second, third = (
        record_source("x = torch.randn(3, requires_grad=True)", seed=seed) for seed in (1, 1, 2)
    )
    assert first.snapshots == second.snapshots != third.snapshots


PUPPET = """
import os, sys, time
os.write(1, bytes.fromhex(sys.argv[1]))
os.read(0, 1)
said = open(sys.argv[2], "rb").read()
if sys.argv[3] == "drip":
    for byte in said:
        os.write(1, bytes([byte]))
        time.sleep(0.02)
else:
    while said:
        said = said[os.write(1, said):]
while os.read(0, 1 << 16):
    pass
"""
"""Says it is ready; once it is asked for something it says what it was told to say."""


def raw(*messages):
    return b"".join(frame for message in messages for frame in frames.encode_frames(message))


LYING = Tape(snapshots=(Snapshot((9,), "float32", "<f4", b"1234"),))


@pytest.mark.parametrize(
    ("said", "how", "told"),
    [
        (b"<html>404</html>", "", "it wrote something else than messages"),
        (
            raw(protocol_messages.Recorded(1, LYING, 0.0)),
            "",
            "it wrote something else than messages",
        ),
        (raw(protocol_messages.Printed(1, "x" * 900_000)) * 6, "", "it wrote without end"),
        (raw(protocol_messages.Ended(1))[:-3], "", "Still running"),
        (raw(protocol_messages.Recorded(7, Tape(stdout="no"), 0.0)), "", "Still running"),
        (
            raw(
                protocol_messages.Started(1),
                protocol_messages.Recorded(1, Tape(stdout="y" * 500), 0.0),
            ),
            "drip",
            "Still runn",
        ),
    ],
    ids=["no frame", "a tape that lies", "a flood", "half a frame", "another's tape", "a drip"],
)
def test_an_engine_that_is_not_ours_any_more_is_given_up(monkeypatch, tmp_path, said, how, told):
    script, heard = tmp_path / "puppet.py", tmp_path / "said"
    script.write_text(PUPPET)
    heard.write_bytes(said)
    hello = raw(protocol_messages.Ready("none", "3", ("cpu",), 1)).hex()
    monkeypatch.setattr(launch, "engine_arguments", lambda: [str(script), hello, str(heard), how])
    monkeypatch.setattr(launch, "GRACE_S", 0.3)
    tape = record_source("print('first')", timeout=0.7)
    assert tape.status in ("died", "timeout")
    assert told in tape.error.message


def test_a_program_that_has_ended_is_not_said_to_be_still_running(monkeypatch, tmp_path):
    script, heard = tmp_path / "puppet.py", tmp_path / "said"
    script.write_text(PUPPET)
    heard.write_bytes(
        raw(
            protocol_messages.Started(1),
            protocol_messages.Printed(1, "done\n"),
            protocol_messages.Ended(1),
        )
    )
    hello = raw(protocol_messages.Ready("none", "3", ("cpu",), 1)).hex()
    monkeypatch.setattr(launch, "engine_arguments", lambda: [str(script), hello, str(heard), ""])
    monkeypatch.setattr(record, "FREEZE_S", 0.3)
    tape = record_source("print('done')", timeout=20.0)
    assert (tape.status, tape.stdout) == ("error", "done\n")
    assert tape.error.message.startswith("The program ended, but its recording")


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_mistakes_are_looked_for_only_if_something_shows_them(monkeypatch, tmp_path, words):
    asked = {}

    def record_source(_source, **options):
        asked.update(options)
        return Tape()

    monkeypatch.setattr(record, "record_source", record_source)
    (tmp_path / "script.py").write_text("x = 1")
    words = [*words, str(tmp_path / "out.json")] if words else []
    command_line.main(["record", str(tmp_path / "script.py"), *words])
    assert (asked["examine"], asked["leaves_only"]) == (bool(words), not words)


def test_a_recording_without_outputs_prints_the_same(tmp_path, capsys):
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\nw = torch.ones(2, requires_grad=True)\nfor i in range(4):\n"
        "    (w * i).sum().backward()\nprint(w.grad)\n"
    )
    assert command_line.main(["record", str(script)]) == 0
    alone = capsys.readouterr().out
    assert command_line.main(["record", str(script), "--dot", str(tmp_path / "g.dot")]) == 0
    assert alone == capsys.readouterr().out
    assert "tensor([6., 6.])" in alone
    assert "8 ops, 8 backward nodes, " in alone


@posix
@pytest.mark.parametrize(
    ("line", "status"), [("os._exit(3)", "died"), ("os.kill(os.getpid(), 19)", "timeout")]
)
def test_a_program_that_ends_or_stops_its_process_is_told_of_on_its_line(line, status):
    tape = record_source(f"import os\nx = param(2.0)\ny = x * x\n{line}\nz = y", timeout=5.0)
    assert tape.status == status
    # A stop reaches the threads of a process one after the other: the next line may have begun.
    assert tape.error.place.line in ((4,) if status == "died" else (4, 5))


@posix
def test_a_program_that_writes_to_every_descriptor_is_told_of():
    source = (
        "import os\nfor n in range(3, 64):\n    try: os.write(n, b'\\0\\0\\0\\5\\0hello')\n"
        "    except OSError: pass\nwhile True: pass"
    )
    tape = record_source(source, timeout=20.0)
    assert tape.error.message == "Python was given up: it wrote something else than messages"
    assert "descriptors" in tape.error.hint


def test_a_run_is_written_to_a_file_with_findings_and_environment(tmp_path, capsys):
    script, out = tmp_path / "twice.py", tmp_path / "run.tape"
    source = (
        "import torch\nw = torch.tensor([2.0, 3.0], requires_grad=True)\n"
        "for _ in range(2):\n    (w * w).sum().backward()\n"
    )
    script.write_text(source)
    assert command_line.main(["record", str(script), "--tape", str(out)]) == 0
    found = tape_files.read(out)
    assert found.trouble == ""
    assert (found.program.source, found.program.title) == (source, "twice.py")
    assert found.program.torch == found.tape.torch != ""
    gradient = found.tape.snapshots[found.tape.leaves[0].grad]
    assert gradient.array().tolist() == [8.0, 12.0]
    assert found.view.position == len(found.tape.events)


def test_a_file_has_the_numbers_of_big_tensors_up_to_a_bound(tmp_path, capsys):
    script, out = tmp_path / "squares.py", tmp_path / "run.tape"
    source = (
        "import torch\nw = torch.arange(3000.0, requires_grad=True)\n(w * w).sum().backward()\n"
    )
    script.write_text(source)
    squares = torch.arange(3000.0, requires_grad=True)
    (squares * squares).sum().backward()
    assert command_line.main(["record", str(script), "--tape", str(out)]) == 0
    found = tape_files.read(out)
    leaf = next(leaf for leaf in found.tape.leaves if leaf.name == "w")
    assert np.array_equal(found.big[leaf.grad].array(), squares.grad.numpy())
    capsys.readouterr()
    assert command_line.main(["record", str(script), "--tape", str(out), "--numbers", "0"]) == 0
    assert tape_files.read(out).big == {}
    assert "no more than statistics of" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command_line.main(["record", str(script), "--tape", str(out), "--numbers", "-1"])


def test_a_run_is_written_as_a_page(tmp_path, capsys):
    script, out = tmp_path / "square.py", tmp_path / "run.html"
    script.write_text("x = param(2.0)\n(x * x).backward()\n1 / 0\n")
    assert command_line.main(["record", str(script), "--html", str(out)]) == 1
    page = out.read_text(encoding="utf-8")
    data = json.loads(page.partition('id="run">')[2].partition("</script>")[0])
    assert (data["title"], data["error"]["type"], data["error"]["line"]) == (
        "square.py",
        "ZeroDivisionError",
        3,
    )
    x = next(found for found in data["subjects"].values() if found["title"] == "x")
    assert data["numbers"][str(x["gradient"][-1])]["text"] == ["4.0"]


def test_a_run_goes_to_a_file_whose_name_says_so(tmp_path, capsys):
    script = tmp_path / "a.py"
    script.write_text("x = 1\n")
    assert command_line.main(["record", str(script), "--tape", str(tmp_path / "a.zip")]) == REFUSED
    assert "ends in .tape" in capsys.readouterr().err
