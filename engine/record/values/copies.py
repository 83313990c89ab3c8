"""Copies of tensors' data, bounded by a budget, in memory that is reused.

A copy of a big tensor is cheap in memory that has been touched before, and many times as expensive
if the operating system first has to map and clear it. So the memory of a run's big copies is cached
when the run is over, and the next run, mostly of nearly the same program, copies into it.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

import torch

from gradscribe.engine.protocol.tape import INLINE_ELEMENTS
from gradscribe.engine.record.log import Log
from gradscribe.engine.record.values.raw_reads import (
    PLAIN_TENSOR_TYPES,
    dispatch_mode_count,
    has_readable_data,
    is_functorch_wrapped,
    is_plain_strided,
    packed,
    unwrapped,
    vmapped,
    without_dispatch_modes,
    without_transforms,
)
from gradscribe.engine.record.values.snapshots import snapshot, snapshots, without_expanded
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

BUDGET = 256 << 20
"""Default limit of a run's copies in bytes; small tensors are not counted."""

REUSE_FROM_BYTES = 1 << 13
"""Bytes beyond which the memory of a copy is reused; smaller allocations are fast."""

SHARED_ELEMENTS = 1 << 13
"""Elements from which a view shares the copy of its base; copying fewer is as fast."""

_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""Integer dtypes by bytes per element, for comparisons in which NaN equals NaN and -0 is not 0."""
# Bound now, before a program or its tensor subclass can replace them.
_clone, _detach, _copy = torch.Tensor.clone, torch.Tensor.detach, torch.Tensor.copy_
Layout = tuple[torch.dtype, torch.Size, tuple[int, ...]]
_cached: dict[Layout, list[Any]] = {}
"""Memory of the previous run by its layout, until it is reused or freed."""


class SnapshotStore:
    """The snapshots of one run, numbered as in `Log.snapshots`."""

    def __init__(self, log: Log, budget: int, before_drop: Callable[[], None]) -> None:
        """``before_drop`` is called before copies become summaries; it may still compare them."""
        self.log = log
        self.budget = budget
        self._before_drop = before_drop
        self._bytes = 0
        self._reused_from = min(REUSE_FROM_BYTES, budget)
        self._counted: deque[tuple[int, int, Layout | None]] = deque()
        """(snapshot, bytes, layout) of the copies that count against the budget, oldest first; the
        layout is None if the memory cannot be reused."""
        self._views: dict[int, list[int]] = {}
        """The snapshots that are views of a copy, by the copy and by each of the views."""

    def keep(self, t: torch.Tensor, readable: bool = False) -> int | None:
        """Copy the data of ``t`` and return the snapshot's index; None if it has no data.

        Also None if torch refuses the copy, because hooks must never raise. ``readable``: ``t`` is
        known to have data (`has_readable_data`).
        """
        if dispatch_mode_count():
            with without_dispatch_modes():
                return self.keep(t, readable)
        kept = self.log.snapshots
        try:
            if t.is_nested:
                rows = packed(t)
                return self.keep(rows) if rows is not None else None
            if not (readable or is_plain_strided(t) or has_readable_data(t)):
                return None
            # Detach only if there is a graph: it costs time.
            free = _detach(t) if t.requires_grad else t
            count = t.numel()
            if count <= INLINE_ELEMENTS:
                kept.append(_clone(free))
            elif (size := count * t.element_size()) > self._reused_from:
                self._keep_big(free, size, type(t) in PLAIN_TENSOR_TYPES)
            else:
                kept.append(_clone(free))
                self._counted.append((len(kept) - 1, size, None))
                self._bytes += size
                if self._bytes > self.budget:
                    self._drop()
        except (RuntimeError, NotImplementedError):
            return self._keep_unwrapped(t)
        return len(kept) - 1

    def _keep_unwrapped(self, t: torch.Tensor) -> int | None:
        """Copy the numbers of a tensor that a transform of ``torch.func`` wraps.

        It has no address, so that torch refused it before.
        """
        if not is_functorch_wrapped(t):
            return None
        inner = unwrapped(t)
        if inner is not None:
            with without_transforms():
                return self.keep(inner)
        return self._keep_first(t)

    def _keep_first(self, t: torch.Tensor) -> int | None:
        """Copy the numbers that a tensor inside a vmap has for the first example of the batch."""
        whole, dims = vmapped(t)
        if not dims or not all(size for _, size in dims) or is_functorch_wrapped(whole):
            return None
        with without_transforms():
            first = whole
            for dim, _ in dims:
                first = first.select(dim, 0)
            return self.keep(first) if first.shape == t.shape else None

    def share(self, t: torch.Tensor, whole: torch.Tensor, kept: int) -> int | None:
        """Return a snapshot of ``t`` without copying, if it is a view of ``whole``; else None.

        ``kept`` is the snapshot of ``whole``, which must not have been written to since.
        """
        if dispatch_mode_count() or not (is_plain_strided(t) and is_plain_strided(whole)):
            return None
        view = self._view(t, whole, kept)
        return self._shared(view, kept) if view is not None else None

    def keep_view(self, t: torch.Tensor, base: torch.Tensor, kept: int | None) -> int | None:
        """Take a snapshot of a view of ``base``, sharing ``kept``, that of ``base``, if up to date.

        A write may increment no version (numpy, ``.data``), so the elements are compared.
        """
        readable = (
            t.numel() >= SHARED_ELEMENTS and has_readable_data(t) and not dispatch_mode_count()
        )
        kind = _BITS.get(t.element_size()) if readable else None
        if kept is not None and kind is not None:
            plain = is_plain_strided(t) and is_plain_strided(base)
            view = self._view(t, base, kept) if plain else None
            if view is not None and torch.equal(
                *without_expanded(view.view(kind), _detach(t).view(kind))
            ):
                return self._shared(view, kept)
        return self.keep(t)

    def _view(self, t: torch.Tensor, whole: torch.Tensor, kept: int) -> torch.Tensor | None:
        copy = self.log.snapshots[kept]
        if not isinstance(copy, torch.Tensor):
            return None
        first = _offset_in(t, whole, copy)
        if first is None:
            return None
        return copy.as_strided(t.shape, t.stride(), copy.storage_offset() + first)

    def _shared(self, view: torch.Tensor, kept: int) -> int:
        index = len(self.log.snapshots)
        self.log.snapshots.append(view)
        views = self._views.setdefault(kept, [])
        views.append(index)
        self._views[index] = views
        return index

    def release(self) -> None:
        """Drop all copies; the memory of big ones is cached for the next run."""
        _cached.clear()
        kept = self.log.snapshots
        for index, _, layout in self._counted:
            if layout is not None:
                _cached.setdefault(layout, []).append(kept[index])
        self._counted.clear()
        self._bytes = 0
        self._views.clear()
        kept.clear()

    def _keep_big(self, t: torch.Tensor, size: int, usual: bool) -> None:
        kept = self.log.snapshots
        if size > self.budget:
            kept.append(snapshot(t))
            self.log.dropped += 1
            return
        layout: Layout | None = None
        copy: torch.Tensor | None = None
        if usual and t.is_cpu and t.layout is torch.strided:
            layout = t.dtype, t.shape, t.stride()
            fitting = _cached.get(layout)
            if fitting:
                try:
                    copy = _copy(fitting.pop(), t)
                except RuntimeError:
                    # Inside torch.func's transforms tensors from outside cannot be written to.
                    copy = None
        if copy is None:
            _free_cached(size)
            copy = _clone(t)
            if type(copy) is not torch.Tensor or copy.is_quantized or copy.is_inference():
                layout = None
        self._counted.append((len(kept), size, layout))
        kept.append(copy)
        self._bytes += size
        if self._bytes > self.budget:
            self._drop()

    def _drop(self) -> None:
        """Turn the oldest big copies into summaries until the rest fit the budget.

        It goes a little below the budget, so that many small copies are processed together.
        """
        self._before_drop()
        kept, log = self.log.snapshots, self.log
        dropped: list[tuple[int, Layout | None]] = []
        indices: list[int] = []
        while self._bytes > self.budget - self.budget // 16:
            index, size, layout = self._counted.popleft()
            self._bytes -= size
            dropped.append((index, layout))
            indices += [index, *self._views.pop(index, ())]
        copies = [c for i in indices if isinstance(c := kept[i], torch.Tensor)]
        made = snapshots(copies, log.dropped)
        for index, layout in dropped:
            if layout is not None:
                _cached.setdefault(layout, []).append(kept[index])
        for index, summary in zip(indices, made, strict=True):
            kept[index] = summary
            self._views.pop(index, None)
        log.dropped += len(indices)


def _free_cached(size: int) -> None:
    """Free as much cached memory as is about to be allocated."""
    while _cached and size > 0:
        layout, fitting = _cached.popitem()
        while fitting and size > 0:
            size -= fitting.pop().nbytes
        if fitting:
            _cached[layout] = fitting


def _offset_in(t: torch.Tensor, whole: torch.Tensor, copy: torch.Tensor) -> int | None:
    """Return the offset in elements, within ``whole`` and its ``copy``, of the view ``t``.

    None if ``t`` is no view of ``whole`` or the layouts differ. Both have data and strides.
    """
    if t.dtype is not whole.dtype:
        return None
    first, odd = divmod(t.data_ptr() - whole.data_ptr(), t.element_size())
    count = whole.numel()
    if odd or not 0 <= first < count or t.numel() == 0:
        return None
    if t.is_neg() or t.is_conj() or whole.is_neg() or whole.is_conj() or copy.is_conj():
        return None
    if copy.stride() != whole.stride() or first + _reach(t) >= count:
        return None
    # A dense layout without overlaps: all elements in the range belong to ``whole``.
    return first if whole.is_contiguous() or _reach(whole) == count - 1 else None


def _reach(t: torch.Tensor) -> int:
    """Return the distance in elements from the first element to the last."""
    reach = 0
    for count, step in zip(t.shape, t.stride(), strict=True):
        reach += (count - 1) * step
    return reach
