"""The mistake behind a wrong gradient: the wrong link of the chain that gives its very numbers.

Each candidate is computed by torch: the backward pass runs again with one node that follows a
wrong rule, or without one of the edges on which a gradient arrives.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import torch
from torch.autograd.graph import GradientEdge

from gradscribe.engine.inspect.by_hand.live_pass import Change, Gradients, LivePass
from gradscribe.engine.inspect.by_hand.wrong_rules import wrong_rules
from gradscribe.engine.protocol.check_replies import MAX_SLIPS
from gradscribe.engine.protocol.messages import Slip
from gradscribe.engine.protocol.tape import Op, Value

SEARCH_S = 3.0
"""Limit of the search in seconds of processor time: on a busy machine it finds the same."""
MAX_LINKS = 400
"""Most nodes of a chain at which mistakes are looked for."""

Copy = Callable[[int], torch.Tensor | None]
"""Returns the numbers of a value at the moment it was made, by its id."""
Candidate = tuple[Slip, Callable[[], torch.Tensor | None]]
"""A mistake, and the computation of the gradient that it leads to."""
IsEqual = Callable[[torch.Tensor, torch.Tensor], bool]


class WrongGradient(NamedTuple):
    """A wrong gradient with the right one, and the value that it is of."""

    target: Value
    own: torch.Tensor
    true: torch.Tensor


class SlipSearch:
    """Search the mistake that leads to a wrong gradient of one pass."""

    def __init__(self, live: LivePass, number: int, copy: Copy, is_equal: IsEqual) -> None:
        self._live, self._number, self._copy, self._is_equal = live, number, copy, is_equal
        tape = live.tape
        self._ops = {node: at for at, op in enumerate(tape.ops) for node in op.nodes}
        self._nodes = {node.id: node for node in tape.nodes}
        self._values = {value.id: value for value in tape.values}

    def find(self, answer: WrongGradient) -> tuple[Slip, ...]:
        """Return the mistakes of which each gives the answer's numbers; mostly none or one.

        Kinds of mistakes come in the order of their likelihood: the first kind that fits is
        searched to its end, as numbers may fit several places.
        """
        deadline = time.process_time() + SEARCH_S
        for candidates in self._kinds(answer):
            found: list[Slip] = []
            for slip, make in candidates:
                if time.process_time() > deadline or len(found) == MAX_SLIPS:
                    break
                if _is_new(slip, found) and self._gives(make, answer):
                    found.append(slip)
            if found:
                return tuple(found)
        return ()

    def _gives(self, make: Callable[[], torch.Tensor | None], answer: WrongGradient) -> bool:
        try:
            wrong = make()
        except (RuntimeError, ValueError, IndexError, TypeError):
            return False  # the wrong rule does not fit these shapes
        if wrong is None or self._is_equal(wrong, answer.true):
            return False
        return self._is_equal(answer.own, wrong)

    def _kinds(self, answer: WrongGradient) -> Iterator[Iterator[Candidate]]:
        """Yield the kinds of mistakes, each with its places from the value to the loss."""
        target, _, true = answer
        edge = self._live.edge(target)
        chain = self._chain(target)
        yield self._whole(answer, chain)
        if edge is not None:
            yield self._uses(target, edge, chain)
            yield (found for node in chain for found in self._links(node, edge))
            live, ops = self._live, self._ops
            yield (
                (Slip("upstream", ops.get(node, -1)), partial(live.gradient, edge, ones_at=node))
                for node in chain
            )
        yield iter([(Slip("sign"), lambda: -true)])
        yield self._others(answer)

    def _whole(self, answer: WrongGradient, chain: list[int]) -> Iterator[Candidate]:
        _, own, true = answer
        before = self._accumulated(answer.target)
        yield Slip("accumulated"), lambda: before
        op = self._ops.get(chain[0], -1) if chain else -1
        yield Slip("unsummed", op), lambda: _summed_answer(own, true)

    def _others(self, answer: WrongGradient) -> Iterator[Candidate]:
        target, own, true = answer
        yield Slip("transposed"), lambda: true.mT.contiguous() if true.ndim >= 2 else None
        yield Slip("itself"), lambda: self._copy(target.id)
        yield Slip("total"), lambda: true.sum() if own.ndim == 0 and true.ndim else None

    def _accumulated(self, target: Value) -> torch.Tensor | None:
        """Return ``.grad`` after the pass, with what earlier passes left in it."""
        tape = self._live.tape
        for added in tape.accumulations:
            if added.run == self._number and added.leaf == target.id and added.before is not None:
                array = None if added.after is None else tape.snapshots[added.after].array()
                return None if array is None else torch.from_numpy(array.copy())
        return None

    def _chain(self, target: Value) -> list[int]:
        """Return the nodes between a value and the roots, nearest to the value first."""
        start = target.id if target.node is None else target.node
        senders: dict[int, list[int]] = {}
        for node in self._live.nodes:
            if node in self._nodes:
                for following in self._nodes[node].next:
                    if following is not None:
                        senders.setdefault(following[0], []).append(node)
        found = [start]
        seen = {start}
        for node in found:
            for sender in senders.get(node, ()):
                if sender not in seen:
                    seen.add(sender)
                    found.append(sender)
        return found[1 : MAX_LINKS + 1]

    def _uses(self, target: Value, edge: GradientEdge, chain: list[int]) -> Iterator[Candidate]:
        """Yield a sum over the uses of a tensor with one use left out, or with one use alone."""
        by_edge: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for node in chain:
            for slot, following in enumerate(self._nodes[node].next):
                if following is not None:
                    by_edge.setdefault(following, []).append((node, slot))
        for (into, nr), senders in by_edge.items():
            if len(senders) < 2:
                continue
            value = self._value_of(into, nr, target)
            groups = [[sender] for sender in senders]
            for node in dict.fromkeys(node for node, _ in senders):
                both = [sender for sender in senders if sender[0] == node]
                groups += [both] if 1 < len(both) < len(senders) else []
            for group in groups:
                op = self._ops.get(group[0][0], -1)
                others = [other for other in senders if other not in group]
                if len(others) > 1:
                    missing = Slip("use", op, value, uses=len(senders))
                    yield missing, self._without(group, edge)
                only = Slip("only", op, value, uses=len(senders))
                yield only, self._without(others, edge)

    def _value_of(self, node: int, nr: int, target: Value) -> int:
        if target.id == node or (target.node, target.output_nr) == (node, nr):
            return target.id
        made = (v.id for v in self._values.values() if (v.node, v.output_nr) == (node, nr))
        return next(made, node if node in self._values else -1)

    def _without(
        self, cut: list[tuple[int, int]], edge: GradientEdge
    ) -> Callable[[], torch.Tensor | None]:
        """Return the computation of the gradient with nothing sent along some edges."""
        slots: dict[int, set[int]] = {}
        for node, slot in cut:
            slots.setdefault(node, set()).add(slot)

        def rule(left_out: set[int]) -> Change:
            return lambda sent, _: tuple(
                torch.zeros_like(g) if g is not None and at in left_out else g
                for at, g in enumerate(sent)
            )

        changes = {node: rule(left_out) for node, left_out in slots.items()}
        return lambda: self._live.gradient(edge, changes)

    def _links(self, node: int, edge: GradientEdge) -> Iterator[Candidate]:
        """Yield the mistakes at one node: no factor, a wrong one, or nothing from above."""
        live, number = self._live, self._ops.get(node, -1)
        if number >= 0:
            op = live.tape.ops[number]
            inputs = [self._copy(used) for used in op.inputs]
            output = self._copy(op.outputs[0]) if op.outputs else None
            for kind, text, rule in wrong_rules(op.op, inputs, output, _exponent(op)):
                slip = _with_operands(Slip(kind, number, text=text), op, edge, live)
                yield slip, partial(live.gradient, edge, {node: rule})
        yield Slip("factor", number), partial(live.gradient, edge, {node: _unchanged})


def _is_new(slip: Slip, found: list[Slip]) -> bool:
    """Return whether no mistake was found at the same op, or at the same tensor."""
    return all((slip.op, slip.value) != (other.op, other.value) for other in found)


def _with_operands(slip: Slip, op: Op, edge: GradientEdge, live: LivePass) -> Slip:
    """Return the slip with the operand that was taken and the one that belongs there."""
    if slip.kind != "operand" or len(op.inputs) != 2:
        return slip
    values = {v.id: v for v in live.tape.values}
    edges = [live.edge(values[used]) for used in op.inputs]
    at = 1 if edges[1] is not None and edges[1] == edge else 0
    return Slip(slip.kind, slip.op, op.inputs[at], op.inputs[1 - at], slip.text)


def _exponent(op: Op) -> float | None:
    numbers = [arg.number for arg in op.args if arg.value is None and arg.number is not None]
    return numbers[0] if numbers else None


def _unchanged(sent: Gradients, arrived: Gradients) -> Gradients:
    """Pass on what arrives, in the shape of what would be sent."""
    above = next((g for g in arrived if g is not None), None)
    return tuple(None if g is None or above is None else _fitted(above, g) for g in sent)


def _fitted(gradient: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    if gradient.shape == like.shape:
        return gradient.to(like.dtype)
    if gradient.numel() <= like.numel():
        missing = like.ndim - gradient.ndim
        shape = gradient.shape
        if missing > 0 and tuple(like.shape[: gradient.ndim]) == tuple(shape):
            gradient = gradient.reshape(*shape, *([1] * missing))
        return gradient.expand_as(like).to(like.dtype)
    return gradient.sum_to_size(*like.shape).to(like.dtype)


def _summed_answer(own: torch.Tensor, true: torch.Tensor) -> torch.Tensor | None:
    """Return the answer itself if it is right once its broadcast dimensions are summed."""
    if own.shape == true.shape or own.numel() <= true.numel():
        return None
    summed = own.sum_to_size(*true.shape)
    return own if torch.allclose(summed.double(), true.double(), rtol=1e-3, atol=1e-6) else None
