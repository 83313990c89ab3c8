"""Look of a picture at a position: a fold over the events of its scene."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from msgspec.structs import replace

from gradscribe.engine.protocol.tape import Edge, Event, Op, Tape, Value
from gradscribe.playback.graph.gradients.edge_gradients import GradientSender, PendingGradients
from gradscribe.playback.graph.picture import Card, CardLook, Look, Picture, WireLook
from gradscribe.playback.graph.visits import visits_of
from gradscribe.playback.tape import event_text, passes
from gradscribe.playback.tape.fold import CheckpointedFold
from gradscribe.playback.tape.index import Index, index_of
from gradscribe.playback.tape.phases import ACTIVE, phases
from gradscribe.playback.tape.recent_cache import RecentCache
from gradscribe.playback.tape.scenes import Scene

MAX_LABELLED_CARDS = 500
"""Most cards (and half the wires) of a picture whose wires have labels: more is unreadable."""


def look_at(tape: Tape | Index, picture: Picture, scene: Scene, position: int) -> Look:
    """Return the look of a picture after the first ``position`` events of the tape.

    The event before ``position`` is playing. Before the scene only what existed already is reached;
    after the scene the look of its end stays.
    """
    index = index_of(tape)
    player = _player(index, picture, scene)
    state = player.film.at(position - scene.start, player.step)
    cards, wires = dict(state.cards), dict(state.wires)
    now = playing_at(index, scene, position)
    if not now.phase:
        return Look(cards, wires)
    phase = now.phase
    for key in state.active_cards:
        cards[key] = replace(cards.get(key, CardLook()), active=phase)
    for key in state.active_wires:
        run: Literal["forward", "backward"] = "backward" if phase == "backward" else "forward"
        wires[key] = replace(wires.get(key, WireLook()), active=run)
    return replace(now, cards=cards, wires=wires)


def playing_at(tape: Tape | Index, scene: Scene, position: int) -> Look:
    """Return a `Look` without cards or wires: only the line, phase and caption of a position."""
    index, at = index_of(tape), position - 1
    if not scene.start <= at < scene.stop:
        return Look({}, {})
    event, phase = index.tape.events[at], ACTIVE[phases(index)[at]]
    return Look({}, {}, event.line, phase, event_text.caption(index, at))


@dataclass
class _State:
    cards: dict[str, CardLook] = field(default_factory=dict)
    wires: dict[str, WireLook] = field(default_factory=dict)
    active_cards: list[str] = field(default_factory=list)
    active_wires: tuple[str, ...] = ()
    landing: PendingGradients = field(default_factory=dict)
    """Card key -> (gradient, pending) that the card shows from the next event on."""
    cleared: list[str] = field(default_factory=list)
    """Leaves whose gradient was set to None, which is marked at that event only."""

    def copy(self) -> "_State":
        return _State(
            dict(self.cards),
            dict(self.wires),
            self.active_cards,
            self.active_wires,
            dict(self.landing),
            self.cleared,
        )


class _Player:
    """The states of one picture along its scene."""

    def __init__(self, index: Index, picture: Picture, scene: Scene) -> None:
        self.index = index
        self.picture = picture
        self.scene = scene
        self.cards: dict[str, Card] = {card.key: card for card in picture.cards}
        self.sources = {wire.key: wire.source for wire in picture.wires}
        self.leaving: dict[str, list[str]] = {}
        """Card -> its wires to other cards."""
        for wire in picture.wires:
            self.leaving.setdefault(wire.source, []).append(wire.key)
        self.op_wires = self._op_wires()
        self.targets: dict[tuple[int, int], str] = {}
        self.torch_made = self._torch_made()
        self.silent = self._silent()
        self.folded = {leaf: card.key for card in picture.cards for leaf in card.leaves}
        """First version of a leaf inside a folded card -> the card's key."""
        self.at = 0
        """Number of the events up to the one that is applied."""
        self.memory: dict[int, list[str]] = {}
        """Storage -> the cards that show a value in it."""
        for card in picture.cards:
            self._map_card(card)
        self.added = _added_passes(index)
        self.visits = visits_of(index)
        self._rebase()
        labelled = max(len(picture.cards), len(picture.wires) // 2) <= MAX_LABELLED_CARDS
        self.sending = GradientSender(index, picture, self.targets, labelled)
        first = _State()
        for card in picture.cards:
            self._before(card, first)
        for leaf, key in self.folded.items():
            grads = index.grads.get(leaf, ())
            if grads and grads[0].event < scene.start:
                first.cards[key] = CardLook(inside=scene.start)
        for key in self.torch_made.keys() & first.cards.keys():
            self._reach(first, key)
        self.film = CheckpointedFold(scene.stop - scene.start, first, _State.copy)

    def _map_card(self, card: Card) -> None:
        if card.value is None:
            return
        value = self.index.values[card.value]
        self.memory.setdefault(value.storage, []).append(card.key)
        if value.node is not None:
            self.targets[value.node, value.output_nr] = card.key
        elif card.op not in self.index.collectives:
            # What goes into a collective keeps its own card: it is the number of one rank.
            self.targets[self.index.first_version(value.id), 0] = card.key

    def _torch_made(self) -> dict[str, list[str]]:
        """Return card -> wires that lead to it, for nodes of no op and ops without an event."""
        events = self.index.op_events
        found: dict[str, list[str]] = {
            card.key: []
            for card in self.picture.cards
            if (card.op not in events and card.kind in ("op", "loss") and not card.failed)
            or card.key.startswith("graph:")
        }
        for wire in self.picture.wires if found else ():
            if wire.target in found:
                found[wire.target].append(wire.key)
        for node, key in self.picture.node_cards.items() if found else ():
            if key in found and self.cards[key].op is None and self.cards[key].kind != "module":
                self.targets[node, 0] = key
        return found

    def _silent(self) -> dict[int, list[str]]:
        """Return event -> the cards that exist from then on, though it is not their own.

        They are ops without an event, at the end of their pass, and nodes of no op.
        """
        waiting = [(self.cards[key].op, key) for key in self.torch_made]
        ops = sorted((op, key) for op, key in waiting if op is not None)
        found: dict[int, list[str]] = {}
        ended = -1
        for at in range(self.scene.start, self.scene.stop) if ops else ():
            event = self.index.tape.events[at]
            while event.kind == "op" and ops and ops[0][0] < event.ref:
                found.setdefault(ended, []).append(ops.pop(0)[1])
            ended = at if event.kind == "end" else ended
        found.setdefault(ended, []).extend(key for _, key in ops)
        last = self.scene.stop - 1
        for node, key in self.picture.node_cards.items():
            if key in self.torch_made and self.cards[key].kind != "module":
                made = min(self.index.nodes[node].made, last)
                found.setdefault(max(made, self.scene.start), []).append(key)
        return found

    def _rebase(self) -> None:
        """Map nodes that an in-place op gave to other views of its memory to the card of the op."""
        for value in self.index.tape.values:
            op = self.index.op(value.op) if value.op is not None else None
            if op is None or value.node is None or value.id in op.outputs or not op.inplace:
                continue
            key = self.picture.node_cards.get(value.node)
            if key is not None and self.cards[key].op == value.op:
                self.targets.setdefault((value.node, value.output_nr), key)

    def _op_wires(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for wire in self.picture.wires:
            for op in self.cards[wire.target].ops:
                if wire.value is None or wire.value in self.index.op(op).inputs:
                    found.setdefault(op, []).append(wire.key)
        return found

    def _before(self, card: Card, state: _State) -> None:
        """Show a value that existed before the scene began."""
        if card.value is None or card.op is not None or card.kind == "module":
            return
        value = self.index.values[card.value]
        born = self.index.created_at.get(self.index.first_version(value.id), -1)
        if born < self.scene.start:
            known = self.index.gradient(value.id, self.scene.start)
            shown = self.index.snapshot_at(value.id, self.scene.start)
            zeros: Literal["", "zeros"] = "zeros" if known.zeros else ""
            state.cards[card.key] = CardLook(True, "", shown, known.snapshot, reset=zeros)

    def step(self, state: _State, number: int) -> None:
        """Change the state by one event of the scene."""
        self.at = self.scene.start + number + 1
        if number == 0:
            literals = [key for key, card in self.cards.items() if card.literal]
            state.cards.update(dict.fromkeys(literals, CardLook(True)))
        for key, (snapshot, pending) in state.landing.items():
            state.cards[key] = replace(state.cards[key], gradient=snapshot, pending=pending)
        for key in state.cleared:
            state.cards[key] = replace(state.cards[key], reset="")
        # Copied states share these lists: replace them instead of clearing them.
        state.active_cards, state.active_wires, state.cleared = [], (), []
        state.landing = {}
        event = self.index.tape.events[self.scene.start + number]
        for key in self.silent.get(self.scene.start + number, ()):
            self._reach(state, key)
        if event.kind == "op":
            self._op(state, event)
        elif event.kind == "node":
            self._node(state, event.ref, self.scene.start + number)
        elif event.kind == "error":
            self._fail(state)
        elif event.kind in _CHANGES:
            _CHANGES[event.kind](self, state, event.ref)

    def _fail(self, state: _State) -> None:
        """Mark the card in which the program failed; the operands of a failed call did arrive."""
        for key in (key for key, card in self.cards.items() if card.failed):
            self._change(state, key, reached=True, failed=True)
            state.active_cards.append(key)
            arriving = (w for w in self.picture.wires if w.target == key)
            for wire in () if self.cards[key].ops else arriving:
                state.wires[wire.key] = replace(state.wires.get(wire.key, WireLook()), carried=True)
                if not state.cards.get(wire.source, CardLook()).reached:
                    self._reach(state, wire.source)

    def _change(self, state: _State, key: str | None, **what: object) -> None:
        if key is not None:
            state.cards[key] = replace(state.cards.get(key, CardLook()), **what)

    def _reset(self, state: _State, number: int) -> None:
        """Remove gradients; a reset to zeros stays marked, a reset to None at this event only."""
        reset = self.index.tape.resets[number]
        for leaf in reset.leaves:
            key = self._pill(leaf)
            if key is None:
                self._change_inside(state, leaf)
                continue
            mark = "none" if reset.to_none else "zeros"
            self._change(state, key, **_NO_GRADIENT, reset=mark)
            state.active_cards.append(key)
            if reset.to_none:
                state.cleared.append(key)

    def _written(self, state: _State, number: int) -> None:
        """Show the new values of written leaves, unless a drawn op shows them on its card."""
        for change in self.index.tape.writes[number]:
            after = self.index.values[change.after]
            drawn = after.op is not None and self.index.kinds[after.op] == "forward"
            if not drawn and (key := self._pill(change.before)) is not None:
                self._renew(state, key, after.snapshot)
                state.active_cards.append(key)

    def _passed(self, state: _State, number: int) -> None:
        """Show what the steps of a gap changed."""
        gap = self.index.tape.gaps[number]
        for change in gap.changes:
            if (key := self._pill(change.before)) is not None:
                self._renew(state, key, self.index.values[change.after].snapshot)
                state.active_cards.append(key)
        for leaf, grad in gap.gradients:
            if (key := self._pill(leaf)) is not None:
                self._change(state, key, gradient=grad, shares=(), pending=False, reset="")

    def _rewritten(self, state: _State, number: int) -> None:
        """Show gradients that the program changed."""
        for leaf, after in self.index.tape.rewrites[number]:
            key = self._pill(leaf)
            if key is not None:
                self._change(state, key, **{**_NO_GRADIENT, "gradient": after, "reset": ""})
                state.active_cards.append(key)
            else:
                self._change_inside(state, leaf)

    def _change_inside(self, state: _State, leaf: int) -> None:
        """Note that the gradient of a leaf inside a folded card has changed."""
        self._change(state, self.folded.get(self.index.first_version(leaf)), inside=self.at)

    def _pill(self, leaf: int) -> str | None:
        """Return the key of a leaf's own card, if the picture shows it."""
        return self.targets.get((self.index.first_version(leaf), 0))

    def _leaf(self, state: _State, value: int) -> None:
        key = self._pill(value)
        made = self.picture.value_cards.get(value, "")
        if made in self.torch_made:
            self._reach(state, made)
            key = made
        if key is not None:
            self._change(state, key, reached=True, snapshot=self.index.values[value].snapshot)
            state.active_cards = [key]

    def _op(self, state: _State, event: Event) -> None:
        op = self.index.op(event.ref)
        if self.index.kinds[event.ref] == "update":
            self._updated(state, op)
            return
        key = self.picture.value_cards.get(op.outputs[0]) if op.outputs else None
        if key is None:
            return
        wires = tuple(self.op_wires.get(event.ref, ()))
        for wire in wires:
            state.wires[wire] = replace(state.wires.get(wire, WireLook()), carried=True)
            source = self.sources[wire]
            if not state.cards.get(source, CardLook()).reached:
                self._reach(state, source)
        shown = self.cards[key].value
        if shown in op.outputs:
            self._change(state, key, reached=True, snapshot=self.index.values[shown].snapshot)
        if op.inplace:
            self._overwrite(state, key, self.index.values[op.outputs[0]])
        state.active_cards = [key]
        state.active_wires = wires

    def _overwrite(self, state: _State, key: str, made: Value) -> None:
        """Mark the newer version on every other card of the same memory."""
        for other in self.memory.get(made.storage, ()):
            if other != key and other in state.cards:
                self._change(state, other, version=made.version)

    def _reach(self, state: _State, key: str) -> None:
        """Show a source without an event of its own as reached, since its value is used.

        So are the cards of nodes of no op, and what leads to them.
        """
        stack = [key]
        while stack:
            top = stack.pop()
            value = self.cards[top].value
            snapshot = self.index.values[value].snapshot if value is not None else None
            self._change(state, top, reached=True, snapshot=snapshot)
            for wire in self.torch_made.get(top, ()):
                state.wires[wire] = replace(state.wires.get(wire, WireLook()), carried=True)
                if not state.cards.get(self.sources[wire], CardLook()).reached:
                    stack.append(self.sources[wire])

    def _updated(self, state: _State, op: Op) -> None:
        for number in op.outputs:
            value = self.index.values[number]
            owner = self.index.owners.get(value.storage, number)
            key = self._pill(number) or self._pill(owner)
            if key is not None and op.inplace:
                self._renew(state, key, value.snapshot)
                state.active_cards.append(key)

    def _stepped(self, state: _State, number: int) -> None:
        for change in self.index.tape.steps[number].changes:
            key = self._pill(change.before)
            after = self.index.values[change.after]
            if key is not None:
                self._renew(state, key, after.snapshot)
            else:
                key = self.picture.value_cards.get(self.index.first_version(change.before))
                self._change(state, key, changed=True)
            if key is not None:
                state.active_cards.append(key)

    def _renew(self, state: _State, key: str, snapshot: int | None) -> None:
        """Give a leaf a new snapshot, and remember the one before the scene's first update."""
        known = state.cards.get(key, CardLook())
        before = known.before if known.changed else known.snapshot
        self._change(state, key, changed=True, before=before, snapshot=snapshot)

    def _begin(self, state: _State, run: int) -> None:
        """Begin a pass: clear what an earlier pass left on its way, then show the seeds."""
        self._fade(state)
        for execution in self.index.run_executions.get(run, ()):
            node = self.index.tape.executions[execution].node
            key = self.picture.node_cards.get(node)
            if key in state.cards:
                self._change(state, key, **_NO_GRADIENT)
            for edge in self.index.tape.executions[execution].edges:
                sent = self.index.tape.edges[edge]
                wire = self.picture.edge_wires.get((node, sent.slot))
                if wire is not None:
                    state.wires[wire] = WireLook(state.wires.get(wire, WireLook()).carried)
                self._forget_shares(state, sent)
        for edge in self.index.seeds.get(run, ()):
            seed = self.index.tape.edges[edge]
            self._forget_shares(state, seed)
            key = self.targets.get(self.index.target(seed.target, seed.input_nr))
            if key is not None and seed.gradient is not None:
                shown_before = state.cards.get(key, CardLook()).gradient
                shown = seed.gradient if seed.target in self.index.nodes else shown_before
                self._change(state, key, gradient=shown, shares=(seed.gradient,), run=run)
                state.active_cards.append(key)

    def _fade(self, state: _State) -> None:
        """Mark what earlier passes left; a leaf's ``.grad`` is no part of them."""
        for key, card in state.cards.items():
            value = self.cards[key].value
            stored = value is not None and self.index.values[value].node is None
            if card.gradient is not None and not card.past and (card.returned or not stored):
                state.cards[key] = replace(card, past=True)
        for key, wire in state.wires.items():
            if wire.shares and not wire.past:
                state.wires[key] = replace(wire, past=True)

    def _forget_shares(self, state: _State, edge: Edge) -> None:
        """Clear the shares of earlier passes at a target, so that those shown add up."""
        key = self.targets.get(self.index.target(edge.target, edge.input_nr))
        if key is None:
            return
        known = state.cards.get(key, CardLook())
        if edge.target in self.index.nodes:
            self._change(state, key, **_NO_GRADIENT)
        elif known.returned:
            stored = self._stored_gradient(edge.target, edge.run)
            self._change(state, key, **{**_NO_GRADIENT, "gradient": stored})
        else:
            self._change(state, key, shares=())
        for wire in self.leaving.get(key, ()):
            if wire in state.wires and state.wires[wire].shares:
                state.wires[wire] = WireLook(state.wires[wire].carried)

    def _stored_gradient(self, leaf: int, run: int) -> int | None:
        """Return the snapshot of a leaf's ``.grad`` when a pass began."""
        return self.index.gradient(leaf, self.index.passes[run][0]).snapshot

    def _end(self, state: _State, run: int) -> None:
        """Show the gradients that a pass returned at what they belong to."""
        if self.index.tape.passes[run].kind != "grad":
            return
        results = passes.results_at(self.index, run)
        for target, value in results.items():
            key = self.targets.get(target)
            if key is not None:
                got = self.index.values[value].snapshot
                self._change(state, key, gradient=got, pending=False, returned=True, past=False)
        for number in self.index.run_executions.get(run, ()):
            for edge in self.index.tape.executions[number].edges:
                sent = self.index.tape.edges[edge]
                self._drop_unasked(state, sent, results)

    def _drop_unasked(
        self, state: _State, sent: Edge, results: Mapping[tuple[int, int], int]
    ) -> None:
        """Clear a share that autograd dropped, since the leaf's gradient was not asked for."""
        target = self.index.target(sent.target, sent.input_nr)
        if sent.target in self.index.nodes or target in results or target not in self.targets:
            return
        stored = self._stored_gradient(sent.target, sent.run)
        self._change(state, self.targets[target], gradient=stored, shares=(), pending=False)

    def _node(self, state: _State, number: int, at: int) -> None:
        execution = self.index.tape.executions[number]
        key = self.picture.node_cards.get(execution.node)
        if key is not None:
            self._visit(state, key, number)
            shown = self.cards[key].value
            value = self.index.values[shown] if shown is not None else None
            if value is not None and value.node == execution.node:
                nr = value.output_nr
                got = execution.received[nr] if nr < len(execution.received) else None
                self._change(state, key, gradient=got, pending=False)
            elif self.targets.get((execution.node, 0)) == key:
                self._change(state, key, gradient=execution.received[0], pending=False)
            state.active_cards = [key]
        state.active_wires = self.sending.send(
            state.cards, state.wires, state.landing, execution, at
        )

    def _visit(self, state: _State, key: str, number: int) -> None:
        """Count a run of a node of a card."""
        visit, known = self.visits[number], state.cards.get(key, CardLook())
        goes_on = known.ran == visit.run
        self._change(
            state,
            key,
            first_order=known.first_order if goes_on else visit.order,
            last_order=visit.order,
            of=visit.of,
            visits=max(known.visits, visit.visits),
            ran=visit.run,
        )

    def _accumulate(self, state: _State, number: int) -> None:
        added = self.index.tape.accumulations[number]
        key = self._pill(added.leaf)
        if key is None:
            self._change_inside(state, added.leaf)
            hidden = self.picture.value_cards.get(self.index.first_version(added.leaf))
            state.active_cards = [hidden] if hidden is not None else []
            return
        shares = state.cards.get(key, CardLook()).shares
        if len(shares) == 1 and added.sent is not None:
            shares = (added.sent,)  # a hook may have changed it on the way
        before = self.index.snapshot(added.before)
        array = before.array() if before is not None else None
        if added.before is not None and (array is None or array.any()):
            shares = (added.before, *shares)
        self._change(
            state,
            key,
            gradient=added.after,
            shares=shares,
            pending=False,
            returned=False,
            past=False,
            reset="",
            added=self.added[number],
        )
        state.active_cards = [key]


def _added_passes(index: Index) -> list[int]:
    """Return for each accumulation how many passes ``.grad`` has added up with it."""
    counts: dict[int, int] = {}
    found = [0] * len(index.tape.accumulations)
    for event in index.tape.events:
        if event.kind == "accumulate":
            added = index.tape.accumulations[event.ref]
            home = index.first_version(added.leaf)
            counts[home] = 1 + (0 if added.before is None else counts.get(home, 0))
            found[event.ref] = counts[home]
        elif event.kind == "zero_grad":
            for leaf in index.tape.resets[event.ref].leaves:
                counts.pop(index.first_version(leaf), None)
    return found


_NO_GRADIENT: dict[str, object] = {
    "gradient": None,
    "shares": (),
    "pending": False,
    "returned": False,
    "past": False,
    "added": 0,
}

_recent = RecentCache[_Player](6)


def _player(index: Index, picture: Picture, scene: Scene) -> _Player:
    """Return the player of a picture; the latest few are cached, by identity."""
    for player in _recent:
        if player.picture is picture and player.index is index and player.scene == scene:
            return player
    player = _Player(index, picture, scene)
    _recent.add(player, scene.stop - scene.start)
    return player


_CHANGES = {
    "leaf": _Player._leaf,
    "backward": _Player._begin,
    "accumulate": _Player._accumulate,
    "end": _Player._end,
    "zero_grad": _Player._reset,
    "write": _Player._written,
    "gap": _Player._passed,
    "grad": _Player._rewritten,
    "step": _Player._stepped,
}
