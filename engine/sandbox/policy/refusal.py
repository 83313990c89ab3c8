"""The exception with which the policy refuses a program."""

from gradscribe.engine.protocol.tape import Place

TRUST = "Trust the program if you know who wrote it."


class Refusal(Exception):
    """An untrusted program did something forbidden. ``hint`` says what to do instead."""

    def __init__(self, message: str, hint: str = "", place: Place | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or TRUST
        self.place = place or Place()
