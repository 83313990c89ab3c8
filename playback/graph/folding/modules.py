"""Folding of a scene's modules: open as frames, folded into one card, or grouped as repeats."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from gradscribe.playback.graph.folding import repeats
from gradscribe.playback.graph.folding.units import ModuleUnit
from gradscribe.playback.tape.index import Index

MAX_CARDS = 40
"""Most cards of a picture before modules are folded automatically."""

MIN_REPEATS = 3
"""Consecutive equal modules from which they fold into one card with a count."""

MAX_HEIGHT = 1500.0
"""Greatest height, in scene units, of a picture that is folded automatically (about)."""
MAX_HEIGHT_INNERMOST = 1200.0
"""Height up to which modules without inner modules are opened."""

MAX_LEAVES = 5
"""Leaves up to which a module is opened automatically; more make it too wide."""

_ROW, _FRAME, _LEAVES = 112.0, 60.0, 84.0
"""Heights, in scene units, of a row of cards, of a frame's border and head, of a parameter row."""


@dataclass
class FoldingPlan:
    """Assignment of ops to cards and frames: units drawn as frames, ops drawn and ops hidden."""

    frames: list[ModuleUnit]
    folded: dict[int, ModuleUnit]
    """Op -> the folded unit that hides it."""
    inside: dict[int, ModuleUnit]
    """Op that is drawn -> the innermost open unit around it."""
    frameless_calls: dict[int, int]
    """Op that is drawn -> its module call, which has no parameters and no other op."""


def plan_folding(
    index: Index,
    ops: list[int],
    open_calls: frozenset[str] | None,
    adopted: Mapping[int, int] | None = None,
) -> FoldingPlan:
    """Return the plan for the modules that ran ``ops``; None opens as many as the limits allow.

    ``adopted``: op -> the call it belongs to although it ran outside of it (`origins.adopted`).
    """
    top, plain = _tree(index, ops, adopted or {})
    units = (top, *top.all_units())
    total = sum(_width(index, unit, whole=True) for unit in units)
    few = total <= MAX_CARDS and sum(_height(index, unit) for unit in units) <= MAX_HEIGHT_INNERMOST
    few = few and all(_leaves(index, unit) <= MAX_LEAVES for unit in units[1:])
    if not few:
        _fold_repeats(index, top)
        repeats.fold_repeated_ops(index, top)
    if open_calls is None:
        opened = {u.key for u in top.all_units()} if few else _choose_open(index, top)
    else:
        opened = set(open_calls)
    result_plan = FoldingPlan([], {}, {}, plain)
    _walk(top, opened, result_plan)
    return result_plan


def _walk(unit: ModuleUnit, opened: set[str], plan_: FoldingPlan) -> None:
    for item in unit.items:
        if not isinstance(item, ModuleUnit):
            plan_.inside[item] = unit
        elif item.key in opened:
            plan_.frames.append(item)
            _walk(item, opened, plan_)
        else:
            plan_.folded.update((op, item) for op in item.all_ops())


def _tree(
    index: Index, ops: list[int], adopted: Mapping[int, int]
) -> tuple[ModuleUnit, dict[int, int]]:
    """Return the units of a scene under one nameless top, and the calls that need no frame."""
    calls = index.tape.calls
    sizes: Counter[int] = Counter()
    chains: dict[int, list[int]] = {}
    for op in ops:
        chain: list[int] = []
        call = adopted.get(op, index.op(op).call)
        while call is not None:
            chain.insert(0, call)
            call = calls[call].parent
        chains[op] = chain
        sizes.update(chain)
    # Adopted ops ran long before: they must not decide the order of the modules.
    ops = sorted(ops, key=lambda op: op in adopted)
    depths = _depths(index, ops)
    top = ModuleUnit("", ())
    units: dict[int, ModuleUnit] = {}
    names: Counter[str] = Counter()
    plain: dict[int, int] = {}
    for op in ops:
        around = top
        for call in chains[op]:
            if sizes[call] == 1 and not calls[call].parameters:
                plain[op] = call
                break
            if call not in units:
                name = calls[call].name or calls[call].kind
                unit = ModuleUnit(f"call:{name}#{names[name]}", (call,), around)
                names[name] += 1
                units[call] = unit
                around.items.append(unit)
            around = units[call]
        around.items.append(op)
        around.ops.append(op)
        around.rows.add(depths[op])
    return top, plain


def _depths(index: Index, ops: list[int]) -> dict[int, int]:
    """Return op -> the length of the longest chain of ops that leads to it."""
    found: dict[int, int] = {}
    for op in sorted(ops):
        makers = (index.values[value].op for value in index.op(op).inputs)
        found[op] = 1 + max((found.get(m, 0) for m in makers if m is not None), default=0)
    return found


def _width(index: Index, unit: ModuleUnit, whole: bool = False) -> int:
    """Return the number of cards an open unit shows; with ``whole`` without its inner units."""
    return len(unit.ops) + _leaves(index, unit) + (0 if whole else len(unit.units))


def _leaves(index: Index, unit: ModuleUnit) -> int:
    """Return the number of outside values that the ops directly inside a unit take."""
    leaves = {
        index.first_version(v)
        for op in unit.ops
        for v in index.op(op).inputs
        if index.values[v].op is None or index.values[v].role == "parameter"
    }
    return len(leaves)


def _height(index: Index, unit: ModuleUnit) -> float:
    """Return the approximate height of an open unit, without its inner units."""
    rows = _ROW * len(unit.rows)
    if not unit.key:
        return rows
    owned = any(index.values[v].role == "parameter" for op in unit.ops for v in index.op(op).inputs)
    return rows + _FRAME + (_LEAVES if owned else 0.0)


def _choose_open(index: Index, top: ModuleUnit) -> set[str]:
    """Return the keys of the units to open: outermost first, as far as the limits allow."""
    cards_left = MAX_CARDS - _width(index, top)
    total = _height(index, top) + _ROW * len(top.units)
    opened: set[str] = set()
    queue = list(top.units)
    while queue:
        unit = queue.pop(0)
        more = _width(index, unit) - 1
        higher = _height(index, unit) + _ROW * (len(unit.units) - 1)
        wide = _leaves(index, unit) > MAX_LEAVES
        fits = more <= cards_left and total + higher <= (
            MAX_HEIGHT if unit.units else MAX_HEIGHT_INNERMOST
        )
        if unit.repeats == 1 and not wide and fits:
            cards_left -= more
            total += higher
            opened.add(unit.key)
            queue.extend(unit.units)
    return opened


def _fold_repeats(index: Index, unit: ModuleUnit) -> None:
    """Group runs of equal neighbours into repeat units, from the inside out."""
    for inner in unit.units:
        _fold_repeats(index, inner)
    if unit.repeats > 1:
        return
    items: list[ModuleUnit | int] = []
    for _, same in groupby(
        unit.items, lambda item: _shape(index, item) if isinstance(item, ModuleUnit) else ()
    ):
        run = list(same)
        units = [item for item in run if isinstance(item, ModuleUnit)]
        items += _group_run(units, unit) if units else run
    unit.items = items


def _group_run(run: list[ModuleUnit], parent: ModuleUnit) -> list[ModuleUnit]:
    if len(run) < MIN_REPEATS:
        return run
    calls = tuple(call for unit in run for call in unit.calls)
    group = ModuleUnit(f"repeat:{run[0].key}", calls, parent, [], list(run), len(run))
    for unit in run:
        unit.parent = group
    return [group]


def _shape(index: Index, unit: ModuleUnit) -> tuple[object, ...]:
    """Return the signature by which units are equal: class, parameters, and the ops inside."""
    call = index.tape.calls[unit.calls[0]]
    inner = tuple(
        _shape(index, item) if isinstance(item, ModuleUnit) else index.op(item).op
        for item in unit.items
    )
    return (call.kind, call.parameters, unit.repeats, inner)


def count_parameters(index: Index, unit: ModuleUnit) -> int:
    """Count the parameters of a unit's modules, each module once."""
    calls = {index.tape.calls[c].module: c for c in unit.calls}
    return sum(index.tape.calls[c].parameters for c in calls.values())


def last_result(index: Index, ops: list[int]) -> int | None:
    """Return the last value made by ``ops`` that leaves them, or that nothing uses."""
    inner = set(ops)
    unused: int | None = None
    for op in reversed(ops):
        for value in index.op(op).outputs:
            users = index.users.get(value, [])
            if any(user not in inner for user in users):
                return value
            if not users and unused is None:
                unused = value
    return unused
