"""A whole run as bytes, and back: it goes on bit for bit where it was.

Plain MessagePack of numbers, texts and raw tensors; nothing in it is ever executed but the setup,
which is checked like any other.
"""

import hashlib
from collections import Counter
from typing import Any, cast

import msgspec
import numpy as np
import torch
from msgspec import Struct

from engine.setup import BadSetup, Setup, check
from engine.train import attribute_lists
from engine.train.attributes import Kept
from engine.train.changing import Change, Edit
from engine.train.checkpoints import Checkpoint, Checkpoints, put_back
from engine.train.history import History
from engine.train.run import Run
from engine.zoo.models.own import guarded

BUDGET = 32 << 20
"""Bytes of checkpoints that are saved with a run, about; of more every second is left out."""
LIMIT = 192 << 20
"""A run of more bytes is not saved."""
MOST_STEPS = 1 << 53
TOO_MUCH = f"the run has more than {LIMIT >> 20} MB"
_DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32,
        torch.int16, torch.int8, torch.uint8, torch.bool,
    )
}  # fmt: skip
_FIELDS = (
    "parameters", "gradients", "buffers", "optimizer", "scheduler", "scaler", "rng", "batches",
    "training",
)  # fmt: skip


_NO_RUN = (
    ValueError, IndexError, KeyError, TypeError, RuntimeError, AssertionError, OverflowError,
    MemoryError,
)  # fmt: skip


class Unfit(BadSetup):
    """The bytes are no run that can go on here; the text says why."""


class State(Struct, frozen=True):
    """One checkpoint; ``setup`` counts in `SavedRun.setups`, ``tree`` is what `plain` makes."""

    step: int
    setup: int
    tree: list[object]
    kept: list[object] | None = None
    """What `attribute_lists.written` makes of a module's attributes; none in older files."""


class Changed(Struct, frozen=True):
    """A change after ``step``: another setup, or an element of a parameter set by hand."""

    step: int
    setup: int = -1
    edit: tuple[str, int, float] | None = None


class SavedRun(Struct, frozen=True):
    """A run with its past, its curves as rows of float64.

    ``kept``: step, loss, rate; ``val``: step, loss; ``norms``: step, the norm of each parameter's
    gradient, the ratio of each one's update; none in older files.
    """

    torch: str
    data: str
    """SHA-256 of inputs and targets: a file may have changed since."""
    setups: tuple[Setup, ...]
    now: State
    past: tuple[State, ...]
    stride: int
    changes: tuple[Changed, ...]
    kept: bytes
    val: bytes
    history_stride: int
    recent: tuple[float, ...] = ()
    events: int = 0
    """How many events of the next step had happened; ``now`` is before them."""
    left: tuple[str, ...] = ()
    """Attributes of modules that were too much, or of no kind, to be held."""
    norms: bytes = b""


def save(run: Run) -> bytes:
    """Return a run as bytes; of a step that is open it is told how far it has come.

    Raises:
        Unfit: it holds something that cannot be saved, or far too much.
    """
    if sum(p.nbytes for p in run.program.model.parameters()) > LIMIT:
        raise Unfit(TOO_MUCH)  # Before copies of it fill the memory.
    now, events = run.state(), 0
    if run.events is not None:
        open_step, events = now, run.events.index + 1
        run.go_to(run.step)
        now = run.state()
        run.load(open_step)
    setups: list[Setup] = []
    past, stride = _within_budget(run.past)
    changes = [
        Changed(at, edit=(what.name, what.index, what.value))
        if isinstance(what, Edit)
        else Changed(at, _number(setups, what))
        for at, what in run.changes
    ]
    kept, val, history_stride = run.history.store()
    model = run.program.model
    kept_now, left = attribute_lists.written(now.kept, model)
    here = _state(now, setups, kept_now)
    before = tuple(_state(one, setups, attribute_lists.written(one.kept, model)[0]) for one in past)
    data = msgspec.msgpack.encode(
        SavedRun(
            str(torch.__version__),
            fingerprint(run),
            tuple(setups),
            here,
            before,
            stride,
            tuple(changes),
            kept.astype("<f8").tobytes(),
            val.astype("<f8").tobytes(),
            history_stride,
            tuple(run.history.recent),
            events,
            tuple(left),
            run.history.norms().astype("<f8").tobytes(),
        )
    )
    if len(data) > LIMIT:
        raise Unfit(TOO_MUCH)
    return data


def _within_budget(past: Checkpoints) -> tuple[list[Checkpoint], int]:
    """Return as many checkpoints as may be saved, and how many steps lie between them."""
    every, stride = past.all(), past.stride
    while len(every) > 1 and sum(c.size for c in every) > BUDGET:
        stride *= 2
        every = [c for c in every if c.step % stride == 0]
    return every, stride


def _number(setups: list[Setup], setup: Setup) -> int:
    """Return where a setup stands in the list, to which it is added if it is new."""
    if setup not in setups:
        setups.append(setup)
    return setups.index(setup)


def _state(one: Checkpoint, setups: list[Setup], kept: list[object]) -> State:
    tree = [plain(getattr(one, name)) for name in _FIELDS]
    return State(one.step, _number(setups, one.setup), tree, kept if any(kept) else None)


def fingerprint(run: Run) -> str:
    """Return a checksum of the data that a run learns from."""
    found = hashlib.sha256()
    for part in (run.program.x, run.program.y):
        found.update(f"{tuple(part.shape)} {part.dtype} ".encode())
        found.update(_raw(part))
    return found.hexdigest()


def resume(data: bytes, policy: bool = False) -> Run:
    """Return the run that `save` made bytes of; `Run.unfinished` events of it are to be made again.

    ``policy``: a module in it came from elsewhere.

    Raises:
        Unfit: it is none, or its data is not what it was.
        BadSetup: its setup cannot be run here; `engine.train.program.Failed` likewise.
    """
    try:
        saved = msgspec.msgpack.decode(data, type=SavedRun)
        setups = tuple(map(guarded, saved.setups)) if policy else saved.setups
        states = [_checkpoint(one, setups) for one in (*saved.past, saved.now)]
        changes = [_change(one, setups) for one in saved.changes]
    except (msgspec.MsgspecError, *_NO_RUN) as error:
        raise Unfit("it does not hold a run as it should") from error
    for setup in setups:
        check(setup)
    if not saved.past or states[0].step != 0 or saved.stride < 1 or saved.history_stride < 1:
        raise Unfit("it does not hold the beginning of the run")
    run = Run(states[0].setup)
    if fingerprint(run) != saved.data:
        raise Unfit(f"the data of {run.setup.data.name} is not what it was when the run was saved")
    history = _history(saved, run.history.columns, states[-1].step)
    try:
        count = len(list(run.program.model.parameters()))
        if not all(_is_memory_of(count, one.optimizer) for one in states):
            raise Unfit("its optimizer remembers something of what is no parameter")
        run.past.restore(states[:-1], saved.stride)
        put_back(run.program, run.batches, states[-1])
    except BadSetup:
        raise
    except Exception as error:
        raise Unfit("its numbers do not fit its model") from error
    run.step, run.changes = states[-1].step, changes
    run.history = history
    run.history.recent = list(saved.recent)
    run.unfinished = max(0, min(saved.events, len(run.program.lines) - 1))
    run.left = saved.left
    run.leave()
    return run


def _history(saved: SavedRun, columns: tuple[str, ...], last: int) -> History:
    """Return the curves of a run that has come to step ``last``. Raises `Unfit`."""
    widths = ((saved.kept, 3), (saved.val, 2), (saved.norms, len(columns) - 2))
    try:
        kept, val, norms = (np.frombuffer(data, "<f8").reshape(-1, wide) for data, wide in widths)
    except ValueError as error:
        raise Unfit("it does not hold a run as it should") from error
    if not all(_are_steps(part[:, 0], last) for part in (kept, val, norms)):
        raise Unfit("its curves are of steps that it did not make")
    return History.restored(columns, kept, val, norms, saved.history_stride)


def _are_steps(steps: np.ndarray, last: int) -> bool:
    """Whether a curve up to step ``last`` can have its numbers at these: whole ones, rising."""
    if not np.isfinite(steps).all() or (steps != np.floor(steps)).any():
        return False
    return not len(steps) or bool(
        (np.diff(steps) > 0).all() and steps[0] >= 0 and steps[-1] <= last < MOST_STEPS
    )


def _is_memory_of(count: int, optimizer: dict[str, Any]) -> bool:
    """Whether what an optimizer remembers is of ``count`` parameters; else it cannot be saved."""
    numbers = [number for group in optimizer["param_groups"] for number in group["params"]]
    known = [*range(count)]
    return numbers == known and all(type(key) is int and key in known for key in optimizer["state"])


def _checkpoint(one: State, setups: tuple[Setup, ...]) -> Checkpoint:
    if len(one.tree) != len(_FIELDS) or one.setup < 0:
        raise ValueError("a state has other parts")
    parts = dict(zip(_FIELDS, map(live, one.tree), strict=True))
    parts["batches"] = tuple(cast("list[object]", parts["batches"]))
    setup = setups[one.setup]
    kept = attribute_lists.read(one.kept, setup.device) if one.kept else Kept()
    return Checkpoint(one.step, setup, **parts, kept=kept)  # type: ignore[arg-type]


def _change(one: Changed, setups: tuple[Setup, ...]) -> tuple[int, Change]:
    return one.step, Edit(*one.edit) if one.edit is not None else setups[one.setup]


def plain(value: object) -> object:
    """Return a value as lists that MessagePack holds: each is a list of its kind and its parts.

    Raises:
        Unfit: it is neither number, text, tensor nor made of such.
    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case torch.Tensor() if value.layout == torch.sparse_coo:
            parts = [plain(value._indices()), plain(value._values())]
            return ["sparse", *parts, list(value.shape), value.is_coalesced()]
        case torch.Tensor():
            name = str(value.dtype).removeprefix("torch.")
            return ["tensor", name, list(value.shape), _raw(value)]
        case Counter():
            return ["counter", [[plain(k), v] for k, v in value.items()]]
        case dict():
            return ["dict", [[plain(k), plain(v)] for k, v in value.items()]]
        case tuple():
            return ["tuple", [plain(one) for one in value]]
        case list():
            return ["list", [plain(one) for one in value]]
    raise Unfit(f"a {type(value).__name__} cannot be saved")


def live(value: object) -> object:
    """Return what `plain` was given. Raises ValueError, KeyError, TypeError where it is none."""
    match value:
        case ["tensor", str(name), list(shape), bytes(data)]:
            flat = torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else torch.zeros(0)
            made = flat.to(torch.uint8).view(_DTYPES[name])
            return made.reshape([int(str(one)) for one in shape])
        case ["sparse", indices, values, list(shape), bool(is_coalesced)]:
            return torch.sparse_coo_tensor(
                cast("torch.Tensor", live(indices)),
                cast("torch.Tensor", live(values)),
                [int(str(one)) for one in shape],
                is_coalesced=is_coalesced,
                check_invariants=True,
            )
        case ["counter", list(pairs)]:
            return Counter({live(k): v for k, v in pairs})
        case ["dict", list(pairs)]:
            return {live(k): live(v) for k, v in pairs}
        case ["tuple", list(parts)]:
            return tuple(map(live, parts))
        case ["list", list(parts)]:
            return list(map(live, parts))
        case None | bool() | int() | float() | str():
            return value
    raise ValueError("no value that was saved")


def _raw(tensor: torch.Tensor) -> bytes:
    whole = tensor.detach().cpu().contiguous().reshape(-1)
    return whole.view(torch.uint8).numpy().tobytes() if whole.numel() else b""
