"""An engine that starts at once: the real server, with a bare ``exec`` where torch would be.

Run as a program it speaks the wire; `arguments` stands in for `app.link.launch.engine_arguments`.
"""

import faulthandler
import os
import signal
import threading

from gradscribe.engine import system
from gradscribe.engine.process.server import EngineHandlers, Server
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.run import errors, watchdog


def arguments():
    """Return what follows the Python program to start this engine."""
    return ["-P", "-u", __file__]


def execute(request, printed):
    """Run a program in which only ``print`` is caught."""
    told = []

    def say(*words):
        told.append(" ".join(map(str, words)) + "\n")
        printed(told[-1])

    guard = watchdog.InterruptGuard(request.timeout)
    try:
        with guard:
            exec(compile(request.source, request.filename, "exec"), {"print": say})
    except BaseException as error:  # noqa: BLE001 - the program is the test's
        problem = errors.to_problem(error, request.source, request.filename)
        status = "timeout" if guard.why == "timeout" else "error"
        return Tape(status=status, error=problem, stdout="".join(told))
    return Tape(stdout="".join(told))


def main():
    """Serve until the pipe closes."""
    system.start_session()
    incoming, outgoing = system.claim_pipes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    server = Server(incoming, outgoing)
    threading.Thread(target=server.read, daemon=True).start()
    server.send(messages.Ready("none", "3", ("cpu",), os.getpid()))
    server.report_process_ends()
    others = dict.fromkeys(set(EngineHandlers._fields) - set(EngineHandlers._field_defaults))
    server.serve(EngineHandlers(**others | {"execute": execute}))


if __name__ == "__main__":
    main()
