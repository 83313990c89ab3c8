"""Advice on a run's setup: words at a setting, and a change of the setup that follows them."""

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from gradscribe.engine.protocol.setup import JsonValue, Part, Setup, SetupError, validate

MAX_ADVICE = 20
"""Most pieces of advice on a run; each kind gives a few at most."""


class Advice(Struct, frozen=True):
    """A sentence or two about a setting, and what to change.

    ``kind`` names the check that gave it, ``place`` the key of the setup (``data.inputs``).
    ``change`` has new values by key, in the form that a setup file has them, and ``button`` says
    what it does; both are empty where nothing can be changed for the user.
    """

    kind: str
    place: str
    words: str
    button: str = ""
    change: dict[str, JsonValue] = {}


class RunAdvice(Struct, frozen=True, tag=True):
    """All advice on a run by now; it replaces any before it."""

    run_id: int
    advice: tuple[Advice, ...]


def with_change(setup: Setup, change: Mapping[str, JsonValue]) -> Setup:
    """Return the setup with new values by key: ``optimizer.lr`` is an option, ``model`` a part.

    A part that is named anew has its default options.

    Raises:
        SetupError: there is no such key, or the value cannot be one of it.
    """
    values: dict[str, object] = {key: getattr(setup, key) for key in Setup.__struct_fields__}
    for key, value in change.items():
        name, _, option = key.partition(".")
        if name not in values:
            raise SetupError(f"a setup has no {name!r}", name)
        part = values[name]
        if option and isinstance(part, Part):
            values[name] = Part(part.name, {**part.options, option: value})
        elif isinstance(value, str) and isinstance(part, Part):
            values[name] = Part(value)
        else:
            values[name] = value
    try:
        made = msgspec.convert(values, Setup, from_attributes=True)
    except msgspec.ValidationError as error:
        raise SetupError(str(error), "") from None
    validate(made)
    return made
