"""Repeated evaluation of the shape lab's expression, with other numbers in its tensors."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch

from gradscribe.engine.protocol.check_replies import MAX_SHOWN, MAX_TENSORS
from gradscribe.engine.protocol.messages import Cells
from gradscribe.engine.protocol.safe_text import MAX_NAME_CHARS, without_surrogates
from gradscribe.engine.record.values import snapshots

TIME_LIMIT_S = 2.0
"""Time limit of all evaluations; links not found by then are left out."""


class TooSlow(Exception):
    """The expression takes too long to be evaluated once more."""


class NamedTensor(NamedTuple):
    """A tensor with its name; ``kind``: ``tensor``, ``array`` or ``number``."""

    name: str
    tensor: torch.Tensor
    kind: str


def named_tensors(names: dict[str, object], wanted: Sequence[str]) -> list[NamedTensor]:
    """Return the tensors and arrays that the expression names, also those in lists."""
    found: list[NamedTensor] = []
    for name in wanted:
        value = names.get(name)
        if isinstance(value, list | tuple):
            parts = [(f"{name}[{i}]", part) for i, part in enumerate(value)]
        else:
            parts = [(name, value)]
        for label, part in parts:
            if isinstance(part, torch.Tensor):
                found.append(NamedTensor(label, part, "tensor"))
            elif isinstance(part, np.ndarray) and (tensor := as_tensor(part)) is not None:
                found.append(NamedTensor(label, tensor, "array"))
    return found[:MAX_TENSORS]


def as_tensor(value: object) -> torch.Tensor | None:
    """Return a result as a tensor; None if it is none."""
    if isinstance(value, torch.Tensor):
        return value if value.layout is torch.strided and not value.is_quantized else None
    if isinstance(value, np.ndarray | np.generic):
        try:
            array = np.asarray(value)
            return torch.from_numpy(array.copy() if has_negative_stride(array) else array)
        except (TypeError, ValueError):
            return None
    if isinstance(value, bool | int | float | complex):
        return torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None)
    return None


def has_negative_stride(value: object) -> bool:
    """Return whether an array has a negative stride, which no tensor can have."""
    return isinstance(value, np.ndarray) and any(stride < 0 for stride in value.strides)


class ExpressionEvaluator:
    """Evaluate the expression with other numbers in its tensors, without changing the user's."""

    def __init__(
        self,
        names: dict[str, object],
        inputs: list[NamedTensor],
        evaluate: Callable[[dict[str, object]], object],
    ) -> None:
        self._names = names
        self._evaluate = evaluate
        self._inputs = inputs
        self.originals = [clone_with_strides(named.tensor) for named in inputs]
        self._since = time.monotonic()

    def evaluate(self, other: dict[int, torch.Tensor]) -> object:
        """Return the expression's value, with the inputs numbered in ``other`` replaced.

        Raises:
            Slow: all evaluations together have taken `TIME_LIMIT_S`.
        """
        if other and time.monotonic() - self._since > TIME_LIMIT_S:
            raise TooSlow
        scope = dict(self._names)
        lists: dict[str, list[object]] = {}
        for index, named in enumerate(self._inputs):
            tensor = other.get(index)
            if tensor is None:
                tensor = named.tensor if not other else clone_with_strides(self.originals[index])
            value = tensor.numpy() if named.kind == "array" else tensor
            name, bracket, _ = named.name.partition("[")
            if bracket:
                lists.setdefault(name, []).append(value)
            else:
                scope[name] = value
        for name, parts in lists.items():
            whole = self._names[name]
            if isinstance(whole, list | tuple) and len(parts) == len(whole):
                scope[name] = parts
        _seed()
        return self._evaluate(scope)

    def gradients(self, index: int, k: int) -> list[torch.Tensor]:
        """Return for each cell of result ``k`` its gradient by input ``index``, flattened."""
        with torch.enable_grad():
            leaf = clone_with_strides(self.originals[index]).requires_grad_()
            cells = self.results(self.evaluate({index: leaf}))[0][k].tensor.reshape(-1)
            every = [torch.autograd.grad(cell, leaf, retain_graph=True)[0] for cell in cells]
        return [gradient.reshape(-1) for gradient in every]

    @staticmethod
    def results(value: object) -> tuple[list[NamedTensor], str]:
        """Return the tensors of a result, or its text if it has none."""
        fields = getattr(value, "_fields", None) or ()
        # torch's return type of max(dim=...) names its fields by class attributes.
        if isinstance(value, tuple) and not fields:
            fields = tuple(k for k in ("values", "indices") if hasattr(type(value), k))
        parts = list(value) if isinstance(value, list | tuple) else [value]
        found = []
        for index, part in enumerate(parts[:MAX_TENSORS]):
            tensor = as_tensor(part)
            if isinstance(value, torch.Size) or tensor is None:
                return [], without_surrogates(repr(value))[:2000]
            name = f"result[{index}]" if isinstance(value, list | tuple) else "result"
            if index < len(fields):
                name = str(fields[index])
            kind = "tensor" if isinstance(part, torch.Tensor) else "number"
            found.append(
                NamedTensor(name, tensor, "array" if isinstance(part, np.ndarray) else kind)
            )
        return found, ""


def _seed() -> None:
    """Seed the random generators; torch's own function also seeds devices not in use, later."""
    torch.default_generator.manual_seed(0)
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.manual_seed_all(0)


def clone_with_strides(t: torch.Tensor) -> torch.Tensor:
    """Return a copy, with the same strides unless elements overlap in memory."""
    with torch.no_grad():
        plain = t.detach()
        if plain.numel() and not plain.is_contiguous() and not _overlaps(plain):
            copy = torch.empty_strided(plain.shape, plain.stride(), dtype=plain.dtype)
            return copy.copy_(plain)
        return plain.cpu().contiguous().clone()


def _overlaps(t: torch.Tensor) -> bool:
    return any(stride == 0 and size > 1 for size, stride in zip(t.shape, t.stride(), strict=True))


def to_cells(named: NamedTensor) -> Cells:
    """Return the message for a tensor: its numbers, and its memory layout."""
    tensor = named.tensor.detach()
    storage = tensor.untyped_storage()
    size = max(1, tensor.element_size())
    return Cells(
        name=without_surrogates(named.name[:MAX_NAME_CHARS]),
        kind=named.kind,
        snapshot=snapshots.snapshot(tensor, MAX_SHOWN),
        device=str(tensor.device),
        stride=tuple(tensor.stride()),
        offset=int(tensor.storage_offset()),
        contiguous=tensor.is_contiguous(),
        requires_grad=named.tensor.requires_grad,
        storage=storage.data_ptr() if storage.nbytes() else 0,
        storage_size=storage.nbytes() // size,
    )
