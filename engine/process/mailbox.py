"""Queue of requests that the engine has received and not yet answered."""

import threading
from collections import deque

from gradscribe.engine.protocol import messages
from gradscribe.engine.run import watchdog


class Mailbox:
    """Pending requests. Of several runs only the newest stays; a stopped run is marked."""

    def __init__(self) -> None:
        self._waiting: deque[messages.Request] = deque()
        self._changed = threading.Condition()
        self._running: int | None = None
        self._stopped: set[int] = set()

    def put(self, request: messages.Request) -> None:
        """Add a request, or stop the run it names."""
        with self._changed:
            if isinstance(request, messages.Stop):
                self._stop(request.run_id)
                return
            if isinstance(request, messages.Run):
                others = [other for other in self._waiting if not isinstance(other, messages.Run)]
                self._waiting = deque(others)
            self._waiting.append(request)
            self._changed.notify()

    def _stop(self, run_id: int) -> None:
        if run_id == self._running:
            watchdog.stop()
        elif any(isinstance(r, messages.Run) and r.run_id == run_id for r in self._waiting):
            self._stopped.add(run_id)

    def wait_idle(self, seconds: float) -> bool:
        """Wait up to ``seconds`` for a request; return whether none came."""
        with self._changed:
            return not self._changed.wait_for(lambda: bool(self._waiting), seconds)

    def take(self) -> tuple[messages.Request, bool]:
        """Wait for the next request; return it and whether it has been stopped already."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._waiting))
            request = self._waiting.popleft()
            stopped = False
            if isinstance(
                request,
                messages.Run | messages.Comparison | messages.Probe | messages.ModelRequest,
            ):
                watchdog.arm()
                self._running = request.run_id
                stopped = isinstance(request, messages.Run) and request.run_id in self._stopped
            if isinstance(request, messages.Run):
                self._stopped.clear()
            return request, stopped

    def done(self) -> None:
        """Note that nothing runs any more: a late Stop has no effect."""
        with self._changed:
            self._running = None
