"""Serialize a run to bytes and resume it bit for bit.

The format is MessagePack of numbers, texts and raw tensors; nothing in it is ever executed except
the setup, which is validated like any other.
"""

import hashlib
from collections import Counter
from itertools import pairwise
from typing import Any, cast

import msgspec
import numpy as np
import torch
from msgspec import Struct

from gradscribe.engine.protocol.setup import Setup, SetupError, validate
from gradscribe.engine.train.arrays import DTYPES, raw_bytes
from gradscribe.engine.train.checkpoints import Checkpoint, restore
from gradscribe.engine.train.runs.history import TrainingHistory
from gradscribe.engine.train.runs.later_steps import LaterSteps
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source.changes import Change, WeightEdit
from gradscribe.engine.train.user_module import attribute_lists
from gradscribe.engine.train.user_module.attributes import ModuleAttributes
from gradscribe.engine.zoo.models.own import with_policy

BUDGET = 32 << 20
"""Approximate bytes of checkpoints saved with a run; over budget, every second is left out."""
LIMIT = 192 << 20
"""Maximum size in bytes of a saved run."""
MOST_STEPS = 1 << 53
DEPTH = 60
"""Maximum nesting depth of containers in an optimizer's or a schedule's state."""
TOO_MUCH = f"the run has more than {LIMIT >> 20} MB"
_FIELDS = "parameters gradients buffers optimizer scheduler scaler rng batches training".split()
_INVALID = (ValueError, LookupError, TypeError, RuntimeError, AssertionError, OverflowError)


class SavedRunError(SetupError):
    """Raised if a run cannot be saved or resumed; the text says why."""


class SavedCheckpoint(Struct, frozen=True):
    """A checkpoint; ``setup`` indexes `SavedRun.setups`, ``tree`` comes from `to_lists`."""

    step: int
    setup: int
    tree: list[object]
    kept: list[object] | None = None
    """Module attributes from `attribute_lists.written`; None in older files."""


class SavedChange(Struct, frozen=True):
    """A change after ``step``: another setup, or an element of a parameter set by hand."""

    step: int
    setup: int = -1
    edit: tuple[str, int, float] | None = None


class SavedLater(Struct, frozen=True):
    """The steps from before a run went back: their last state, and the parts of `SavedRun`."""

    end: SavedCheckpoint
    past: tuple[SavedCheckpoint, ...]
    changes: tuple[SavedChange, ...]
    kept: bytes
    val: bytes
    history_stride: int
    norms: bytes = b""


class SavedRun(Struct, frozen=True):
    """A run with its checkpoints and changes, its curves as rows of float64.

    ``kept``: step, loss, rate; ``val``: step, loss; ``norms``: step, then the gradient norm of each
    parameter, then the update ratio of each; empty in older files.
    """

    torch: str
    data: str
    """SHA-256 of inputs and targets, as a data file may have changed since."""
    setups: tuple[Setup, ...]
    now: SavedCheckpoint
    past: tuple[SavedCheckpoint, ...]
    stride: int
    changes: tuple[SavedChange, ...]
    kept: bytes
    val: bytes
    history_stride: int
    recent: tuple[float, ...] = ()
    events: int = 0
    """Number of executed events of the next step; ``now`` is the state before them."""
    left: tuple[str, ...] = ()
    """Module attributes that were too large or of an unsupported type."""
    norms: bytes = b""
    later: SavedLater | None = None


def save(run: TrainingRun) -> bytes:
    """Return a run as bytes; of a partly executed step, the number of events is saved.

    Raises:
        Unfit: it has something that cannot be saved, or is too large.
    """
    if sum(p.nbytes for p in run.program.model.parameters()) > LIMIT:
        raise SavedRunError(TOO_MUCH)  # Before copies fill the memory.
    now, events = run.state(), 0
    if run.events is not None:
        open_step, events = now, run.events.index + 1
        run.go_to(run.step)
        now = run.state()
        run.load(open_step)
    setups: list[Setup] = []
    past, stride = _within_budget(run.checkpoints.all, run.checkpoints.stride)
    kept, val, norms, history_stride = _curves(run.history)
    kept_now, left = attribute_lists.to_lists(now.kept, run.program.model)
    state = SavedRun(
        str(torch.__version__),
        fingerprint(run),
        (),
        _state(now, setups, kept_now),
        tuple(_past_state(run, c, setups) for c in past),
        stride,
        _changes(run.changes, setups),
        kept,
        val,
        history_stride,
        tuple(run.history.recent),
        events,
        tuple(left),
        norms,
    )
    data = _encoded(state, setups, _later(run, setups))
    if len(data) > LIMIT:
        data = _encoded(state, setups, None)
    if len(data) > LIMIT:
        raise SavedRunError(TOO_MUCH)
    return data


def _encoded(state: SavedRun, setups: list[Setup], later: SavedLater | None) -> bytes:
    return msgspec.msgpack.encode(msgspec.structs.replace(state, setups=tuple(setups), later=later))


def _later(run: TrainingRun, setups: list[Setup]) -> SavedLater | None:
    """Return the steps from before a run went back; None if it did not."""
    later = run.later
    if later is None:
        return None
    past, _ = _within_budget(later.checkpoints, run.checkpoints.stride)
    kept, val, norms, history_stride = _curves(later.history)
    return SavedLater(
        _past_state(run, later.end, setups),
        tuple(_past_state(run, c, setups) for c in past),
        _changes(later.changes, setups),
        kept,
        val,
        history_stride,
        norms,
    )


def _curves(history: TrainingHistory) -> tuple[bytes, bytes, bytes, int]:
    """Return the rows of losses, validation losses and norms, and the steps between them."""
    kept, val, stride = history.store()
    rows = (part.astype("<f8").tobytes() for part in (kept, val, history.norms()))
    losses, validations, norms = rows
    return losses, validations, norms, stride


def _changes(changes: list[tuple[int, Change]], setups: list[Setup]) -> tuple[SavedChange, ...]:
    return tuple(
        SavedChange(at, edit=(what.name, what.index, what.value))
        if isinstance(what, WeightEdit)
        else SavedChange(at, _index(setups, what))
        for at, what in changes
    )


def _within_budget(every: list[Checkpoint], stride: int) -> tuple[list[Checkpoint], int]:
    """Return the checkpoints that fit the budget, and the steps between them."""
    while len(every) > 1 and sum(c.size for c in every) > BUDGET:
        stride *= 2
        every = [c for c in every if c.step % stride == 0]
    return every, stride


def _index(setups: list[Setup], setup: Setup) -> int:
    """Return the index of a setup in the list, appending it if it is new."""
    if setup not in setups:
        setups.append(setup)
    return setups.index(setup)


def _state(checkpoint: Checkpoint, setups: list[Setup], kept: list[object]) -> SavedCheckpoint:
    tree = [to_lists(getattr(checkpoint, name)) for name in _FIELDS]
    return SavedCheckpoint(
        checkpoint.step, _index(setups, checkpoint.setup), tree, kept if any(kept) else None
    )


def _past_state(run: TrainingRun, past: Checkpoint, setups: list[Setup]) -> SavedCheckpoint:
    return _state(past, setups, attribute_lists.to_lists(past.kept, run.program.model)[0])


def fingerprint(run: TrainingRun) -> str:
    """Return a checksum of the data of a run."""
    digest = hashlib.sha256()
    for part in (run.program.x, run.program.y):
        digest.update(f"{tuple(part.shape)} {part.dtype} ".encode())
        digest.update(raw_bytes(part))
    return digest.hexdigest()


def resume(data: bytes, policy: bool = False) -> TrainingRun:
    """Return the run that `save` serialized; the caller repeats its unfinished events.

    ``policy``: apply the sandbox policy, as its module is untrusted.

    Raises:
        Unfit: the bytes are not a valid run, or its data has changed.
        SetupError: its setup cannot be run here; `ProgramError` likewise.
    """
    try:
        saved = msgspec.msgpack.decode(data, type=SavedRun)
        setups = tuple(map(with_policy, saved.setups)) if policy else saved.setups
        states = [_checkpoint(state, setups) for state in (*saved.past, saved.now)]
        changes = [_change(change, setups) for change in saved.changes]
        later = None if saved.later is None else _later_states(saved.later, setups)
    except (msgspec.MsgspecError, MemoryError, *_INVALID) as error:
        raise SavedRunError("it does not hold a run as it should") from error
    for setup in setups:
        validate(setup)
    if not saved.past or states[0].step != 0 or saved.stride < 1 or saved.history_stride < 1:
        raise SavedRunError("it does not hold the beginning of the run")
    run = TrainingRun(states[0].setup)
    if fingerprint(run) != saved.data:
        raise SavedRunError(
            f"the data of {run.setup.data.name} is not what it was when the run was saved"
        )
    history = _history(saved, run.history.columns, states[-1].step)
    try:
        count = len(list(run.program.model.parameters()))
        after = [later.end, *later.checkpoints] if later is not None else []
        if not all(_is_memory_of(count, state.optimizer) for state in (*states, *after)):
            raise SavedRunError("its optimizer remembers something of what is no parameter")
        run.checkpoints.restore(states[:-1], saved.stride)
        restore(run.program, run.batches, states[-1])
    except SetupError:
        raise
    except Exception as error:
        raise SavedRunError("its numbers do not fit its model") from error
    run.step, run.changes = states[-1].step, changes
    run.history = history
    if later is not None and later.last > run.step:
        assert saved.later is not None
        later.history = _history(saved.later, run.history.columns, later.last)
        run.later = later
    run.history.recent = list(saved.recent)
    run.pending_events = max(0, min(saved.events, len(run.program.lines) - 1))
    run.left = saved.left
    run.leave()
    return run


def _later_states(saved: SavedLater, setups: tuple[Setup, ...]) -> LaterSteps:
    """Return the later steps of a run without their curves. Raises like `_checkpoint`."""
    end = _checkpoint(saved.end, setups)
    past = [_checkpoint(state, setups) for state in saved.past]
    changes = [_change(change, setups) for change in saved.changes]
    steps = [state.step for state in past]
    is_rising = all(before < after for before, after in pairwise([0, *steps]))
    if saved.history_stride < 1 or not is_rising or max(steps, default=0) > end.step:
        raise ValueError("later steps that do not go on")
    return LaterSteps(end, TrainingHistory([]), past, {}, changes)


def _history(saved: SavedRun | SavedLater, columns: tuple[str, ...], last: int) -> TrainingHistory:
    """Return the curves of a run at step ``last``. Raises `SavedRunError`."""
    widths = ((saved.kept, 3), (saved.val, 2), (saved.norms, len(columns) - 2))
    try:
        kept, val, norms = (np.frombuffer(data, "<f8").reshape(-1, wide) for data, wide in widths)
    except ValueError as error:
        raise SavedRunError("it does not hold a run as it should") from error
    if not all(_are_steps(part[:, 0], last) for part in (kept, val, norms)):
        raise SavedRunError("its curves are of steps that it did not make")
    return TrainingHistory.restored(columns, kept, val, norms, saved.history_stride)


def _are_steps(steps: np.ndarray, last: int) -> bool:
    """Return whether these are valid steps of a curve up to ``last``: whole numbers, rising."""
    if not np.isfinite(steps).all() or (steps != np.floor(steps)).any():
        return False
    return not len(steps) or bool(
        (np.diff(steps) > 0).all() and steps[0] >= 0 and steps[-1] <= last < MOST_STEPS
    )


def _is_memory_of(count: int, optimizer: dict[str, Any]) -> bool:
    """Return whether an optimizer's state is that of ``count`` parameters; else it is invalid."""
    numbers = [number for group in optimizer["param_groups"] for number in group["params"]]
    valid = [*range(count)]
    return numbers == valid and all(type(key) is int and key in valid for key in optimizer["state"])


def _checkpoint(state: SavedCheckpoint, setups: tuple[Setup, ...]) -> Checkpoint:
    if len(state.tree) != len(_FIELDS) or state.setup < 0:
        raise ValueError("a state has other parts")
    parts = dict(zip(_FIELDS, map(from_lists, state.tree), strict=True))
    parts["batches"] = tuple(cast("list[object]", parts["batches"]))
    setup = setups[state.setup]
    kept = (
        attribute_lists.from_lists(state.kept, setup.device) if state.kept else ModuleAttributes()
    )
    return Checkpoint(state.step, setup, **parts, kept=kept)  # type: ignore[arg-type]


def _change(change: SavedChange, setups: tuple[Setup, ...]) -> tuple[int, Change]:
    return change.step, WeightEdit(*change.edit) if change.edit else setups[change.setup]


def to_lists(value: object, depth: int = 0) -> object:
    """Return a value as nested lists for MessagePack, each of a type name and its parts.

    Raises:
        SavedRunError: it is not a number, text, tensor or container of these, or nested too deep.
    """
    if depth > DEPTH:
        raise SavedRunError("a container is nested too deep to be saved")
    inner = depth + 1
    match value:
        case None | bool() | int() | float() | str():
            return value
        case torch.Tensor() if value.layout == torch.sparse_coo:
            parts = [to_lists(value._indices(), inner), to_lists(value._values(), inner)]
            return ["sparse", *parts, list(value.shape), value.is_coalesced()]
        case torch.Tensor():
            name = str(value.dtype).removeprefix("torch.")
            return ["tensor", name, list(value.shape), raw_bytes(value)]
        case Counter():
            return ["counter", [[to_lists(k, inner), v] for k, v in value.items()]]
        case dict():
            return ["dict", [[to_lists(k, inner), to_lists(v, inner)] for k, v in value.items()]]
        case tuple():
            return ["tuple", [to_lists(item, inner) for item in value]]
        case list():
            return ["list", [to_lists(item, inner) for item in value]]
    raise SavedRunError(f"a {type(value).__name__} cannot be saved")


def from_lists(value: object, depth: int = 0) -> object:
    """Return the value that `to_lists` encoded. Raises ValueError, KeyError or TypeError."""
    # Not left to the interpreter's limit, which programs change.
    if depth > DEPTH:
        raise ValueError("nested deeper than anything that was saved")
    inner = depth + 1
    match value:
        case ["tensor", str(name), list(shape), bytes(data)]:
            flat = torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else torch.zeros(0)
            tensor = flat.to(torch.uint8).view(DTYPES[name])
            return tensor.reshape([int(str(n)) for n in shape])
        case ["sparse", indices, values, list(shape), bool(is_coalesced)]:
            return torch.sparse_coo_tensor(
                cast("torch.Tensor", from_lists(indices, inner)),
                cast("torch.Tensor", from_lists(values, inner)),
                [int(str(n)) for n in shape],
                is_coalesced=is_coalesced,
                check_invariants=True,
            )
        case ["counter", list(pairs)]:
            return Counter({from_lists(k, inner): v for k, v in pairs})
        case ["dict", list(pairs)]:
            return {from_lists(k, inner): from_lists(v, inner) for k, v in pairs}
        case ["tuple", list(parts)]:
            return tuple(from_lists(part, inner) for part in parts)
        case ["list", list(parts)]:
            return [from_lists(part, inner) for part in parts]
        case None | bool() | int() | float() | str():
            return value
    raise ValueError("no value that was saved")
