"""Validate state dicts from a program, since torch writes their items into objects."""

from collections import OrderedDict
from collections.abc import Callable

from torch import nn

from gradscribe.engine.sandbox.policy.ownership import defining_class, is_unbound
from gradscribe.engine.sandbox.policy.refusal import Refusal

_HINT = "Use what state_dict() returned."


def plain_load_state_dict(owner: object, load: object) -> Callable[..., object]:
    """Wrap torch's ``load_state_dict`` to accept only plain states without private names.

    Raises:
        Refusal: ``owner`` is a class, whose unbound method would accept any object.
    """
    if is_unbound(owner) or not callable(load):
        raise Refusal("load_state_dict() is called on an object", "Write model.load_state_dict().")
    call = load
    # An object may be both a module and a scheduler: it counts which class defines the method.
    kind = defining_class(load, "load_state_dict")
    is_module = kind is not None and issubclass(kind, nn.Module)

    def loaded(*args: object, **options: object) -> object:
        given = [_checked_state(item, is_module) for item in args]
        return call(
            *given, **{name: _checked_state(item, is_module) for name, item in options.items()}
        )

    return loaded


def _checked_state(state: object, is_module: bool) -> object:
    if state is None or isinstance(state, bool):
        return state
    if not isinstance(state, dict) or type(state) not in (dict, OrderedDict):
        raise Refusal("A state is a plain dict", _HINT)
    _check_keys(state)
    return state if is_module else _copied(state)


def _check_keys(state: dict[object, object]) -> None:
    for key in state:
        # A key of a program's str subclass could compare equal to any name.
        if type(key) not in (str, int) or (isinstance(key, str) and key.startswith("__")):
            raise Refusal("A state has no private names", _HINT)


def _copied(value: object) -> object:
    """Return a state copied into new containers: the program may still change its own."""
    if isinstance(value, dict):
        if type(value) not in (dict, OrderedDict):
            raise Refusal("A state is a plain dict", _HINT)
        _check_keys(value)
        inner = value.get("_schedulers", [])
        # torch would also accept pairs, and any iterable of them.
        if type(inner) is not list or not all(isinstance(item, dict) for item in inner):
            raise Refusal("A state is a plain dict", _HINT)
        return {key: _copied(item) for key, item in value.items()}
    if type(value) is list:
        return [_copied(item) for item in value]
    if type(value) is tuple:
        return tuple(_copied(item) for item in value)
    if hasattr(type(value), "keys"):
        raise Refusal("A state is a plain dict", _HINT)
    return value


def plain_parameters(given: object) -> dict[str, object]:
    """Return a program's parameters for a module, copied into a new dict.

    Raises:
        Refusal: it is no plain dict, or a name is no plain parameter name.
    """
    if not isinstance(given, dict) or type(given) not in (dict, OrderedDict):
        raise Refusal("Parameters come in a plain dict", "Use dict(model.named_parameters()).")
    for name in given:
        if type(name) is not str or any(part.startswith("__") for part in name.split(".")):
            raise Refusal("A parameter has a plain name", "Use those of named_parameters().")
    return dict(given)
