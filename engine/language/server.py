"""Answer questions about programs, the newest first, in a confined process.

A reader thread receives requests; of each kind only the newest waits. The main thread warms up in
pieces and answers between them.
"""

import gc
import os
import platform
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from gradscribe.engine import system
from gradscribe.engine.language.analysis import ProgramAnalysis
from gradscribe.engine.protocol import frames as protocol_frames
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.language import (
    Complete,
    Completed,
    Describe,
    Described,
    Explain,
    Explained,
    LanguageReply,
    LanguageRequest,
    Locate,
    Located,
    TorchNames,
)
from gradscribe.engine.protocol.wire.message_writer import MessageWriter
from gradscribe.engine.sandbox.confine import box, limits

MEMORY = 2 << 30
"""Bytes that this process may use; an analysis that needs more fails."""


class OtherPython(NamedTuple):
    """The Python that programs run in, where it is not this process's."""

    source: str
    """Folder of the package ``gradscribe`` for it."""
    catalogue: tuple[str, ...]
    """Command that writes the names of its torch."""
    packages: tuple[str, ...]
    """Folders of its packages."""


CATALOGUE = [sys.executable, "-P", "-m", "gradscribe.engine.language.catalogue"]


class LanguageServer:
    """Reads requests from one descriptor and answers on another."""

    def __init__(
        self, incoming: int, outgoing: int, folder: str = "", packages: Sequence[str] = ()
    ) -> None:
        self._incoming = incoming
        self.send = MessageWriter(outgoing).send
        self._changed = threading.Condition()
        self._waiting: dict[type, LanguageRequest] = {}
        self._analysis = ProgramAnalysis(folder, packages)

    def read(self) -> None:
        """Receive requests until the window closes the pipe, which ends the process."""
        reader = protocol_frames.MessageReader[messages.Request](messages.Request)  # type: ignore[arg-type]
        while True:
            try:
                data = os.read(self._incoming, system.READ)
                for request in reader.feed(data):
                    self._put(request)
            except (OSError, protocol_frames.ProtocolError):
                os._exit(2)
            if not data:
                os._exit(0)

    def _put(self, request: messages.Request) -> None:
        if isinstance(request, messages.Quit):
            os._exit(0)
        if isinstance(request, LanguageRequest):
            with self._changed:
                # The newest last, so that what was asked first is answered first.
                self._waiting.pop(type(request), None)
                self._waiting[type(request)] = request
                self._changed.notify()

    def send_catalogue(self, maker: "subprocess.Popen[bytes]") -> None:
        """Send torch's names once the process that lists them has done so."""
        listed, _ = maker.communicate()
        try:
            catalogue = msgspec.msgpack.decode(listed, type=TorchNames)
        except msgspec.DecodeError:
            return
        self._analysis.catalogue = {
            path: {known.name: known for known in names} for path, names in catalogue.owners.items()
        }
        self.send(catalogue)

    def serve(self) -> None:
        """Answer requests forever, and warm up while there are none."""
        warming: Iterator[None] | None = self._analysis.warm_up()
        while True:
            with self._changed:
                if warming is None:
                    self._changed.wait_for(lambda: bool(self._waiting))
                first = next(iter(self._waiting), None)
                request = self._waiting.pop(first) if first is not None else None
            if request is not None:
                self.send(self._answer(request))
            elif warming is not None:
                warming = _advance(warming)

    def _answer(self, request: LanguageRequest) -> LanguageReply:
        """Return the answer, without names if the analysis fails: half-typed text may break it."""
        analysis = self._analysis
        try:
            match request:
                case Complete():
                    return analysis.complete(request)
                case Describe():
                    return analysis.describe(request)
                case Explain():
                    return analysis.explain(request)
                case Locate():
                    return analysis.locate(request)
        except Exception:  # noqa: BLE001 - jedi raises all kinds of errors on text that is no program
            return _NOTHING[type(request)](request.serial)


_NOTHING: dict[type, Callable[[int], LanguageReply]] = {
    Complete: Completed,
    Describe: Described,
    Explain: Explained,
    Locate: Located,
}


def _advance(warming: Iterator[None]) -> Iterator[None] | None:
    """Do a piece of the warm-up; return the rest, None once it is over."""
    try:
        next(warming)
    except StopIteration:
        # A collection that goes through all those syntax trees takes most of a second.
        gc.collect()
        gc.freeze()
        return None
    except Exception:  # noqa: BLE001 - without it the first answers are slower
        return None
    return warming


def main(words: Sequence[str] = ()) -> None:
    """Run the process until its standard input closes.

    ``words``: the folder of the programs, whose modules may be read, if they have one; then
    `OtherPython` as JSON if they run in another.
    """
    folder = words[0] if words else ""
    other = msgspec.json.decode(words[1], type=OtherPython) if len(words) > 1 else None
    system.die_with_parent()
    system.start_session()
    incoming, outgoing = system.claim_pipes()
    if system.is_abandoned(incoming):
        return
    limits.close_inherited(incoming, outgoing)
    # Not lower: on a busy machine an answer would then take most of a minute.
    system.yield_to_window(system.BEHIND_WINDOW)
    threads = limits.threads_in_use() if sys.platform != "win32" else 0
    # Before the confinement, which forbids to start processes.
    command, variables = CATALOGUE, None
    packages: tuple[str, ...] = ()
    if other is not None:
        command, packages = list(other.catalogue), other.packages
        variables = {**os.environ, "PYTHONPATH": other.source}
    maker = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=variables
    )
    system.cap_memory()
    _cap_data()
    box.confine(folder, packages, threads=threads)
    # Code deeper than jedi's own recursion limits ends in RecursionError, which is caught.
    sys.setrecursionlimit(3000)
    server = LanguageServer(incoming, outgoing, folder, packages)
    server.send(messages.Ready("", platform.python_version(), (), os.getpid()))
    threading.Thread(target=server.read, name="reader", daemon=True).start()
    threading.Thread(
        target=server.send_catalogue, args=(maker,), name="catalogue", daemon=True
    ).start()
    server.serve()


def _cap_data() -> None:
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = min(limit for limit in (MEMORY, soft, hard) if limit != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
