"""How the policy says no."""

from engine.tape import Place

TRUST = "Trust the program if you know who wrote it."


class Refusal(Exception):
    """Something that a program from elsewhere may not do. ``hint`` says what to do instead."""

    def __init__(self, message: str, hint: str = "", place: Place | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or TRUST
        self.place = place or Place()
