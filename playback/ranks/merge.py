"""One tape of all ranks: each rank in a box of its own, its collectives shared with the others.

A collective that all ranks of its group came out of is one op: its inputs are those of all ranks,
and so are its outputs. Between two of them the events of the ranks follow each other in turns,
one pass of each after the other. Ids, indices and positions are counted anew, in the order of the
events.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from gradscribe.engine.protocol.ranks.join import JoinedCollective, join
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import (
    Arg,
    Call,
    Change,
    Collective,
    Event,
    Op,
    Problem,
    Tape,
)
from gradscribe.playback.ranks.failure import first_failure
from gradscribe.playback.translation import tr

TABLES = {
    "enter": "calls",
    "backward": "passes",
    "node": "executions",
    "accumulate": "accumulations",
    "step": "steps",
    "zero_grad": "resets",
    "write": "writes",
    "grad": "rewrites",
    "print": "prints",
}
"""Kinds of events whose order is that of the rows of a table."""
_SAME = {"leave": "calls", "end": "passes"}


def merge(tapes: Sequence[Tape]) -> Tape:
    """Return the tapes of all ranks as one; they are in the order of ranks."""
    return _Merge(tapes).tape()


def rank_name(rank: int) -> str:
    """Return the name of a rank, which is that of its box."""
    return tr("rank {rank}", rank=rank)


class _Shared(Struct):
    """A collective of several ranks, with the place of its op in each: index of the event, op."""

    joined: JoinedCollective
    places: dict[int, int]


class _Merge:
    """Counts everything anew, then rewrites the rows of each rank."""

    def __init__(self, tapes: Sequence[Tape]) -> None:
        self._tapes = tapes
        self._ids: list[dict[int, int]] = [{} for _ in tapes]
        self._ops: list[dict[int, int]] = [{} for _ in tapes]
        self._tables: dict[str, list[dict[int, int]]] = {
            name: [{} for _ in tapes] for name in TABLES.values()
        }
        self._positions: list[list[int]] = [[] for _ in tapes]
        """The new position of each event of a rank."""
        self._events: list[Event] = []
        self._rows: dict[str, list[tuple[int, int]]] = {name: [] for name in TABLES.values()}
        """Rows of each table in their new order: rank and old index."""
        self._op_rows: list[tuple[int, int]] = []
        self._owners: dict[int, JoinedCollective] = {}
        """Shared collectives by the new index of their op."""
        self._next_id = 1
        self._offsets = {
            name: _offsets(len(getattr(tape, name)) for tape in tapes)
            for name in ("snapshots", "edges", "held", "nodes")
        }
        self._queues = [_ids_of(tape) for tape in tapes]
        self._at_id = [0] * len(tapes)
        self._at_op = [0] * len(tapes)
        self._cuts = [_turns(tape) for tape in tapes]

    def tape(self) -> Tape:
        """Return the merged tape."""
        for rank in range(len(self._tapes)):
            # The first rows of the table are the boxes of the ranks.
            self._rows["calls"].append((rank, -1))
        for shared in self._shared():
            self._advance_all(shared.places)
            self._add_shared(shared)
        self._advance_all({rank: len(tape.events) for rank, tape in enumerate(self._tapes)})
        for rank, tape in enumerate(self._tapes):
            self._take_ids(rank, None)
            self._take_ops(rank, len(tape.ops))
        self._take_rest()
        return self._build()

    def _shared(self) -> Iterable[_Shared]:
        """Yield the collectives that several ranks share, where all of them recorded one."""
        events = [
            {event.ref: at for at, event in enumerate(tape.events) if event.kind == "op"}
            for tape in self._tapes
        ]
        for joined in join(self._tapes):
            calls = joined.calls
            places = {
                rank: events[rank][call.op]
                for rank, call in calls.items()
                if call.op is not None and call.op in events[rank]
            }
            if joined.is_message:
                sender = joined.group[0]
                if len(places) == 1 and sender in calls and sender not in places:
                    places[sender] = self._place_of_value(sender, calls[sender].inputs)
            if joined.is_done and len(calls) > 1 and len(places) == len(calls):
                moved = {
                    rank: max(place, len(self._positions[rank])) for rank, place in places.items()
                }
                if all(calls[rank].op is None or moved[rank] == places[rank] for rank in places):
                    yield _Shared(joined, moved)

    def _place_of_value(self, rank: int, ids: Sequence[int]) -> int:
        """Return the number of events until the last of these values is there."""
        tape, wanted = self._tapes[rank], set(ids)
        ops = {value.op for value in tape.values if value.id in wanted}
        found = [
            at + 1
            for at, event in enumerate(tape.events)
            if (event.kind == "op" and event.ref in ops)
            or (event.kind == "leaf" and event.ref in wanted)
        ]
        return max(found, default=0)

    def _advance_all(self, places: Mapping[int, int]) -> None:
        """Take the events of ranks up to these places, in turns: forward, backward, step.

        So a step of all ranks is one scene.
        """
        behind = sorted(rank for rank in places if len(self._positions[rank]) < places[rank])
        while behind:
            for rank in behind:
                at, cuts = len(self._positions[rank]), self._cuts[rank]
                later = bisect_right(cuts, at)
                turn = cuts[later] if later < len(cuts) else places[rank]
                self._advance(rank, min(turn, places[rank]))
            behind = [rank for rank in behind if len(self._positions[rank]) < places[rank]]

    def _advance(self, rank: int, place: int) -> None:
        """Take the events of a rank up to ``place`` (exclusive)."""
        tape, positions = self._tapes[rank], self._positions[rank]
        for event in tape.events[len(positions) : place]:
            positions.append(len(self._events))
            # Of the errors of several ranks one is left, at the end.
            if event.kind != "error":
                self._events.append(replace(event, ref=self._new_ref(rank, event)))

    def _new_ref(self, rank: int, event: Event) -> int:
        kind, ref = event.kind, event.ref
        if kind == "leaf":
            self._take_ids(rank, ref + 1)
            return self._ids[rank].get(ref, 0)
        if kind == "op":
            self._take_ids(rank, max(self._tapes[rank].ops[ref].outputs) + 1)
            self._take_ops(rank, ref + 1)
            return self._ops[rank][ref]
        if kind in TABLES:
            return self._new_row(TABLES[kind], rank, ref)
        if kind in _SAME:
            return self._tables[_SAME[kind]][rank].get(ref, 0)
        return ref

    def _new_row(self, table: str, rank: int, ref: int) -> int:
        known = self._tables[table][rank]
        if ref not in known:
            known[ref] = len(self._rows[table])
            self._rows[table].append((rank, ref))
        return known[ref]

    def _take_ids(self, rank: int, stop: int | None) -> None:
        """Count the ids of a rank below ``stop``, all for None."""
        queue, at = self._queues[rank], self._at_id[rank]
        end = len(queue) if stop is None else bisect_left(queue, stop)
        for old in queue[at:end]:
            self._ids[rank].setdefault(old, self._next_id)
            self._next_id += 1
        self._at_id[rank] = max(at, end)

    def _take_ops(self, rank: int, stop: int) -> None:
        for old in range(self._at_op[rank], stop):
            if old not in self._ops[rank]:
                self._ops[rank][old] = len(self._op_rows)
                self._op_rows.append((rank, old))
        self._at_op[rank] = max(self._at_op[rank], stop)

    def _add_shared(self, shared: _Shared) -> None:
        """Add the op and the event of a collective, after all that goes into it."""
        calls, index = shared.joined.calls, None
        for rank, call in calls.items():
            if call.op is not None:
                self._take_ops(rank, call.op)
                self._take_ids(rank, min(call.outputs))
        for rank in sorted(calls):
            op = calls[rank].op
            if op is None:
                continue
            if index is None:
                index = len(self._op_rows)
                self._op_rows.append((rank, op))
                self._owners[index] = shared.joined
                self._events.append(Event("op", index, calls[rank].place.line))
            self._ops[rank][op] = index
            self._at_op[rank] = op + 1
            self._positions[rank].append(len(self._events) - 1)
            self._take_ids(rank, max(calls[rank].outputs) + 1)

    def _take_rest(self) -> None:
        """Take rows that no event names."""
        for name in self._rows:
            for rank, tape in enumerate(self._tapes):
                for ref in range(len(getattr(tape, name))):
                    self._new_row(name, rank, ref)

    def _build(self) -> Tape:
        tapes = self._tapes
        failed = first_failure(tapes) or 0
        rows: dict[str, Any] = {
            name: tuple(
                _box(rank) if old < 0 else self._row(name, rank, getattr(tapes[rank], name)[old])
                for rank, old in order
            )
            for name, order in self._rows.items()
        }
        ops = tuple(self._op(at, rank, old) for at, (rank, old) in enumerate(self._op_rows))
        lead = tapes[failed]
        return replace(
            tapes[0],
            status=lead.status,
            error=_problem(failed, lead.error),
            stdout="".join(
                f"[{rank_name(r)}]\n{t.stdout}\n" for r, t in enumerate(tapes) if t.stdout
            ),
            stderr="".join(dict.fromkeys(tape.stderr for tape in tapes)),
            snapshots=_chain(tape.snapshots for tape in tapes),
            values=self._each("values"),
            ops=ops,
            nodes=self._each("nodes"),
            edges=self._each("edges"),
            events=(*self._events, *_end(lead)),
            leaves=self._each("leaves"),
            formulas=tuple(dict.fromkeys(_chain(tape.formulas for tape in tapes))),
            times=(),
            held=tuple(
                tuple(number * len(tapes) + rank for number in group)
                for rank, tape in enumerate(tapes)
                for group in tape.held
            ),
            truncated=" ".join(dict.fromkeys(tape.truncated for tape in tapes if tape.truncated)),
            findings=tuple(dict.fromkeys(_chain(tape.findings for tape in tapes))),
            fault=None,
            stuck=None,
            function_checks=(),
            step_loops=(),
            gaps=(),
            number_cuts=(),
            collectives=tuple(
                self._collective(at, joined) for at, joined in sorted(self._owners.items())
            ),
            rank=None,
            **rows,
        )

    def _collective(self, at: int, joined: JoinedCollective) -> Collective:
        inputs, outputs = self._ends(joined)
        return replace(joined.first, op=at, inputs=inputs, outputs=outputs, run=None)

    def _ends(self, joined: JoinedCollective) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the new ids of what all ranks gave in, and of what came out."""
        calls = sorted(joined.calls.items())
        inputs = (self._ids[rank][v] for rank, call in calls for v in call.inputs)
        outputs = (self._ids[rank][v] for rank, call in calls for v in call.outputs)
        return tuple(inputs), tuple(outputs)

    def _each(self, name: str) -> tuple[Any, ...]:
        return tuple(
            self._row(name, rank, row)
            for rank, tape in enumerate(self._tapes)
            for row in getattr(tape, name)
        )

    def _op(self, at: int, rank: int, old: int) -> Op:
        row: Op = self._row("ops", rank, self._tapes[rank].ops[old])
        joined = self._owners.get(at)
        if joined is None:
            return row
        inputs, outputs = self._ends(joined)
        literals = [arg for arg in row.args if arg.value is None]
        name = "send" if joined.is_message else row.op
        args = (*(Arg(value=number) for number in inputs), *literals)
        return replace(
            row,
            op=name,
            inputs=inputs,
            outputs=outputs,
            args=args,
            call=None,
            scope="",
        )

    def _row(self, name: str, rank: int, row: Any) -> Any:  # noqa: ANN401
        return _REWRITERS[name](_Map(self, rank), row) if name in _REWRITERS else row


class _Map:
    """New ids, indices and positions of one rank."""

    def __init__(self, merge: _Merge, rank: int) -> None:
        self._merge, self.rank = merge, rank
        self._ids = merge._ids[rank]

    def id(self, old: int) -> int:
        """Return the new id of a value, a node or a repeated run of one."""
        return self._ids[old]

    def maybe(self, old: int | None) -> int | None:
        """Return a new id, None for None."""
        return None if old is None else self._ids[old]

    def ids(self, old: Iterable[int]) -> tuple[int, ...]:
        """Return new ids."""
        return tuple(self._ids[number] for number in old)

    def shot(self, old: int | None) -> int | None:
        """Return the new index of a snapshot."""
        return None if old is None else old + self._merge._offsets["snapshots"][self.rank]

    def edge(self, old: int) -> int:
        """Return the new index of an edge."""
        return old + self._merge._offsets["edges"][self.rank]

    def op(self, old: int | None) -> int | None:
        """Return the new index of an op."""
        return None if old is None else self._merge._ops[self.rank][old]

    def ref(self, table: str, old: int | None) -> int | None:
        """Return the new index of a row."""
        return None if old is None else self._merge._tables[table][self.rank][old]

    def call(self, old: int | None) -> int:
        """Return the new index of a module call; the rank's box for none."""
        found = self.ref("calls", old)
        return self.rank if found is None else found

    def position(self, old: int | None) -> int | None:
        """Return the new position of an event."""
        if old is None:
            return None
        known = self._merge._positions[self.rank]
        return known[old] if old < len(known) else len(self._merge._events)

    def change(self, old: Change) -> Change:
        """Return a change of the new values."""
        return Change(self.id(old.before), self.id(old.after))

    def label(self, name: str) -> str:
        """Return the name of a value or a module, with its rank."""
        return f"{name} [{self.rank}]" if name else ""

    def target(self, old: tuple[int, int] | None) -> tuple[int, int] | None:
        """Return the new end of an edge."""
        return None if old is None else (self.id(old[0]), old[1])


def _pass(m: _Map, row: Any) -> Any:  # noqa: ANN401
    return replace(
        row,
        roots=tuple(map(m.maybe, row.roots)),
        seeds=tuple(map(m.shot, row.seeds)),
        inputs=tuple(map(m.target, row.inputs)),
        results=tuple(map(m.maybe, row.results)),
    )


def _value(m: _Map, row: Any) -> Any:  # noqa: ANN401
    world = len(m._merge._tapes)
    return replace(
        row,
        id=m.id(row.id),
        name=m.label(row.name),
        snapshot=m.shot(row.snapshot),
        tensor=row.tensor * world + m.rank,
        storage=row.storage * world + m.rank if row.storage >= 0 else -1,
        base=m.maybe(row.base),
        op=m.op(row.op),
        node=m.maybe(row.node),
    )


def _node(m: _Map, row: Any) -> Any:  # noqa: ANN401
    world = len(m._merge._tapes)
    kept = tuple(
        replace(
            one,
            value=m.maybe(one.value),
            storage=one.storage * world + m.rank if one.storage >= 0 else -1,
        )
        for one in row.kept
    )
    return replace(
        row,
        id=m.id(row.id),
        op=m.op(row.op),
        next=tuple(map(m.target, row.next)),
        kept=kept,
        made=m.position(row.made),
        freed=m.position(row.freed),
    )


_REWRITERS: dict[str, Callable[[_Map, Any], Any]] = {
    "values": _value,
    "nodes": _node,
    "passes": _pass,
    "ops": lambda m, row: replace(
        row,
        id=m.id(row.id),
        inputs=m.ids(row.inputs),
        outputs=m.ids(row.outputs),
        args=tuple(replace(arg, value=m.maybe(arg.value)) for arg in row.args),
        call=m.call(row.call),
        scope=f"{rank_name(m.rank)}{'.' if row.scope else ''}{row.scope}",
        node=m.maybe(row.node),
        nodes=m.ids(row.nodes),
    ),
    "calls": lambda m, row: replace(
        row,
        id=m.ref("calls", row.id),
        name=f"{rank_name(m.rank)}.{row.name}",
        parent=m.call(row.parent),
        module=row.module * len(m._merge._tapes) + m.rank,
    ),
    "edges": lambda m, row: replace(
        row,
        execution=m.ref("executions", row.execution),
        target=m.id(row.target),
        gradient=m.shot(row.gradient),
        run=m.ref("passes", row.run),
    ),
    "executions": lambda m, row: replace(
        row,
        id=m.id(row.id),
        node=m.id(row.node),
        run=m.ref("passes", row.run),
        received=tuple(map(m.shot, row.received)),
        edges=tuple(map(m.edge, row.edges)),
    ),
    "accumulations": lambda m, row: replace(
        row,
        leaf=m.id(row.leaf),
        before=m.shot(row.before),
        sent=m.shot(row.sent),
        after=m.shot(row.after),
        run=m.ref("passes", row.run),
    ),
    "steps": lambda m, row: replace(
        row,
        changes=tuple(map(m.change, row.changes)),
        held=row.held + m._merge._offsets["held"][m.rank] if row.held >= 0 else -1,
        memory=tuple((m.id(value), name, m.shot(kept)) for value, name, kept in row.memory),
    ),
    "resets": lambda m, row: replace(row, leaves=m.ids(row.leaves)),
    "writes": lambda m, row: tuple(map(m.change, row)),
    "rewrites": lambda m, row: tuple((m.id(leaf), m.shot(kept)) for leaf, kept in row),
    "leaves": lambda m, row: replace(
        row, name=m.label(row.name), value=m.id(row.value), grad=m.shot(row.grad)
    ),
}
"""For each kind of row, the row with new ids, indices and positions."""


def _ids_of(tape: Tape) -> list[int]:
    """Return all ids of a tape, ascending."""
    found = {value.id for value in tape.values}
    found.update(op.id for op in tape.ops)
    found.update(node.id for node in tape.nodes)
    found.update(run.id for run in tape.executions)
    return sorted(found)


def _turns(tape: Tape) -> list[int]:
    """Return the places before and after each step and each pass that is inside of no other."""
    found, depth = list[int](), 0
    for at, event in enumerate(tape.events):
        if event.kind == "backward":
            found += [at] if depth == 0 else []
            depth += 1
        elif event.kind == "end":
            depth -= 1
            found += [at + 1] if depth == 0 else []
        elif event.kind == "step":
            found += [at, at + 1]
    return found


def _offsets(counts: Iterable[int]) -> list[int]:
    found, total = [], 0
    for count in counts:
        found.append(total)
        total += count
    return found


def _chain(parts: Iterable[Iterable[Any]]) -> tuple[Any, ...]:
    return tuple(item for part in parts for item in part)


def _box(rank: int) -> Call:
    return Call(rank, rank_name(rank), tr("Rank"), None, -1 - rank, True, 0)


def _problem(rank: int, error: Problem | None) -> Problem | None:
    if error is None or error.message.lower().startswith(rank_name(rank)):
        return error
    return replace(error, message=f"{rank_name(rank)}: {error.message}")


def _end(tape: Tape) -> Iterable[Event]:
    """Yield the error that ends a tape, if one does."""
    if tape.status != "ok":
        line = tape.error.place.line if tape.error is not None else 0
        yield Event("error", 0, line)
