"""Writer of messages to the pipe of the window."""

import os
import threading
from collections.abc import Callable

from gradscribe.engine.protocol import frames, messages


class MessageWriter:
    """Write messages to a descriptor, from any thread, each whole."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._sending = threading.Lock()

    def send(self, message: messages.Reply) -> None:
        """Write a message. End the process if the pipe is closed: nobody is left to serve."""
        with self._sending:
            for frame in frames.encode_frames(message):
                view = memoryview(frame)
                while view:
                    try:
                        view = view[os.write(self._descriptor, view) :]
                    except OSError:
                        os._exit(0)

    def send_now(self, message: messages.Reply, can_write: Callable[[int], bool]) -> bool:
        """Write a short message unless that would wait; return whether it was written.

        Args:
            message: a message of few bytes.
            can_write: returns whether a descriptor takes them at once.
        """
        if not self._sending.acquire(blocking=False):
            return False
        try:
            is_free = can_write(self._descriptor)
            if is_free:
                for frame in frames.encode_frames(message):
                    os.write(self._descriptor, frame)
            return is_free
        finally:
            self._sending.release()

    def detach(self) -> None:
        """Write to nowhere from now on: this process is a copy of the one that serves."""
        self._descriptor = os.open(os.devnull, os.O_WRONLY)
