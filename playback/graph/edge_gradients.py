"""Gradients that a backward node sends along its edges, as looks of wires and cards."""

from collections.abc import Mapping

from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Edge, Execution
from gradscribe.playback import explain
from gradscribe.playback.graph.picture import CardLook, Picture, WireLook
from gradscribe.playback.tape.index import Index

PendingGradients = dict[str, tuple[int | None, bool]]
"""Card key -> (gradient that the card will show, whether more shares will arrive)."""


class GradientSender:
    """Update of a picture's looks in backward; ``targets``: (node or leaf, input) -> card key."""

    def __init__(
        self, index: Index, picture: Picture, targets: Mapping[tuple[int, int], str], labelled: bool
    ) -> None:
        self._index, self._picture = index, picture
        self._targets, self._labelled = targets, labelled
        folded = {c.key for c in picture.cards if c.kind == "module" and c.call is None}
        self._into_repeats = {w.key for w in picture.wires if folded and w.target in folded}

    def send(
        self,
        cards: dict[str, CardLook],
        wires: dict[str, WireLook],
        landing: PendingGradients,
        execution: Execution,
        at: int,
    ) -> tuple[str, ...]:
        """Apply the shares that an execution sends at event ``at``; return the keys of their wires.

        Thousands of shares may go to one card: it is updated once with all of them, since updating
        it for each would take quadratic time.
        """
        active: list[str] = []
        arriving: dict[str, list[int]] = {}
        for number in execution.edges:
            edge = self._index.tape.edges[number]
            if edge.gradient is None:
                continue
            wire = self._picture.edge_wires.get((execution.node, edge.slot))
            if wire is not None:
                known_wire = wires.get(wire, WireLook())
                if known_wire.run != edge.run:
                    known_wire = WireLook(known_wire.carried, run=edge.run)
                wires[wire] = self._run_along(known_wire, number, edge.gradient, wire)
                active.append(wire)
            key = self._targets.get(self._index.target(edge.target, edge.input_nr))
            if key is None or key == self._picture.node_cards.get(execution.node):
                continue
            known = cards.get(key, CardLook())
            if known.run != edge.run:
                shown = None if known.returned else known.gradient
                shares = self._before(edge, at)
                known = replace(known, gradient=shown, shares=shares, returned=False, run=edge.run)
                cards[key] = known
            arriving.setdefault(key, []).append(edge.gradient)
            arrived = len(known.shares) + len(arriving[key])
            total, more = self._sum(edge, edge.gradient, known, arrived, at)
            if total is not None or more:
                landing[key] = total, more
        for key, gradients in arriving.items():
            known = cards.get(key, CardLook())
            cards[key] = replace(known, shares=(*known.shares, *gradients))
        return tuple(active)

    def _before(self, edge: Edge, at: int) -> tuple[int, ...]:
        """Return the shares that an edge's pass brought to its target before event ``at``.

        Another pass may have run in between, from a hook.
        """
        arrived = self._index.arrivals.get(self._index.target(edge.target, edge.input_nr), ())
        return tuple(a.snapshot for a in arrived if a.run == edge.run and a.event < at)

    def _run_along(self, before: WireLook, number: int, gradient: int, wire: str) -> WireLook:
        alone = not before.shares
        # The derivative of the first of many repeats says nothing about all of them.
        labelled = self._labelled and wire not in self._into_repeats
        return replace(
            before,
            share=gradient if alone else None,
            shares=(*before.shares, gradient),
            factor=explain.slope_label(self._index, number) if alone and labelled else "",
        )

    def _sum(
        self, edge: Edge, gradient: int, known: CardLook, arrived: int, at: int
    ) -> tuple[int | None, bool]:
        """Return the gradient that a card shows after a share arrived, and whether more follow."""
        target = self._index.target(edge.target, edge.input_nr)
        expected = self._index.expected(target, edge.run)
        total = None
        if edge.target not in self._index.nodes:
            asked = self._index.tape.passes[edge.run].kind == "grad"
            # A pass that returns gradients adds nothing to ``.grad``.
            total = known.gradient if not asked else gradient if expected == 1 else None
        elif arrived >= expected:
            total = self._received(target, at, edge.run)
            total = gradient if total is None and expected == 1 else total
        return total, expected > 1 and total is None

    def _received(self, target: tuple[int, int], at: int, run: int) -> int | None:
        """Return the gradient that the target node will receive; None if a hook changes it."""
        for event, number in self._index.node_runs.get(target[0], ()):
            execution = self._index.tape.executions[number]
            if event > at and execution.run == run and not execution.hooked:
                return execution.received[target[1]]
        return None
