"""An engine on another machine as a window that ends leaves it to the next."""

import secrets

from msgspec import Struct

from gradscribe.app.link.interpreters import Interpreter
from gradscribe.engine.protocol import messages


class FarEngine(Struct, frozen=True):
    """An engine that runs on another machine: where, its name there, and what it is."""

    python: Interpreter
    session: str
    ready: messages.Ready
    version: str
    """Hash of its source: a window of another version does not understand it."""

    @property
    def place(self) -> str:
        """The machine as a user names it."""
        return self.python.host.removeprefix("ssh://")


def new_session() -> str:
    """Return a name that no engine has."""
    return secrets.token_hex(8)
