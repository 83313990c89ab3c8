"""Measured costs: recording for backward against no_grad, reverse mode against forward mode.

Times are medians of runs in turn, so that a busy moment of the machine meets all ways alike. Memory
is that of the tensors that are alive at most while the calls run, inputs and parameters aside: what
later calls take, and what autograd saves for backward.
"""

import statistics
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import NamedTuple

import torch
from torch.autograd import forward_ad
from torch.autograd.graph import saved_tensors_hooks

from gradscribe.engine.inspect.costs.replay import Replay, replay_of
from gradscribe.engine.inspect.sharing import NotComparable
from gradscribe.engine.protocol.messages import CostName, CostRow, MeasureCosts, MeasuredCosts
from gradscribe.engine.protocol.safe_text import type_name, without_surrogates
from gradscribe.engine.run import run, watchdog

BUDGET_S = 0.8
"""Time for the runs of a comparison, after the first of each way."""
MOST_RUNS, LEAST_RUNS = 51, 5
MOST_JVPS, JVPS_S = 4_096, 1.0
"""Directions, and the time for all of them, up to which forward mode computes a whole gradient."""
LIMIT_S = 30.0
TOLERANCE = 1e-3
MAX_WORDS = 300

Way = Callable[[], object]


class _Times(NamedTuple):
    name: CostName
    seconds: list[float]


def measure_costs(request: MeasureCosts) -> MeasuredCosts:
    """Measure the computation up to the latest program's first backward pass."""
    last = run.last_run
    empty = MeasuredCosts(request.run_id, request.kind)
    try:
        if last is None or last.request.run_id != request.run_id:
            raise NotComparable("The program ran again since; measure again")
        threads = last.request.threads or run.THREADS
        with (
            replay_of(last, 0) as replay,
            run.unrecorded(last.request.seed, threads),
            watchdog.InterruptGuard(LIMIT_S, is_last=True),
        ):
            _demand_same(replay)
            return _measured(request, replay, threads)
    except NotComparable as reason:
        return _refused(empty, str(reason))
    except BaseException as error:  # noqa: BLE001 - functions of the program run
        return _refused(empty, f"{type_name(type(error))}: {error}")


def _refused(empty: MeasuredCosts, why: str) -> MeasuredCosts:
    problem = without_surrogates(why.strip().split("\n")[0][:MAX_WORDS])
    return MeasuredCosts(empty.run_id, empty.kind, problem=problem)


def _demand_same(replay: Replay) -> None:
    """Raise `NotComparable` unless the repeated calls give the program's number and a gradient."""
    if not replay.leaves:
        raise NotComparable("The backward pass begins at a number that no leaf leads to")
    root = replay.run()
    same = torch.allclose(root.detach(), replay.value, rtol=TOLERANCE, equal_nan=True)
    if not same and not replay.is_random:
        raise NotComparable(
            "Its calls alone give another number than the program: it also changes tensors in ways "
            "that PyTorch's functions do not show"
        )
    if not root.requires_grad:
        raise NotComparable(
            "Its calls alone give a number without a graph, as those in a custom Function do"
        )


def _measured(request: MeasureCosts, replay: Replay, threads: int) -> MeasuredCosts:
    rows: list[CostRow]
    note, agrees = "", True
    if request.kind == "no_grad":
        rows = _of_recording(replay)
    else:
        rows, note, agrees = _of_modes(replay)
    return MeasuredCosts(
        request.run_id,
        request.kind,
        tuple(rows),
        replay.calls,
        len(replay.leaves),
        _entries(replay),
        str(replay.leaves[0].device),
        threads,
        agrees,
        replay.is_random,
        without_surrogates(note[:MAX_WORDS]),
    )


def _entries(replay: Replay) -> int:
    return sum(leaf.numel() for leaf in replay.leaves)


def _of_recording(replay: Replay) -> list[CostRow]:
    ways: list[tuple[CostName, Way]] = [
        ("graph", replay.run),
        ("no_grad", lambda: replay.run(graph=False)),
    ]
    times = _times(ways, _device(replay))
    return [_row(t, *_bytes(replay, graph=t.name == "graph")) for t in times]


def _of_modes(replay: Replay) -> tuple[list[CostRow], str, bool]:
    """Return the rows of both modes, why forward mode is missing, and whether they agree."""
    ways: list[tuple[CostName, Way]] = [
        ("no_grad", lambda: replay.run(graph=False)),
        ("reverse", lambda: _gradient(replay)),
    ]
    ones = [torch.ones_like(leaf) for leaf in replay.leaves]
    try:
        along = _derivative_along(replay, ones)
    except (NotImplementedError, RuntimeError) as error:
        times = _times(ways, _device(replay))
        return [_row(t) for t in times], _missing(error), True
    ways.append(("jvp", lambda: _derivative_along(replay, ones)))
    times = _times(ways, _device(replay))
    agrees = replay.is_random or _is_same(along, sum(g.sum() for g in _gradient(replay)))
    rows = [_row(t) for t in times]
    whole = _of_all_directions(replay, rows[-1])
    return [*rows, whole], "", agrees


def _missing(error: Exception) -> str:
    first = str(error).strip().partition("\n")[0].partition(" because it has not")[0]
    return f"Forward mode is not available: {first}"


def _gradient(replay: Replay) -> Sequence[torch.Tensor]:
    return torch.autograd.grad(
        replay.run(), replay.leaves, allow_unused=True, materialize_grads=True
    )


def _derivative_along(replay: Replay, tangents: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the root's derivative along tangents of the leaves, by forward mode."""
    with forward_ad.dual_level():
        duals = {
            id(leaf): forward_ad.make_dual(leaf.detach(), tangent)  # type: ignore[no-untyped-call]
            for leaf, tangent in zip(replay.leaves, tangents, strict=True)
        }
        root = replay.run(duals, graph=False)
        derivative: torch.Tensor | None = forward_ad.unpack_dual(root)[1]  # type: ignore[no-untyped-call]
    return torch.zeros_like(replay.value) if derivative is None else derivative


def _is_same(first: torch.Tensor, second: torch.Tensor | int) -> bool:
    other = torch.as_tensor(second, dtype=first.dtype, device=first.device).reshape(first.shape)
    return torch.allclose(first, other, rtol=TOLERANCE, atol=1e-5, equal_nan=True)


def _of_all_directions(replay: Replay, one: CostRow) -> CostRow:
    """Return the cost of the whole gradient by forward mode: measured where it is short."""
    entries = _entries(replay)
    if entries > MOST_JVPS or entries * one.seconds > JVPS_S:
        median, low, high = (entries * t for t in (one.seconds, one.low, one.high))
        return CostRow("jvps", median, low, high, 0, estimated=True)
    whole = torch.contiguous_format  # A leaf may be a transposed matrix.
    zeros = [torch.zeros_like(leaf, memory_format=whole) for leaf in replay.leaves]

    def all_directions() -> None:
        for tangent in zeros:
            flat = tangent.view(-1)
            for entry in range(flat.numel()):
                flat[entry] = 1
                _derivative_along(replay, zeros)
                flat[entry] = 0

    return _row(_times([("jvps", all_directions)], _device(replay))[0])


def _device(replay: Replay) -> torch.device:
    return replay.leaves[0].device


def _times(ways: Sequence[tuple[CostName, Way]], device: torch.device) -> list[_Times]:
    """Run the ways in turn, and return the time of each run but the first."""
    found = [_Times(name, []) for name, _ in ways]
    for _, way in ways:
        _timed(way, device)
    begun = perf_counter()
    for turn in range(MOST_RUNS):
        if turn >= LEAST_RUNS and perf_counter() - begun > BUDGET_S:
            break
        for (_, way), times in zip(ways, found, strict=True):
            times.seconds.append(_timed(way, device))
    return found


def _timed(way: Way, device: torch.device) -> float:
    _finish(device)
    begun = perf_counter()
    way()
    _finish(device)
    return perf_counter() - begun


def _finish(device: torch.device) -> None:
    """Wait for a device that works on its own."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _row(times: _Times, most: int = -1, held: int = -1) -> CostRow:
    low, median, high = statistics.quantiles(times.seconds, n=4, method="inclusive")
    return CostRow(times.name, median, low, high, len(times.seconds), most, held)


def _bytes(replay: Replay, *, graph: bool) -> tuple[int, int]:
    """Return the bytes of the tensors that are alive at most, and at the end of the forward."""
    outside = {_memory(t)[0] for t in replay.outside}
    saved: dict[int, torch.Tensor] = {}
    seen = [0]

    def alive_bytes(alive: Iterable[torch.Tensor]) -> int:
        sizes = dict(_memory(t) for t in (*alive, *saved.values()))
        return sum(size for key, size in sizes.items() if key not in outside)

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        saved[_memory(tensor)[0]] = tensor.detach()
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        root = replay.run(graph=graph, watch=lambda a: seen.append(alive_bytes(a.values())))
    return max(seen), alive_bytes([root])


def _memory(tensor: torch.Tensor) -> tuple[int, int]:
    """Return the address of a tensor's memory, and its size in bytes."""
    if tensor.layout is not torch.strided:
        return id(tensor), tensor.element_size() * tensor.numel()
    memory = tensor.untyped_storage()
    return memory.data_ptr(), memory.nbytes()
