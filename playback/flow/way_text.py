"""Ways to the loss in words."""

import math
from collections.abc import Sequence

from gradscribe.playback.flow.ways import Way, Ways, WayStep
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr

CLOSE = 1e-4
"""Relative difference up to which a sum in another order counts as the gradient."""
LONGEST = 6
"""Most ops of a way that are written out, unless another number is asked for."""
_DIGITS = 12
"""Most digits of a number of ways; of more only the power of ten."""


def number(x: float | None) -> str:
    """Return a number, or ``?`` for an unknown one."""
    return "?" if x is None else formatting.trim_zeros(x)


def ways_count(count: int) -> str:
    """Return ``1 way``, ``1,048,576 ways`` or ``about 10^301 ways``."""
    # Python writes integers of more than some thousand digits in no base but powers of two.
    power = int((count.bit_length() - 1) * math.log10(2)) if count else 0
    if power < _DIGITS:
        return ngettext("{count:,} way", "{count:,} ways", count)
    return tr("about 10^{power} ways", power=power)


def summary(found: Ways, name: str) -> str:
    """Return the number of ways, and why those listed are not all, or have no product."""
    if not found.count:
        return tr("No way leads from the loss back to {name}", name=name)
    start = tr(
        "{ways_count} from {name} to the loss", ways_count=ways_count(found.count), name=name
    )
    if found.has_products:
        if not found.all_listed:
            start += tr("; the {listed_count} largest are listed", listed_count=len(found.listed))
        return start
    uses = ngettext("{count:,} use", "{count:,} uses", len(found.listed))
    if not found.all_listed:
        start += tr(
            "; of its uses the {listed_count} with the largest gradients are listed",
            listed_count=len(found.listed),
        )
    elif len(found.listed) != found.count:
        start += tr(", over {uses}: the gradient that came back along each", uses=uses)
    else:
        start += tr(": the gradient that came back along each")
    return start


def way(index: Index, way: Way, seed: float | None, longest: int = LONGEST) -> str:
    """Return the ops of a way with their local derivatives: ``mul 3 · add 1``.

    Of more than ``longest`` (even) ops the first and the last are written out.
    """
    if not way.steps:
        return tr("it is the loss")
    steps = way.steps
    parts = [_step(index, step, way.share is None) for step in _ends(steps, longest)]
    if len(steps) > longest:
        parts.insert(longest // 2, tr("… {value:,} more …", value=len(steps) - longest))
    if way.count > 1:
        return tr("{parts}, then {ways_count}", parts=parts[0], ways_count=ways_count(way.count))
    if way.share is None and seed not in (None, 1.0):
        parts.append(tr("begun with {number}", number=number(seed)))
    return " · ".join(parts)


def _ends(steps: Sequence[WayStep], longest: int) -> Sequence[WayStep]:
    half = longest // 2
    return steps if len(steps) <= longest else (*steps[:half], *steps[-half:])


def _step(index: Index, step: WayStep, has_local: bool) -> str:
    return f"{index.op(step.op).op} {number(step.local)}" if has_local else index.op(step.op).op


def amount(way: Way, is_norm: bool) -> str:
    """Return what a way contributes: its product, its share, or the norm of that."""
    if way.share is not None:
        return f"∇ {number(way.share)}" if is_norm else number(way.share)
    return "" if way.product is None else f"= {number(way.product)}"


def oddity(index: Index, found: Ways) -> str:
    """Say which local derivatives are not finite, or open; empty if none is."""
    odd, is_open = None, None
    for step in (step for way in found.listed for step in way.steps):
        if found.has_products and step.local is None:
            is_open = is_open or step
        elif step.local is not None and not math.isfinite(step.local):
            odd = odd or step
    if odd is not None:
        size = tr("not a number") if math.isnan(odd.local or 0.0) else "infinite"
        return tr("The local derivative of {place} is {size}", place=_place(index, odd), size=size)
    if is_open is not None:
        return tr(
            "The local derivative of {place} stays open: torch's numbers fit any",
            place=_place(index, is_open),
        )
    if found.gradient is not None and not math.isfinite(found.gradient):
        return tr("The gradient is not finite")
    return ""


def _place(index: Index, step: WayStep) -> str:
    op = index.op(step.op)
    return tr("{op}, line {line}", op=op.op, line=op.place.line) if op.place.line else op.op


def goal(found: Ways, name: str) -> str:
    """Say where torch has the sum: ``= x.grad``."""
    if found.destination == "returned":
        return tr("= what autograd.grad returned")
    if found.destination == "unstored":
        return tr(
            "= the gradient of {name}; torch stores it in .grad only after retain_grad()", name=name
        )
    if found.destination == "added":
        before = "∇ " * found.is_norm + number(found.before)
        return tr(
            "= what this backward added to {name}.grad, which was {before}",
            name=name,
            before=before,
        )
    return f"= {name}.grad"


def is_sum(found: Ways) -> bool | None:
    """Return whether the ways add up to the gradient; None if that cannot be computed."""
    if found.difference is not None:
        return found.difference <= CLOSE
    total, gradient = found.total, found.gradient
    if total is None or gradient is None:
        return None
    if total == gradient or (math.isnan(total) and math.isnan(gradient)):
        return True
    return abs(total - gradient) <= CLOSE * max(abs(gradient), 1e-30)


def equation(found: Ways) -> str:
    """Return ``48 + 16 = 64`` for up to four ways; else, or without products, nothing."""
    products = [way.product for way in found.listed]
    if found.total is None or not 1 < len(products) <= 4 or is_sum(found) is not True:
        return ""
    known = [number(product) for product in products]
    return f"{' + '.join(known)} = {number(found.gradient)}".replace("+ −", "− ")
