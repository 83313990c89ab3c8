"""Signatures as texts: their parameters, and the one that an argument belongs to."""

import re
from collections.abc import Sequence

from msgspec import Struct

from gradscribe.playback.completion.caret import CallAtCaret

_NAME = re.compile(r"\*{0,2}(\w+)")


class Signature(Struct, frozen=True):
    """The parameters of a callable as they are written, stars included, and its result."""

    parameters: tuple[str, ...]
    result: str = ""


def parse(text: str) -> Signature:
    """Return the parts of a signature such as ``(input, dim=0) -> Tensor``.

    Text without brackets has no parameters.
    """
    if not text.startswith("("):
        return Signature(())
    parts, depth, begin, quote = [], 0, 1, ""
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and text[at - 1] != "\\" else quote
            continue
        if letter in "'\"":
            quote = letter
        depth += (letter in "([{") - (letter in ")]}")
        if (letter == "," and depth == 1) or depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
        if depth == 0:
            result = text[at + 1 :].strip().removeprefix("->").strip()
            return Signature(tuple(part for part in parts if part), result)
    return Signature(())


def parameter_name(parameter: str) -> str:
    """Return the name of a parameter; empty for ``*`` and ``/``."""
    found = _NAME.match(parameter)
    return found[1] if found else ""


def current_parameter(signature: Signature, call: CallAtCaret) -> int | None:
    """Return the index of the parameter that takes the argument at the caret; None if none does."""
    parameters = signature.parameters
    if call.keyword:
        for at, parameter in enumerate(parameters):
            if parameter_name(parameter) == call.keyword and not parameter.startswith("*"):
                return at
        return next((at for at, one in enumerate(parameters) if one.startswith("**")), None)
    if call.used:
        return None
    position = 0
    for at, parameter in enumerate(parameters):
        if parameter == "/":
            continue
        if parameter.startswith("**") or parameter == "*":
            return None
        if parameter.startswith("*") or position == call.argument:
            return at
        position += 1
    return None


def best_signature(signatures: Sequence[Signature], call: CallAtCaret) -> int:
    """Return the index of the first signature that takes the arguments so far, else 0."""
    for at, signature in enumerate(signatures):
        names = set(map(parameter_name, signature.parameters))
        open_ended = any(one.startswith("**") for one in signature.parameters)
        if (call.used <= names or open_ended) and (
            current_parameter(signature, call) is not None or (call.used and not call.keyword)
        ):
            return at
    return 0


def new_keywords(signatures: Sequence[Signature], call: CallAtCaret) -> dict[str, str]:
    """Return the keywords that the call may still get: name -> what follows the name."""
    found: dict[str, str] = {}
    for signature in signatures:
        only_positions = signature.parameters.index("/") if "/" in signature.parameters else -1
        for at, parameter in enumerate(signature.parameters):
            name = parameter_name(parameter)
            if name and at > only_positions and not parameter.startswith("*"):
                found.setdefault(name, parameter[len(name) :].lstrip(":= "))
    return {name: text for name, text in found.items() if name not in call.used}
