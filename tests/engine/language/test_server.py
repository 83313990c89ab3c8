"""The language process: what it answers, how it ends, what it may do."""

import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gradscribe.engine.protocol import frames, messages
from gradscribe.engine.protocol.language import (
    Complete,
    Completed,
    Describe,
    Described,
    Explain,
    Explained,
    Locate,
    Located,
    TorchNames,
)

pytestmark = pytest.mark.e2e

PATIENCE_S = 90


class Process:
    """The process with blocking reads."""

    def __init__(self, *words):
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "gradscribe.engine.language", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self.replies = queue.Queue()
        self.names = queue.Queue()
        self.thread = threading.Thread(target=self._listen)
        self.thread.start()

    def _listen(self):
        reader = frames.MessageReader(messages.Reply)
        while data := self.process.stdout.read(1 << 16):
            for message in reader.feed(data):
                (self.names if isinstance(message, TorchNames) else self.replies).put(message)
        self.replies.put(None)

    def send(self, *requests):
        self.process.stdin.write(b"".join(f for r in requests for f in frames.encode_frames(r)))

    def next(self):
        return self.replies.get(timeout=PATIENCE_S)

    def close(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE_S)
        self.thread.join()
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture(scope="module")
def process():
    made = Process()
    made.ready = made.next()
    yield made
    made.close()


def test_it_is_ready_before_torch_has_been_read(process):
    assert isinstance(process.ready, messages.Ready)
    assert process.ready.pid == process.process.pid


def test_each_kind_of_request_has_its_reply(process):
    source = "def helper(a, b=2): ...\nhelper("
    process.send(Complete(1, "hel", 1, 3))
    reply = process.next()
    assert isinstance(reply, Completed)
    assert [one.name for one in reply.names] == ["help"]
    process.send(Describe(2, "help"))
    assert isinstance(process.next(), Described)
    process.send(Explain(3, source, 2, 7))
    reply = process.next()
    assert isinstance(reply, Explained)
    assert reply.called is not None
    assert reply.called.signatures == ("(a, b=2)",)
    process.send(Locate(4, source, 2, 3))
    assert process.next() == Located(4, 1, 4)


def test_it_sends_the_names_of_torch_by_itself(process):
    names = process.names.get(timeout=PATIENCE_S)
    assert {"torch", "torch.Tensor", "torch.nn.functional"} <= set(names.owners)
    process.names.put(names)


def test_of_many_requests_the_newest_is_answered(process):
    count = 200
    process.send(*(Complete(100 + i, "import os\nos.", 2, 3) for i in range(count)))
    serials = []
    while not serials or serials[-1] != 100 + count - 1:
        serials.append(process.next().serial)
    assert serials == sorted(serials)
    assert len(serials) < count


@pytest.mark.parametrize("place", [(0, 0), (9, 9), (1, 99), (-1, -5), (1 << 40, 0)])
def test_an_impossible_place_has_an_empty_answer(process, place):
    process.send(Complete(900, "x = 1", *place))
    assert process.next() == Completed(900)
    process.send(Explain(901, "x = 1", *place))
    assert process.next() == Explained(901)


@pytest.mark.parametrize(
    "source",
    ["\ud800".encode("utf-8", "replace").decode(), "(" * 20_000, "x." * 5_000, "[" * 3_000 + "x"],
)
def test_hostile_text_does_not_end_it(process, source):
    process.send(Complete(950, source, 1, len(source)))
    assert process.next().serial == 950
    process.send(Locate(951, "a = 1\na", 2, 1))
    assert process.next() == Located(951, 1, 0)


def test_garbage_ends_it():
    made = Process()
    made.next()
    made.process.stdin.write(b"\xff" * 64)
    assert made.process.wait(PATIENCE_S) == 2
    made.close()


def test_the_end_of_the_window_ends_it():
    made = Process()
    made.next()
    made.close()
    assert made.process.returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="Linux confines it")
def test_it_can_neither_write_files_nor_start_processes(tmp_path):
    (tmp_path / "mine.py").write_text("value = 1\n")
    made = Process(str(tmp_path))
    made.next()
    made.send(Complete(1, "import mine\nmine.", 2, 5))
    assert "value" in {one.name for one in made.next().names}
    status = Path(f"/proc/{made.process.pid}/status").read_text()
    if "Seccomp:\t2" not in status:
        pytest.skip("this kernel confines no process")
    assert "NoNewPrivs:\t1" in status
    made.close()
    assert sorted(os.listdir(tmp_path)) == ["mine.py"]
