"""Hints for errors that loops cause: an iterator used up, no rounds, a last batch of one."""

import ast
import re
import types
from collections.abc import Iterator

from gradscribe.engine.hints.advice import HintContext, HintRow

_ONCE = (types.GeneratorType, map, zip, filter, enumerate, reversed)
"""Types whose objects give their items a single time."""
MOST_CHARS = 60
_BATCH = "Batch normalisation needs two samples or more in training; call .eval() for one."
_END = "The iterator has no items left: give next() a default, or make the iterator anew."


def _tree(case: HintContext) -> ast.Module:
    """Return the program; it ran, so that it can be parsed."""
    return ast.parse(case.source)


def _is_used_up(thing: object) -> bool:
    """Return whether an object gives its items once; its own code does not run."""
    return type(thing) in _ONCE or type(thing).__name__.endswith("_iterator")


def _binding(tree: ast.Module, name: str) -> ast.Assign | None:
    """Return the last assignment of a variable."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and name in [ast.unparse(t) for t in node.targets]
    ]
    return max(found, key=lambda node: node.lineno, default=None)


def never_assigned(name: str, case: HintContext) -> str:
    """Return a hint for a variable that only a loop without rounds assigns; else empty."""
    tree = _tree(case)
    stores = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
    ]
    loops = [n for n in ast.walk(tree) if isinstance(n, ast.For)]
    around = [
        [loop for loop in loops if any(inner is node for inner in ast.walk(loop))]
        for node in stores
    ]
    if not stores or not all(around):
        return ""
    inner = around[0][-1]
    if not isinstance(inner.iter, ast.Name):
        return f"Only the loop on line {inner.lineno} gives {name} a value, and it had no rounds."
    iterable = inner.iter.id
    start = f"The loop on line {inner.lineno} had no rounds, so {name} got no value: {iterable} "
    made = _binding(tree, iterable)
    if not _is_used_up(case.scope.get(iterable)) or made is None:
        return start + "is empty."
    text = ast.unparse(made.value)
    fix = f": {iterable} = list({text})" if len(text) < MOST_CHARS else ""
    return (
        f"{start}on line {made.lineno} gives its items once, and they are used up: make a list"
        f" of it{fix}."
    )


def _used_up(match: re.Match[str], case: HintContext) -> str:  # noqa: ARG001
    """Hint for next() past the end."""
    tree = _tree(case)
    for call in ast.walk(tree):
        if (
            not isinstance(call, ast.Call)
            or ast.unparse(call.func) != "next"
            or len(call.args) != 1
        ):
            continue
        given = call.args[0]
        if isinstance(given, ast.Name) and ast.unparse(call) in case.code:
            made = _binding(tree, given.id)
            if made is None:
                return _END
            source = ast.unparse(made.value)
            size = _length(case, made.value)
            items = f"its {size} items" if size else "its items"
            return (
                f"{given.id} gives {items} once, and they are used up: make it anew when it ends, "
                f"as on line {made.lineno}: {given.id} = {source}"
            )
    return _END


def taken(case: HintContext) -> str:
    """Return a hint for an iterator that a call got and an earlier line has gone through."""
    tree = _tree(case)
    for name, thing in case.scope.items():
        made = _binding(tree, name) if _is_used_up(thing) else None
        reads = [
            node.lineno
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        ]
        if made is not None and len(reads) > 1 and re.search(rf"\b{re.escape(name)}\b", case.code):
            return (
                f"{name} on line {made.lineno} gives its items once, and line {min(reads)} has "
                f"taken them: make a list of it there."
            )
    return ""


def _length(case: HintContext, made: ast.expr) -> int:
    """Return the length of ``loader`` in ``iter(loader)``; 0 if unknown."""
    if not isinstance(made, ast.Call) or ast.unparse(made.func) != "iter" or len(made.args) != 1:
        return 0
    thing = case.scope.get(ast.unparse(made.args[0]))
    is_known = type(thing) in (list, tuple, dict, range) or _is_loader(thing)
    return len(thing) if is_known else 0  # type: ignore[arg-type]


def _is_loader(thing: object) -> bool:
    kind = type(thing)
    return kind.__name__ == "DataLoader" and kind.__module__.startswith("torch.")


def last_batch(match: re.Match[str], case: HintContext) -> str:  # noqa: ARG001
    """Hint for a batch of one in training, with the loader whose last batch it is."""
    frames = list(_frames(case))
    lines = {line for line, _ in frames}
    around = [
        loop
        for loop in ast.walk(_tree(case))
        if isinstance(loop, ast.For)
        and any(loop.lineno < line <= (loop.end_lineno or 0) for line in lines)
    ]
    names = {n.id for loop in around for n in ast.walk(loop.iter) if isinstance(n, ast.Name)}
    visible = {name: thing for _, frame in frames for name, thing in frame.items()}
    for name in sorted(names):
        thing = visible.get(name)
        size, count = getattr(thing, "batch_size", None), _count(thing)
        if _is_loader(thing) and isinstance(size, int) and size > 1 and count % size == 1:
            same = [other for other, known in visible.items() if known is thing]
            made = [b for b in (_binding(_tree(case), other) for other in same) if b is not None]
            where = f" on line {made[0].lineno}" if made else ""
            return (
                f"The last batch of {name} is a single sample ({count} = {count // size} x {size} "
                f"+ 1), and batch normalisation needs two: give the DataLoader{where} "
                "drop_last=True, or another batch_size."
            )
    text = " ".join(ast.unparse(loop.iter) for loop in around)
    if re.search(r"split\(|chunk\(|range\([^,]+,[^,]+,", text):
        return (
            "A last batch of one sample is left over, and batch normalisation needs two in "
            "training: leave it out, or choose another batch size."
        )
    return _BATCH


def _count(loader: object) -> int:
    try:
        return len(loader.dataset)  # type: ignore[attr-defined]
    except (TypeError, AttributeError):
        return 0


def _frames(case: HintContext) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield line and visible names of the program's frames that the error passed through."""
    trace = case.exc.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_globals.get("__name__") == "__main__":
            yield trace.tb_lineno, {**frame.f_globals, **frame.f_locals}
        trace = trace.tb_next


ROWS = (
    HintRow("", _used_up, "", StopIteration),
    HintRow("generator raised StopIteration", _END, "generator raised StopIteration"),
)
