"""The shape lab: which cells of its tensors each cell of an expression's result comes from.

Nothing is known about any op: torch itself is asked. One cell at a time becomes NaN, and wherever
NaN comes out that cell went in. Where a NaN only moves other numbers about (``sort``, ``topk``) or
cannot come out (``argmax``, ``x > 0``), gradients or changed results tell instead.
"""

import ast
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch

from engine import errors, run, values, watchdog
from engine.tape import Place, Problem
from engine.wire import Cells, Links, Probe, Probed, Run

MOST_INPUT = 256
"""Cells of all tensors that go in, at most, for links to be looked for."""
MOST_RESULT = 4096
MOST_SHOWN = 1 << 14
"""Elements of a tensor that travel."""
MOST_TENSORS = 12
TIMEOUT_S = 5.0
FILENAME = "<shape lab>"


class _Named(NamedTuple):
    name: str
    tensor: torch.Tensor
    kind: str


class _Expression(NamedTuple):
    """The last statement of a lab program, ready to be evaluated again and again."""

    setup: ast.Module
    evaluate: ast.Expression
    names: tuple[str, ...]


def probe(request: Probe) -> Probed:
    """Run a small program and return its tensors, its last expression's result and their links."""
    before: list[Cells] = []
    try:
        return _probe(request, before)
    except BaseException as exc:  # noqa: BLE001 - the program is the user's
        with watchdog.Guard(run.EXPLAIN_S, is_last=True):
            problem = errors.problem(exc, request.source, FILENAME)
        return Probed(request.run_id, tuple(before), problem=problem)


def _probe(request: Probe, before: list[Cells]) -> Probed:
    """Do what `probe` promises; ``before`` is filled with what goes in, come what may."""
    expression = _parse(request.source)
    if isinstance(expression, Problem):
        return Probed(request.run_id, problem=expression)
    asked = Run(request.run_id, request.source, FILENAME, timeout=TIMEOUT_S)
    names = run.namespace(asked)
    setup = compile(expression.setup, FILENAME, "exec", dont_inherit=True)
    code = compile(expression.evaluate, FILENAME, "eval", dont_inherit=True)
    with run.aside(), watchdog.Guard(TIMEOUT_S):
        exec(setup, names)
        inputs = _inputs(names, expression.names)
        before += [_cells(one) for one in inputs]
        trial = _Trial(names, inputs, lambda scope: eval(code, scope))
        results, text = trial.results(trial.evaluate({}))
        if not results:
            return Probed(request.run_id, tuple(before), text=text)
        links, note = _links(trial, inputs, results)
    after = tuple(_cells(one) for one in results)
    sharing = _sharing(names, (*before, *after))
    return Probed(request.run_id, tuple(before), after, links, sharing, note)


def _sharing(names: dict[str, object], shown: Sequence[Cells]) -> tuple[Cells, ...]:
    """Return what else the program named that lies in the memory of what is shown."""
    storages = {one.storage for one in shown} - {0}
    others = _inputs(names, [name for name in names if name not in {one.name for one in shown}])
    return tuple(made for one in others if (made := _cells(one)).storage in storages)


def _parse(source: str) -> _Expression | Problem:
    tree = ast.parse(source, FILENAME)
    last = tree.body[-1] if tree.body else None
    value = last.value if isinstance(last, ast.Expr | ast.Assign | ast.AnnAssign) else None
    if last is None or value is None:
        text = "The last line has to be an expression, for example a @ b"
        line = getattr(last, "lineno", 0)
        lines = source.splitlines()
        return Problem("Unclear", text, "", errors.whole_line(line, lines) if line else Place())
    named = [node for node in ast.walk(value) if isinstance(node, ast.Name)]
    named.sort(key=lambda node: (node.lineno, node.col_offset))
    found = dict.fromkeys(node.id for node in named)
    setup = ast.Module(tree.body[:-1], [])
    return _Expression(setup, ast.Expression(value), tuple(found))


def _inputs(names: dict[str, object], wanted: Sequence[str]) -> list[_Named]:
    """Return the tensors and arrays that the expression names, lists of them one by one."""
    found: list[_Named] = []
    for name in wanted:
        value = names.get(name)
        if isinstance(value, list | tuple):
            parts = [(f"{name}[{i}]", part) for i, part in enumerate(value)]
        else:
            parts = [(name, value)]
        for label, part in parts:
            if isinstance(part, torch.Tensor):
                found.append(_Named(label, part, "tensor"))
            elif isinstance(part, np.ndarray) and _as_tensor(part) is not None:
                found.append(_Named(label, torch.from_numpy(part), "array"))
    return found[:MOST_TENSORS]


def _as_tensor(value: object) -> torch.Tensor | None:
    """Return a result as a tensor, None for what is none."""
    if isinstance(value, torch.Tensor):
        return value if value.layout is torch.strided and not value.is_quantized else None
    if isinstance(value, np.ndarray | np.generic):
        try:
            return torch.from_numpy(np.asarray(value))
        except (TypeError, ValueError):
            return None
    if isinstance(value, bool | int | float | complex):
        return torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None)
    return None


class _Trial:
    """Evaluates the expression with other numbers in its tensors; what is the user's stays so."""

    def __init__(
        self,
        names: dict[str, object],
        inputs: list[_Named],
        evaluate: Callable[[dict[str, object]], object],
    ) -> None:
        self._names = names
        self._evaluate = evaluate
        self._inputs = inputs
        self.originals = [_like(one.tensor) for one in inputs]

    def evaluate(self, other: dict[int, torch.Tensor]) -> object:
        """Return the expression's value, with ``other`` in the place of the inputs so numbered."""
        scope = dict(self._names)
        lists: dict[str, list[object]] = {}
        for index, one in enumerate(self._inputs):
            tensor = other.get(index)
            if tensor is None:
                tensor = one.tensor if not other else _like(self.originals[index])
            value = tensor.numpy() if one.kind == "array" else tensor
            name, bracket, _ = one.name.partition("[")
            if bracket:
                lists.setdefault(name, []).append(value)
            else:
                scope[name] = value
        for name, parts in lists.items():
            whole = self._names[name]
            if isinstance(whole, list | tuple) and len(parts) == len(whole):
                scope[name] = parts
        torch.manual_seed(0)
        return self._evaluate(scope)

    @staticmethod
    def results(value: object) -> tuple[list[_Named], str]:
        """Return the tensors of a result, or its text where it holds none."""
        fields = getattr(value, "_fields", None) or ()
        # What torch returns for max(dim=...) names its parts by class attributes.
        if isinstance(value, tuple) and not fields:
            fields = tuple(k for k in ("values", "indices") if hasattr(type(value), k))
        parts = list(value) if isinstance(value, list | tuple) else [value]
        found = []
        for index, part in enumerate(parts[:MOST_TENSORS]):
            tensor = _as_tensor(part)
            if isinstance(value, torch.Size) or tensor is None:
                return [], errors.plain(repr(value))[:2000]
            name = f"result[{index}]" if isinstance(value, list | tuple) else "result"
            if index < len(fields):
                name = str(fields[index])
            kind = "tensor" if isinstance(part, torch.Tensor) else "number"
            found.append(_Named(name, tensor, "array" if isinstance(part, np.ndarray) else kind))
        return found, ""


def _like(t: torch.Tensor) -> torch.Tensor:
    """Return a copy with the same strides where no two elements share their memory."""
    with torch.no_grad():
        plain = t.detach()
        if plain.numel() and not plain.is_contiguous() and not _overlaps(plain):
            copy = torch.empty_strided(plain.shape, plain.stride(), dtype=plain.dtype)
            return copy.copy_(plain)
        return plain.cpu().contiguous().clone()


def _overlaps(t: torch.Tensor) -> bool:
    return any(stride == 0 and size > 1 for size, stride in zip(t.shape, t.stride(), strict=True))


def _cells(one: _Named) -> Cells:
    tensor = one.tensor.detach()
    storage = tensor.untyped_storage()
    size = max(1, tensor.element_size())
    return Cells(
        name=one.name,
        kind=one.kind,
        snapshot=values.snapshot(tensor, MOST_SHOWN),
        device=str(tensor.device),
        stride=tuple(tensor.stride()),
        offset=int(tensor.storage_offset()),
        contiguous=tensor.is_contiguous(),
        requires_grad=one.tensor.requires_grad,
        storage=storage.data_ptr() if storage.nbytes() else 0,
        storage_size=storage.nbytes() // size,
    )


def _links(
    trial: _Trial, inputs: list[_Named], results: list[_Named]
) -> tuple[tuple[Links, ...], str]:
    cells = sum(one.tensor.numel() for one in inputs)
    if cells > MOST_INPUT or sum(one.tensor.numel() for one in results) > MOST_RESULT:
        return (), f"Links are looked for up to {MOST_INPUT} cells; these are {cells:,}."
    links: list[Links] = []
    lost = []
    for index, one in enumerate(inputs):
        try:
            pairs = _reach(trial, index, one.tensor, [r.tensor for r in results])
        except watchdog.Interrupted:
            raise
        except Exception:  # noqa: BLE001 - the op refuses other numbers than the user's
            lost.append(one.name)
            continue
        links += [Links(k, index, *_packed(pair)) for k, pair in enumerate(pairs)]
    note = f"Where cells of {', '.join(lost)} go cannot be told." if lost else ""
    return tuple(links), note


def _packed(reaches: np.ndarray) -> tuple[bytes, bytes]:
    result, source = np.nonzero(reaches)
    return result.astype("<i4").tobytes(), source.astype("<i4").tobytes()


def _reach(
    trial: _Trial, index: int, tensor: torch.Tensor, results: list[torch.Tensor]
) -> list[np.ndarray]:
    """Return for each result a matrix: result cell x input cell, True where one reaches other."""
    if tensor.is_floating_point() or tensor.is_complex():
        try:
            return _by_numbers(trial, index, trial.originals[index], results)
        except RuntimeError:
            # Other numbers make another shape, as in x[x > 0].
            return [_by_gradient(trial, index, k) for k in range(len(results))]
    mask = _by_mask(tensor, results) if tensor.dtype is torch.bool else None
    if mask is not None:
        return mask
    try:
        return _by_numbers(trial, index, trial.originals[index].double(), results)
    except (RuntimeError, IndexError, TypeError):
        return _by_steps(trial, index, results)


def _by_numbers(
    trial: _Trial, index: int, original: torch.Tensor, results: list[torch.Tensor]
) -> list[np.ndarray]:
    base = _plain(trial, {index: _like(original)}, results)
    size = original.numel()
    # Numbers that cannot be NaN are asked with the ends of the number line as well.
    whole = all(r.is_floating_point() or r.is_complex() for r in results)
    numbers = (math.nan,) if whole else (math.nan, math.inf, -math.inf)
    born = [np.zeros((r.size, size), bool) for r in base]
    moved = [np.zeros((r.size, size), bool) for r in base]
    for cell in range(size):
        for number in numbers:
            other = _with(original, cell, number)
            for k, now in enumerate(_plain(trial, {index: other}, results)):
                came = np.isnan(now) & ~np.isnan(base[k])
                changed = (now != base[k]) & ~came & ~(np.isnan(now) & np.isnan(base[k]))
                if math.isnan(number):
                    born[k][:, cell] |= came
                    moved[k][:, cell] |= changed
                elif not results[k].is_floating_point():
                    moved[k][:, cell] |= changed
    return [_chosen(trial, index, k, results, born[k], moved[k]) for k in range(len(base))]


def _chosen(
    trial: _Trial,
    index: int,
    k: int,
    results: list[torch.Tensor],
    born: np.ndarray,
    moved: np.ndarray,
) -> np.ndarray:
    if not results[k].is_floating_point() and not results[k].is_complex():
        either: np.ndarray = born | moved
        return either
    return _by_gradient(trial, index, k) if moved.any() else born


def _by_gradient(trial: _Trial, index: int, k: int) -> np.ndarray:
    with torch.enable_grad():
        leaf = _like(trial.originals[index]).requires_grad_()
        result = trial.results(trial.evaluate({index: leaf}))[0][k].tensor.reshape(-1)
        rows = []
        for cell in range(result.numel()):
            (row,) = torch.autograd.grad(result[cell], leaf, retain_graph=True)
            rows.append((row != 0).reshape(-1).numpy())
    found: np.ndarray = np.stack(rows)
    return found


def _by_mask(mask: torch.Tensor, results: list[torch.Tensor]) -> list[np.ndarray] | None:
    """Return links of a mask that picks: each True cell leads to what it let through."""
    chosen = mask.reshape(-1).nonzero().reshape(-1).tolist()
    if len(results) != 1 or results[0].dim() == 0 or len(results[0]) != len(chosen) or not chosen:
        return None
    if results[0].shape == mask.shape:
        return None
    reaches = np.zeros((len(chosen), results[0][0].numel(), mask.numel()), bool)
    for row, cell in enumerate(chosen):
        reaches[row, :, cell] = True
    return [reaches.reshape(-1, mask.numel())]


def _by_steps(trial: _Trial, index: int, results: list[torch.Tensor]) -> list[np.ndarray]:
    """Return links of whole numbers that choose, such as indices: a step up or down tells."""
    original = trial.originals[index]
    base = _plain(trial, {index: _like(original)}, results)
    found = [np.zeros((r.size, original.numel()), bool) for r in base]
    for cell in range(original.numel()):
        at = int(original.reshape(-1)[cell])
        for number in (at + 1, at - 1) if original.dtype is not torch.bool else (not at,):
            try:
                now = _plain(trial, {index: _with(original, cell, number)}, results)
            except (RuntimeError, IndexError):
                continue
            for k in range(len(base)):
                found[k][:, cell] |= now[k] != base[k]
    return found


def _with(original: torch.Tensor, cell: int, number: float) -> torch.Tensor:
    other = _like(original)
    other[tuple(int(i) for i in np.unravel_index(cell, original.shape))] = number
    return other


def _plain(
    trial: _Trial, other: dict[int, torch.Tensor], results: list[torch.Tensor]
) -> list[np.ndarray]:
    """Return what the expression gives, flat; raises where the shapes are not the same."""
    with torch.no_grad():
        found, _ = trial.results(trial.evaluate(other))
        if [one.tensor.shape for one in found] != [one.shape for one in results]:
            raise RuntimeError("another shape")
        flat = [one.tensor.detach().cpu().resolve_conj().reshape(-1) for one in found]
        wide = [t.to(torch.complex128 if t.is_complex() else torch.float64) for t in flat]
        arrays: list[np.ndarray] = [t.numpy() for t in wide]
        return arrays
