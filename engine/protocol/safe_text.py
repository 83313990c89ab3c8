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


def line_count(text: str) -> int:
    """Return the number of lines of a text, a last one without an end included.

    A carriage return ends a line, too: a progress bar is shown as its lines.
    """
    ends = text.count("\n") + text.count("\r") - text.count("\r\n")
    return ends + bool(text and text[-1] not in "\r\n")
