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
        self._leaving: dict[str, list[str]] = {}
        for drawn in picture.wires:
            self._leaving.setdefault(drawn.source, []).append(drawn.key)
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
            key = self._targets.get(self._index.target(edge.target, edge.input_nr))
            if key is not None and cards.get(key, CardLook()).run != edge.run:
                self._turn_to_pass(cards, wires, key, edge, at)
            wire = self._picture.edge_wires.get((execution.node, edge.slot))
            if wire is not None:
                wires[wire] = self._run_along(wires.get(wire), number, edge, wire)
                active.append(wire)
            if key is None or key == self._picture.node_cards.get(execution.node):
                continue
            known = cards[key]
            arriving.setdefault(key, []).append(edge.gradient)
            arrived = len(known.shares) + len(arriving[key])
            total, more = self._sum(edge, edge.gradient, known, arrived, at)
            if total is not None or more:
                landing[key] = total, more
        for key, gradients in arriving.items():
            known = cards.get(key, CardLook())
            cards[key] = replace(known, shares=(*known.shares, *gradients))
        return tuple(active)

    def _turn_to_pass(
        self,
        cards: dict[str, CardLook],
        wires: dict[str, WireLook],
        key: str,
        edge: Edge,
        at: int,
    ) -> None:
        """Show at a card the shares of an edge's pass alone: those that came before event ``at``.

        There are such if a hook started another pass in between.
        """
        known = cards.get(key, CardLook())
        arrived = self._index.arrivals.get(self._index.target(edge.target, edge.input_nr), ())
        before = [a for a in arrived if a.run == edge.run and a.event < at]
        cards[key] = replace(
            known,
            gradient=None if known.returned else known.gradient,
            shares=tuple(a.snapshot for a in before),
            returned=False,
            run=edge.run,
        )
        for wire in self._leaving.get(key, ()):
            if wire in wires and wires[wire].shares:
                wires[wire] = WireLook(wires[wire].carried)
        for arrival in before:
            sent = self._index.tape.edges[arrival.edge]
            if sent.execution is not None:
                sender = self._index.tape.executions[sent.execution].node
                wire = self._picture.edge_wires.get((sender, sent.slot), "")
                if wire:
                    wires[wire] = self._run_along(wires.get(wire), arrival.edge, sent, wire)

    def _run_along(self, before: WireLook | None, number: int, edge: Edge, wire: str) -> WireLook:
        before = before or WireLook()
        if before.run != edge.run:
            before = WireLook(before.carried, run=edge.run)
        assert edge.gradient is not None
        alone = not before.shares
        # The derivative of the first of many repeats says nothing about all of them.
        labelled = self._labelled and wire not in self._into_repeats
        return replace(
            before,
            share=edge.gradient if alone else None,
            shares=(*before.shares, edge.gradient),
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
