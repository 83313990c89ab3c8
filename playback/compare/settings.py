"""Settings by which two runs of the same op, or two steps of an optimizer, differ."""

from msgspec import Struct

from gradscribe.engine.protocol.tape import Arg, Op, Step
from gradscribe.playback.compare.ledger import Side
from gradscribe.playback.tape import snapshot_text
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr

NOTHING = "none"
"""Text of an argument that the call on the other side has and this call has not."""


class ChangedSetting(Struct, frozen=True):
    """A setting that differs; ``computed``: a number that the program computed, not a literal."""

    kind: str
    words: str
    computed: bool = False


def changed_setting(left: Side, right: Side, one: Op, other: Op) -> ChangedSetting | None:
    """Return the setting by which two calls of the same op differ; None if none does.

    Inputs that have a cause already are no setting.
    """
    if one.grad_mode != other.grad_mode and _learns(left, one, right, other):
        modes = [
            tr("with gradients") if op.grad_mode else tr("under no_grad") for op in (one, other)
        ]
        return ChangedSetting("grad mode", f"{one.op} {' → '.join(modes)}")
    here, there = _arguments(one), _arguments(other)
    parts, computed = [], True
    for name in dict.fromkeys([*here, *there]):
        a, b = here.get(name), there.get(name)
        if _same(left, right, a, b):
            continue
        label = name if isinstance(name, str) and name else ""
        texts = [_text(left, a), _text(right, b)]
        parts.append((f"{label}=" if label else "") + " → ".join(texts))
        computed = computed and _is_computed(a) and _is_computed(b)
    if not parts:
        return None
    return ChangedSetting("argument", f"{one.op} {', '.join(parts)}", computed)


def _learns(left: Side, one: Op, right: Side, other: Op) -> bool:
    """Return True if an input of either op requires a gradient."""
    return any(
        side.index.values[value].requires_grad
        for side, op in ((left, one), (right, other))
        for value in op.inputs
    )


def _arguments(op: Op) -> dict[str | int, Arg]:
    return {arg.keyword or n: arg for n, arg in enumerate(op.args)}


def _same(left: Side, right: Side, a: Arg | None, b: Arg | None) -> bool:
    if a is None or b is None:
        return a is b
    if a.value is None or b.value is None:
        return a.value is b.value and a.text == b.text
    if left.partners.get(a.value) == b.value:
        return True
    homes = left.index.first_version(a.value), right.index.first_version(b.value)
    if left.partners.get(homes[0]) == homes[1]:
        return True  # Versions of the same leaf: it was updated on this side alone.
    if a.value in left.values and b.value in right.values:
        return True  # Both have a cause already, and with it what they are used for.
    # A result of something that only this run did is no setting: it has its cause already.
    return (a.value not in left.partners and a.value in left.values) or (
        b.value not in right.partners and b.value in right.values
    )


def _is_computed(arg: Arg | None) -> bool:
    return (
        arg is not None
        and isinstance(arg.number, float)
        and len(arg.text) > snapshot_text.LONGEST_LITERAL
    )


def _text(side: Side, arg: Arg | None) -> str:
    if arg is None:
        return NOTHING
    if arg.value is None:
        return snapshot_text.literal(arg) if arg.number is not None else arg.text
    return side.name(arg.value)


def step_setting(one: Step, other: Step) -> str:
    """Return how the settings of two optimizer steps differ; empty if they agree."""
    if one.optimizer != other.optimizer:
        return f"{one.optimizer} → {other.optimizer}"
    if one.lr != other.lr:
        rates = " → ".join(
            "none" if lr is None else formatting.trim_zeros(lr) for lr in (one.lr, other.lr)
        )
        return tr("{optimizer} lr {rates}", optimizer=one.optimizer, rates=rates)
    return ""
