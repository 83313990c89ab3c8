"""A backward pass of the latest program with its graph alive, reached by running it again.

The pass can be repeated with a change at one of its nodes, which gives the gradient that a wrong
link of the chain would give.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

import torch
from torch.autograd.graph import GradientEdge, Node

from gradscribe.engine.inspect.sharing import NotComparable
from gradscribe.engine.protocol.tape import Tape, Value
from gradscribe.engine.run import run

Gradients = tuple[torch.Tensor | None, ...]
Change = Callable[[Gradients, Gradients], Gradients]
"""A wrong rule for a node: what it sends and what arrived at it, to what it sends instead."""


class LivePass(NamedTuple):
    """A pass that has not run yet, with the program's global names at that moment."""

    tape: Tape
    names: dict[str, object]
    roots: list[torch.Tensor]
    seeds: list[torch.Tensor]
    nodes: dict[int, Node]
    """Live nodes by the ids of the tape: backward nodes, and the leaves' AccumulateGrad."""

    def edge(self, value: Value) -> GradientEdge | None:
        """Return the edge at which a value's gradient arrives; None if the pass has none."""
        node = self.nodes.get(value.id if value.node is None else value.node)
        return None if node is None else GradientEdge(node, value.output_nr)

    def gradient(
        self, edge: GradientEdge, changes: dict[int, Change] | None = None, ones_at: int = -1
    ) -> torch.Tensor | None:
        """Return the gradient at an edge, with other rules at some nodes.

        ``ones_at``: a node at which ones arrive, whatever comes from the roots.
        """
        handles = [
            self.nodes[node].register_hook(change) for node, change in (changes or {}).items()
        ]
        if ones_at in self.nodes:
            handles.append(self.nodes[ones_at].register_prehook(_ones))
        try:
            return torch.autograd.grad(
                self.roots, [edge], self.seeds, retain_graph=True, allow_unused=True
            )[0]
        finally:
            for handle in handles:
                handle.remove()


def _ones(arrived: Gradients) -> Gradients:
    return tuple(None if g is None else torch.ones_like(g) for g in arrived)


@contextmanager
def reached_pass(last: run.FinishedRun, number: int) -> Iterator[LivePass]:
    """Run the latest program again up to a pass. Its copies are freed at the end.

    Raises:
        NotComparable: the pass is not reached.
    """
    tape = last.tape
    if not 0 <= number < len(tape.passes):
        raise NotComparable("There is no such backward pass in this run")
    recorder = run.new_recorder(last.request)
    recorder.backward.stop_at_pass = number
    done = run.perform(last.request, recorder)
    roots = recorder.backward.reached_roots
    try:
        if done.error is not None:
            raise NotComparable(done.error.message)
        if len(roots) != len(tape.passes[number].roots):
            raise NotComparable("The program took another path this time")
        seeds = [_seed(last, number, place, root) for place, root in enumerate(roots)]
        yield LivePass(tape, done.names, roots, seeds, _live_nodes(tape, number, roots))
    finally:
        recorder.backward.reached_roots = []
        recorder.release()


def _seed(last: run.FinishedRun, number: int, place: int, root: torch.Tensor) -> torch.Tensor:
    stored = last.tape.passes[number].seeds[place]
    copy = last.recorder.log.snapshots[stored] if stored is not None else None
    return copy if isinstance(copy, torch.Tensor) else torch.ones_like(root)


def _live_nodes(tape: Tape, number: int, roots: list[torch.Tensor]) -> dict[int, Node]:
    """Return the graph's nodes by their ids on the tape: both have the same edges."""
    nodes, values = {n.id: n for n in tape.nodes}, {v.id: v for v in tape.values}
    found: dict[int, Node] = {}
    waiting: list[tuple[int, Node]] = []
    for value, root in zip(tape.passes[number].roots, roots, strict=True):
        made = None if value is None else values.get(value)
        with suppress(RuntimeError):
            node = torch.autograd.graph.get_gradient_edge(root).node
            if made is not None:
                waiting.append((made.id if made.node is None else made.node, node))
    while waiting:
        known, node = waiting.pop()
        if known in found:
            continue
        found[known] = node
        if known in nodes:
            for target, (following, _) in zip(nodes[known].next, node.next_functions, strict=False):
                if target is not None and following is not None:
                    waiting.append((target[0], following))
    return found
