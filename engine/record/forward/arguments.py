"""Arguments and results of torch functions: tensors, and text for the rest."""

from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, FunctionType

import torch
from msgspec import Struct
from torch.nn import Parameter
from torch.nn.parameter import is_lazy

from gradscribe.engine.protocol.safe_text import MAX_NAME_CHARS, type_name
from gradscribe.engine.protocol.tape import Arg
from gradscribe.engine.record.log import ValueRow
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

_PLAIN = frozenset((int, float, bool, str, type(None), torch.dtype, torch.device, torch.Size))
"""Immutable types that contain no tensor, so that their text can be made later."""
_NUMBERS = (int, float)
_WITH_REPR = _PLAIN | {complex, slice, tuple, list}
"""Types with a meaningful ``repr``."""


class CallArguments(Struct, gc=False, eq=False):
    """Arguments of a call that is being recorded."""

    tensors: list[torch.Tensor]
    """The tensors among its arguments."""
    values: list[ValueRow]
    """Their values when the call began."""
    args: list[object]
    """All its arguments, as in `OpRow.args`."""
    since: int = 0
    """The lowest sequence number that a backward node of the call can have."""
    took: int = 0
    """Duration of the call itself in nanoseconds."""


def argument_tensors(args: tuple[object, ...], kwargs: dict[str, object]) -> list[torch.Tensor]:
    """Return the tensors among a call's arguments, except ``out=``, which is a result."""
    found: list[torch.Tensor] = []
    for arg in args:
        kind = type(arg)
        if kind is torch.Tensor or kind is Parameter:
            found.append(arg)  # type: ignore[arg-type]
        elif kind not in _PLAIN:
            found.extend(_tensors(arg))
    for keyword, arg in kwargs.items():
        if type(arg) not in _PLAIN and keyword != "out":
            found.extend(_tensors(arg))
    return found


def result_tensors(out: object) -> list[torch.Tensor]:
    """Return the tensors of a call's result."""
    return [out] if type(out) is torch.Tensor else list(_tensors(out))


def _tensors(thing: object, depth: int = 0) -> Iterator[torch.Tensor]:
    """Yield the tensors in nested tuples, lists and dicts, except uninitialized parameters."""
    if isinstance(thing, torch.Tensor):
        if not is_lazy(thing):
            yield thing
    elif depth < 6:
        if isinstance(thing, tuple | list):
            for item in thing:
                yield from _tensors(item, depth + 1)
        elif isinstance(thing, dict):
            for item in thing.values():
                yield from _tensors(item, depth + 1)


def plain_arguments(
    args: tuple[object, ...],
    kwargs: dict[str, object],
    seen: dict[int, ValueRow],
    meet: Callable[[torch.Tensor], ValueRow] | None = None,
) -> CallArguments | None:
    """Return a call's arguments if all are plain tensors with a value, or literals (fast path).

    ``seen`` has the last value of each tensor by its ``id()``. None if a tensor is of a subclass,
    or an argument of another type could contain tensors. ``meet`` records a tensor that is new or
    was changed since; without it the result is None for those, too.
    """
    given: list[torch.Tensor] = []
    values: list[ValueRow] = []
    kept: list[object] = []
    try:
        for arg in args:
            kind = type(arg)
            if kind is torch.Tensor or kind is Parameter:
                row = seen.get(id(arg))
                if row is None or row.ref() is not arg or row.version != arg._version:  # type: ignore[union-attr]
                    if meet is None:
                        return None
                    row = meet(arg)  # type: ignore[arg-type]
                given.append(arg)  # type: ignore[arg-type]
                values.append(row)
                kept.append(row)
            elif kind in _PLAIN:
                kept.append(arg)
            else:
                return None
    except RuntimeError:
        # An inference tensor has no version.
        return None
    if kwargs:
        if any(type(arg) not in _PLAIN for arg in kwargs.values()):
            return None
        kept += kwargs.items()
    return CallArguments(given, values, kept)


def stored_arguments(
    args: tuple[object, ...],
    kwargs: dict[str, object],
    given: list[torch.Tensor],
    values: list[ValueRow],
) -> list[object]:
    """Return a call's arguments in the form of `OpRow.args`.

    ``given`` are the tensors among them, ``values`` the values of those.
    """
    ids = {id(t): v.id for t, v in zip(given, values, strict=True)}
    positional: list[object] = [arg for thing in args for arg in _arg(thing, "", ids)]
    named = ((key[:MAX_NAME_CHARS], thing) for key, thing in kwargs.items())
    return [*positional, *(arg for key, thing in named for arg in _arg(thing, key, ids))]


def tape_arguments(kept: list[object]) -> list[Arg]:
    """Convert arguments as stored in `OpRow.args` to those of the tape."""
    result: list[Arg] = []
    for stored in kept:
        if type(stored) is ValueRow:
            result.append(Arg(stored.id))
        elif type(stored) is Arg:
            result.append(stored)
        elif type(stored) is tuple:
            result += _arg(stored[1], stored[0], {})
        else:
            result += _arg(stored, "", {})
    return result


def _arg(thing: object, keyword: str, ids: dict[int, int]) -> list[Arg]:
    if isinstance(thing, _NUMBERS) and not isinstance(thing, bool):
        number = float(thing) if abs(thing) < 2**1000 else None
        return [Arg(None, repr(thing)[:80], number, "", keyword)]
    if isinstance(thing, torch.Tensor):
        return [Arg(ids.get(id(thing)), keyword=keyword)]
    if isinstance(thing, bool | complex) or thing is None or isinstance(thing, str | slice):
        return [Arg(text=repr(thing)[:80], keyword=keyword)]
    if isinstance(thing, tuple | list):
        if any(isinstance(x, torch.Tensor) for x in thing):
            return [arg for x in thing for arg in _arg(x, keyword, ids)]
        text = ", ".join(_item_text(x) for x in tuple(thing)[:12])
        return [Arg(text=f"({text})"[:80], keyword=keyword)]
    return [Arg(text=_text(thing)[:80], keyword=keyword)]


def _item_text(thing: object) -> str:
    if thing is Ellipsis:
        return "…"
    return repr(thing) if type(thing) in _WITH_REPR else _text(thing)


def _text(thing: object) -> str:
    if isinstance(thing, torch.dtype | torch.device | torch.layout | torch.memory_format):
        return str(thing).removeprefix("torch.")
    # Anything else may be of the program's own classes: reading it could run their code.
    if isinstance(thing, FunctionType | BuiltinFunctionType):
        return thing.__name__
    return type_name(thing if isinstance(thing, type) else type(thing))
