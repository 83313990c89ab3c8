"""Asking another machine for its Python, and for engines that were left running there."""

import contextlib
import json
from typing import Any

from msgspec import Struct

from gradscribe.app.link.interpreters import Interpreter, UnusablePython, ask_interpreter
from gradscribe.app.link.remote import address as addresses
from gradscribe.app.link.remote import connection as connections
from gradscribe.app.link.remote.connection import Connection, SessionGone
from gradscribe.app.link.remote.far_streams import PIECE, RECORD


class FarSession(Struct, frozen=True):
    """An engine that runs on another machine: its name there, its title, and when it began."""

    session: str
    title: str = ""
    begun: float = 0.0
    """In seconds since 1970."""


class Machine(Struct, frozen=True):
    """A Python on another machine, and the engines that run there."""

    python: Interpreter
    sessions: tuple[FarSession, ...] = ()


def ask_machine(text: str) -> Machine:
    """Return what the machine at an address has; the engine's source is sent if it is not there.

    Raises:
        UnusablePython: there is no connection, or no Python that programs can run in.
    """
    try:
        address = addresses.parse(text)
    except addresses.BadAddress as error:
        raise UnusablePython(str(error)) from error
    found: list[Interpreter] = []

    def judge(answer: dict[str, Any]) -> None:
        found.append(connections.judged(address, answer))

    config = {"task": "ask", "hash": connections.engine_hash()}
    with Connection(address, config) as connection:
        answer = connection.open(judge)
    sessions = tuple(
        FarSession(str(one["session"]), str(one.get("title", "")), float(one.get("begun", 0.0)))
        for one in answer.get("sessions", ())
    )
    return Machine(found[0], sessions)


def find_python(name: str) -> Interpreter:
    """Return the Python of a path or name on this machine, or of an address on another.

    Raises:
        UnusablePython: as `ask_machine` and `ask_interpreter` do.
    """
    return ask_machine(name).python if name.startswith(addresses.SCHEME) else ask_interpreter(name)


def end_session(text: str, session: str) -> None:
    """End an engine that runs on the machine at an address; nothing happens if there is none.

    Raises:
        UnusablePython: the machine is not reached.
    """
    address = addresses.parse(text)
    config = {"task": "run", "session": session, "starts": False, "hash": connections.engine_hash()}
    with Connection(address, config) as connection, contextlib.suppress(SessionGone):
        connection.open(lambda _found: None)
        greeting = json.dumps({"is_new": True, "o": 0, "r": 0, "i": 0}).encode()
        with contextlib.suppress(OSError):
            for kind, body in ((b"h", greeting), (b"x", b"")):
                connection.input.write(RECORD.pack(kind, 0, len(body)) + body)
            while connection.output.read(PIECE):
                pass  # It closes the line when it has ended.
