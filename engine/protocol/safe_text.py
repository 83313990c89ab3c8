"""Names and texts of a user's program, made fit for a message."""

MAX_NAME_CHARS = 400
"""Characters after which names of a program's variables, classes and modules are cut."""
_NAME = type.__dict__["__name__"]


def type_name(kind: type) -> str:
    """Return the real name of a class, even if its metaclass overrides ``__name__``."""
    return without_surrogates(str.__str__(_NAME.__get__(kind)))[:MAX_NAME_CHARS]


def without_surrogates(text: str) -> str:
    """Return ``text`` without lone surrogates, which no UTF-8 message can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")
