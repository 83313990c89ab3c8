"""States that a program hands to torch, which writes what is in them into an object."""

from collections import OrderedDict
from collections.abc import Callable

from torch import nn

from engine.policy.kinds import is_class, where_from
from engine.policy.refusal import Refusal

_HINT = "Use what state_dict() returned."


def plainly(owner: object, load: object) -> Callable[..., object]:
    """Return ``load_state_dict`` of torch's that takes plain states without private names.

    Raises:
        Refusal: ``owner`` is a class, whose method would take any object.
    """
    if is_class(owner) or not callable(load):
        raise Refusal("load_state_dict() is called on an object", "Write model.load_state_dict().")
    call = load
    # What is a module may be a schedule, too, whose method this is.
    kind = where_from(load, "load_state_dict")
    is_module = kind is not None and issubclass(kind, nn.Module)

    def loaded(*args: object, **options: object) -> object:
        given = [_top(one, is_module) for one in args]
        return call(*given, **{name: _top(one, is_module) for name, one in options.items()})

    return loaded


def _top(state: object, is_module: bool) -> object:
    if state is None or isinstance(state, bool):
        return state
    if not isinstance(state, dict) or type(state) not in (dict, OrderedDict):
        raise Refusal("A state is a plain dict", _HINT)
    _keys(state)
    return state if is_module else _copied(state)


def _keys(state: dict[object, object]) -> None:
    for key in state:
        # A key of the program's own class could pass for any name.
        if type(key) not in (str, int) or (isinstance(key, str) and key.startswith("__")):
            raise Refusal("A state has no private names", _HINT)


def _copied(value: object) -> object:
    """Return a state in containers of its own: the program may hold those it gave."""
    if isinstance(value, dict):
        if type(value) not in (dict, OrderedDict):
            raise Refusal("A state is a plain dict", _HINT)
        _keys(value)
        inner = value.get("_schedulers", [])
        # torch would take pairs, too, and whatever yields them.
        if type(inner) is not list or not all(isinstance(one, dict) for one in inner):
            raise Refusal("A state is a plain dict", _HINT)
        return {key: _copied(one) for key, one in value.items()}
    if type(value) is list:
        return [_copied(one) for one in value]
    if type(value) is tuple:
        return tuple(_copied(one) for one in value)
    if hasattr(type(value), "keys"):
        raise Refusal("A state is a plain dict", _HINT)
    return value


def parameters(given: object) -> dict[str, object]:
    """Return the parameters that a program names for a module, in a dict of our own.

    Raises:
        Refusal: torch would take what is no plain dict, or set what is no parameter.
    """
    if not isinstance(given, dict) or type(given) not in (dict, OrderedDict):
        raise Refusal("Parameters come in a plain dict", "Use dict(model.named_parameters()).")
    for name in given:
        if type(name) is not str or any(part.startswith("__") for part in name.split(".")):
            raise Refusal("A parameter has a plain name", "Use those of named_parameters().")
    return dict(given)
