"""A real engine process, driven as the window drives it."""

import os
import platform
import queue
import subprocess
import sys
import threading
from pathlib import Path

from gradscribe.app.link import launch
from gradscribe.app.link.interpreters import Interpreter
from gradscribe.engine.protocol import frames
from gradscribe.engine.protocol import messages as protocol_messages

ROOT = Path(__file__).resolve().parents[2]
PATHS = (str(ROOT), os.environ.get("PYTHONPATH", ""))
PATIENCE_S = 60
THIS = Interpreter(sys.executable, platform.python_version(), "")


class Engine:
    """``python -m gradscribe.engine`` with blocking reads; ``words`` are its arguments."""

    def __init__(self, *words):
        self.process = subprocess.Popen(
            [sys.executable, *launch.arguments_for(THIS, launch.engine_arguments()), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, PATHS))},
            bufsize=0,
        )
        self.messages = queue.Queue()
        self.errors = bytearray()
        self.threads = [threading.Thread(target=self._listen), threading.Thread(target=self._hear)]
        for thread in self.threads:
            thread.start()
        self._ids = 0

    def _listen(self):
        reader = frames.MessageReader(protocol_messages.Reply)
        try:
            while data := self.process.stdout.read(1 << 16):
                for message in reader.feed(data):
                    self.messages.put(message)
        except frames.ProtocolError:
            # A program has found the wire: the window, too, ends such an engine.
            self.process.kill()
        self.messages.put(None)

    def _hear(self):
        while data := self.process.stderr.read(1 << 16):
            self.errors += data

    def write(self, data):
        self.process.stdin.write(data)

    def send(self, *messages):
        """Write messages in one piece, so that they may overtake each other."""
        self.write(
            b"".join(frame for message in messages for frame in frames.encode_frames(message))
        )

    def new_id(self):
        self._ids += 1
        return self._ids

    def start(self, source, **options):
        """Send a program and return its run id."""
        run_id = self.new_id()
        self.send(protocol_messages.Run(run_id, source, **options))
        return run_id

    def next(self):
        return self.messages.get(timeout=PATIENCE_S)

    def until(self, kind, run_id=None):
        """Return every message up to the first of ``kind`` (of a run, where one is given)."""
        seen = []
        while True:
            message = self.next()
            seen.append(message)
            if message is None:
                raise AssertionError(f"the engine died: {self.errors.decode()}")
            if isinstance(message, kind) and run_id in (None, getattr(message, "run_id", None)):
                return seen

    def run(self, source, **options):
        """Run a program and return its tape."""
        return self.until(protocol_messages.Recorded, self.start(source, **options))[-1].tape

    def wait_end(self):
        """Wait until the process has ended and return its exit code."""
        while self.next() is not None:
            pass
        return self.process.wait(PATIENCE_S)

    def close(self):
        self.process.kill()
        self.process.wait()
        for thread in self.threads:
            thread.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()
