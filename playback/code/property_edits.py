"""Properties of a recorded tensor that an edit of the program's text changes."""

from typing import Literal

from gradscribe.engine.protocol.tape import Value
from gradscribe.playback.code import parameter_edits, tensor_edits
from gradscribe.playback.lab.dtypes import DTYPES, LEARNING
from gradscribe.playback.translation import tr

Property = Literal["requires_grad", "retain_grad", "dtype", "device"]

NOT_NAMED = tr("It has no name in the program")
NO_RESULT = tr("A leaf that requires a gradient has it in .grad without")


def has_name(value: Value) -> bool:
    """Return whether a tensor has a name and a line in the program."""
    is_named = value.name.isidentifier() or parameter_edits.is_path(value.name)
    return is_named and value.place.line > 0


def is_on(source: str, value: Value, changed: Property) -> bool:
    """Return whether ``requires_grad`` or ``retain_grad`` of a tensor is on."""
    if changed == "requires_grad":
        return value.requires_grad
    return tensor_edits.retains_grad(source, value.place.line, value.name)


def refusal(value: Value, changed: Property) -> str:
    """Return the reason for which a property cannot be changed by an edit; empty if it can."""
    if not has_name(value):
        return NOT_NAMED
    if changed == "requires_grad" and not value.is_leaf:
        return tr("It is the result of an op: that of its inputs decides")
    if changed == "requires_grad" and value.dtype not in LEARNING:
        return tr("Tensors of {dtype} have no gradients", dtype=value.dtype)
    if changed == "retain_grad" and value.is_leaf:
        return NO_RESULT if value.requires_grad else tr("It requires no gradient")
    if changed == "retain_grad" and not value.requires_grad:
        return tr("It requires no gradient")
    return ""


def dtypes_of(value: Value) -> tuple[str, ...]:
    """Return the dtypes that a tensor may be given."""
    # A tensor that requires a gradient is one of real or complex numbers.
    return LEARNING if value.requires_grad else tuple(DTYPES)


def edited(source: str, value: Value, changed: Property, choice: str) -> str:
    """Return the program that gives a tensor a property; empty without a safe place for it.

    ``choice`` is the name of a dtype or a device, or ``on`` or ``off``.
    """
    line, name, on = value.place.line, value.name, choice == "on"
    if not has_name(value):
        return ""
    if changed == "retain_grad":
        return tensor_edits.set_retain_grad(source, line, name, on)
    is_trained = value.is_leaf and value.requires_grad
    if parameter_edits.is_path(name):
        if changed == "requires_grad":
            return parameter_edits.set_requires_grad(source, line, name, on)
        if changed == "dtype":
            return parameter_edits.set_dtype(source, line, name, choice)
        return parameter_edits.set_device(source, line, name, choice)
    if changed == "requires_grad":
        return tensor_edits.set_requires_grad(source, line, name, on)
    if changed == "dtype":
        return tensor_edits.set_dtype(source, line, name, choice, is_trained)
    return tensor_edits.set_device(source, line, name, choice, is_trained)


def words(value: Value, changed: Property, choice: str) -> str:
    """Return a short text about an edit that was made."""
    is_set = choice == "on"
    if changed == "requires_grad":
        return f"{value.name}: requires_grad={is_set}"
    if changed == "retain_grad":
        return (
            tr("{name} retains its gradient", name=value.name)
            if is_set
            else tr("{name} retains no gradient", name=value.name)
        )
    root = value.name.partition(".")[0]
    return f"{root}: {choice}"
