"""Copies of tensors' numbers, bounded by a budget and made in memory that is used again.

A copy of a big tensor costs little where its memory has been touched before, and many times that
where the operating system first has to find and clear it. So the memory of a run's big copies is
kept when the run is over, and the next run, mostly of nearly the same program, copies into it.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

import torch

from engine.record.log import Log
from engine.record.unseen import USUAL, has_numbers, is_everyday, is_watched, unwatched
from engine.tape import INLINE_ELEMENTS
from engine.untouched import keep_builtins
from engine.values import once, snapshot, snapshots

keep_builtins(globals())

BUDGET = 256 << 20
"""Bytes of copies a run holds unless told otherwise; small tensors are not counted."""

REUSED = 1 << 13
"""The memory of copies beyond so many bytes is used again; less is quickly found anew."""

SHARED_ELEMENTS = 1 << 13
"""Views of so many elements share the copy of the whole; copying fewer is as quick."""

_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""By bytes per element: what two tensors are compared as where -0 is not 0 and NaN equals NaN."""
# As they are before a program, or a tensor class of its own, puts something else in their place.
_clone, _detach, _copy = torch.Tensor.clone, torch.Tensor.detach, torch.Tensor.copy_
Layout = tuple[torch.dtype, torch.Size, tuple[int, ...]]
_spare: dict[Layout, list[Any]] = {}
"""Memory of the run before by its layout, until it is used again or given back."""


class Copies:
    """The snapshots of one run, numbered as in `Log.snapshots`."""

    def __init__(self, log: Log, budget: int) -> None:
        self.log = log
        self.budget = budget
        self.about_to_drop: Callable[[], None] = lambda: None
        """Called before numbers are given up: whoever has yet to compare some does it now."""
        self._bytes = 0
        self._reused_from = min(REUSED, budget)
        self._counted: deque[tuple[int, int, Layout | None]] = deque()
        """The copies that count against the budget, oldest first: their bytes, and as what their
        memory can be used again (None where it cannot)."""
        self._views: dict[int, list[int]] = {}
        """By such a copy the snapshots that are views of it; by each of those the same list."""

    def keep(self, t: torch.Tensor, readable: bool = False) -> int | None:
        """Copy the numbers of ``t`` and return the snapshot's index; None if it has none.

        Where torch refuses the copy there is none, either: a hook must never raise. ``readable``:
        that it `has_numbers` is known.
        """
        if is_watched():
            with unwatched():
                return self.keep(t, readable)
        kept = self.log.snapshots
        try:
            if not (readable or is_everyday(t) or has_numbers(t)):
                return None
            # Without the detour where there is no graph to stay out of.
            free = _detach(t) if t.requires_grad else t
            count = t.numel()
            if count <= INLINE_ELEMENTS:
                kept.append(_clone(free))
            elif (size := count * t.element_size()) > self._reused_from:
                self._keep_big(free, size, type(t) in USUAL)
            else:
                kept.append(_clone(free))
                self._counted.append((len(kept) - 1, size, None))
                self._bytes += size
                if self._bytes > self.budget:
                    self._drop()
        except (RuntimeError, NotImplementedError):
            return None
        return len(kept) - 1

    def share(self, t: torch.Tensor, whole: torch.Tensor, kept: int) -> int | None:
        """Return a snapshot of ``t`` without copying, if it is a view of ``whole``; else None.

        ``kept`` is the snapshot of ``whole``, which must not have been written to since.
        """
        if is_watched() or not (is_everyday(t) and is_everyday(whole)):
            return None
        view = self._view(t, whole, kept)
        return self._shared(view, kept) if view is not None else None

    def keep_view(self, t: torch.Tensor, base: torch.Tensor, kept: int | None) -> int | None:
        """Keep a view of ``base``, whose snapshot is ``kept``; copied only if that is outdated.

        A write may count no version (numpy, ``.data``), so the numbers themselves are compared.
        """
        readable = t.numel() >= SHARED_ELEMENTS and has_numbers(t) and not is_watched()
        kind = _BITS.get(t.element_size()) if readable else None
        if kept is not None and kind is not None:
            plain = is_everyday(t) and is_everyday(base)
            view = self._view(t, base, kept) if plain else None
            if view is not None and torch.equal(*once(view.view(kind), _detach(t).view(kind))):
                return self._shared(view, kept)
        return self.keep(t)

    def _view(self, t: torch.Tensor, whole: torch.Tensor, kept: int) -> torch.Tensor | None:
        copy = self.log.snapshots[kept]
        if not isinstance(copy, torch.Tensor):
            return None
        first = _first_in(t, whole, copy)
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
        """Give all copies back; the memory of big ones is kept for the next run."""
        _spare.clear()
        kept = self.log.snapshots
        for index, _, layout in self._counted:
            if layout is not None:
                _spare.setdefault(layout, []).append(kept[index])
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
            fitting = _spare.get(layout)
            if fitting:
                try:
                    copy = _copy(fitting.pop(), t)
                except RuntimeError:
                    # Inside of torch.func's transforms nothing from outside may be changed.
                    copy = None
        if copy is None:
            _make_room(size)
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

        A little room is made beyond that, so that many small ones are read together.
        """
        self.about_to_drop()
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
                _spare.setdefault(layout, []).append(kept[index])
        for index, summary in zip(indices, made, strict=True):
            kept[index] = summary
            self._views.pop(index, None)
        log.dropped += len(indices)


def _make_room(size: int) -> None:
    """Give back as much spare memory as is about to be asked for."""
    while _spare and size > 0:
        layout, fitting = _spare.popitem()
        while fitting and size > 0:
            size -= fitting.pop().nbytes
        if fitting:
            _spare[layout] = fitting


def _first_in(t: torch.Tensor, whole: torch.Tensor, copy: torch.Tensor) -> int | None:
    """Return where in ``copy``, one of ``whole`` in the same layout, its view ``t`` begins.

    In elements; None where ``t`` is no such view. Both have numbers and strides.
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
    # A layout without gaps or overlaps: its elements are the ones in between.
    return first if whole.is_contiguous() or _reach(whole) == count - 1 else None


def _reach(t: torch.Tensor) -> int:
    """Return how far from its first element its last one lies, in elements."""
    reach = 0
    for count, step in zip(t.shape, t.stride(), strict=True):
        reach += (count - 1) * step
    return reach
