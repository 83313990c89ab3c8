"""Causes of gradients that differ: backward passes of two runs are followed side by side."""

from functools import cached_property

from gradscribe.engine.protocol.tape import Accumulation, Execution
from gradscribe.playback.compare.differences import Difference, words
from gradscribe.playback.compare.ledger import CauseLedger, GradientKey, Side, earliest
from gradscribe.playback.translation import tr

_Key = tuple[float, int, int, str]
"""Place in the order of both runs, place in its stretch, number among the op's nodes, side."""


class GradientTracer:
    """Carry causes along the edges of backward passes, and account for the gradients."""

    def __init__(self, left: Side, right: Side, ledger: CauseLedger) -> None:
        self.left, self.right, self._ledger = left, right, ledger
        self._own: set[int] = set()
        """Values on the left whose gradient is a cause by itself."""

    # Passes

    def run(self, one: int, other: int, lines: tuple[int, int]) -> None:
        """Follow two corresponding passes."""
        pushed: dict[str, dict[GradientKey, int]] = {"left": {}, "right": {}}
        self._push_seeds(one, other, lines, pushed)
        for a, b in self._executions(one, other):
            self._node(a, b, pushed)
        self._leaves(one, other, pushed)

    def run_alone(self, side: Side, run: int, cause: int) -> None:
        """Account for a pass that only one run has."""
        for number in side.index.run_executions.get(run, ()):
            execution = side.index.tape.executions[number]
            for nr in range(len(execution.received)):
                side.gradients[execution.node, nr] = cause
        for leaf in self._accumulations(side, run):
            self._taint_leaf(side, leaf, cause)

    def _push_seeds(
        self,
        one: int,
        other: int,
        lines: tuple[int, int],
        pushed: dict[str, dict[GradientKey, int]],
    ) -> None:
        """Compare where the passes begin, and push the cause where that differs."""
        seeds = [side.index.seeds.get(run, []) for side, run in self._both(one, other)]
        for a, b in zip(*seeds, strict=False):
            edges = self.left.index.tape.edges[a], self.right.index.tape.edges[b]
            apart = words(
                self.left.index.snapshot(edges[0].gradient),
                self.right.index.snapshot(edges[1].gradient),
            )
            cause = self._seed_cause(one, other)
            if apart and cause is None:
                text = tr("backward starts from another gradient ({apart})", apart=apart)
                roots = [side.index.tape.passes[n].roots for side, n in self._both(one, other)]
                x, y = (found[0] if found else None for found in roots)
                name = self.left.name(x) if x is not None else "backward"
                difference = Difference("gradient", name, apart, x, y)
                if x is not None:
                    self._own.add(x)
                cause = self._ledger.add(("seed", lines), text, lines, "", [difference])
            if apart and cause is not None:
                for key, side, edge in zip(pushed, (self.left, self.right), edges, strict=True):
                    pushed[key][side.index.target(edge.target, edge.input_nr)] = cause

    def _seed_cause(self, one: int, other: int) -> int | None:
        found = []
        for side, run in self._both(one, other):
            begun = side.index.tape.passes[run]
            values = (*begun.seeds, *begun.roots)
            found += [side.values.get(value) for value in values if value is not None]
        return earliest(*found)

    def _executions(self, one: int, other: int) -> list[tuple[Execution | None, Execution | None]]:
        """Return the executions of both passes, those of matched nodes in pairs, last ops first."""
        pairs: dict[_Key, list[Execution | None]] = {}
        orders: dict[_Key, tuple[float, int, int]] = {}
        for n, (side, run) in enumerate(self._both(one, other)):
            for order, number in enumerate(side.index.run_executions.get(run, ())):
                execution = side.index.tape.executions[number]
                key = self._key(side, execution)
                pairs.setdefault(key, [None, None])[n] = execution
                # The nodes of an op run in their own order, the ops in reverse.
                orders.setdefault(key, (-key[0], -key[1], order))
        return [(pairs[key][0], pairs[key][1]) for key in sorted(pairs, key=orders.__getitem__)]

    def _key(self, side: Side, execution: Execution) -> _Key:
        index = side.index
        op = index.node_ops.get(execution.node)
        name = "left" if side is self.left else "right"
        if op is None or op not in side.order:
            # Nodes made by a backward pass run before those of the forward code.
            return float("inf"), execution.node, 0, name
        made = index.op(op)
        nodes = made.nodes or (made.node,)
        number = nodes.index(execution.node) if execution.node in nodes else len(nodes)
        place = side.order[op]
        return place[0], place[1], number, "" if op in side.op_partners else name

    def _node(
        self,
        a: Execution | None,
        b: Execution | None,
        pushed: dict[str, dict[GradientKey, int]],
    ) -> None:
        """Compare what a node received, and push its cause along its edges."""
        sides = [
            (name, side, execution)
            for name, side, execution in (("left", self.left, a), ("right", self.right, b))
            if execution is not None
        ]
        cause = earliest(
            *(
                pushed[name].get((execution.node, nr))
                for name, _, execution in sides
                for nr in range(len(execution.received))
            )
        )
        if a is not None and b is not None:
            cause = self._received(a, b, cause)
        for _, side, execution in sides:
            for nr in range(len(execution.received)):
                _set(side.gradients, (execution.node, nr), cause)
        ops = [(side, side.index.node_ops.get(execution.node)) for _, side, execution in sides]
        passed_on = earliest(cause, *(side.ops.get(op) for side, op in ops if op is not None))
        if passed_on is None:
            return
        for name, side, execution in sides:
            for number in execution.edges:
                edge = side.index.tape.edges[number]
                key = side.index.target(edge.target, edge.input_nr)
                pushed[name][key] = min(passed_on, pushed[name].get(key, passed_on))

    def _received(self, a: Execution, b: Execution, cause: int | None) -> int | None:
        """Return the cause why two nodes received different gradients; None if they did not."""
        apart = ""
        for x, y in zip(a.received, b.received, strict=False):
            apart = apart or words(self.left.index.snapshot(x), self.right.index.snapshot(y))
        if not apart:
            return None
        return cause if cause is not None else self._own_gradient(a, b, apart)

    def _own_gradient(self, a: Execution, b: Execution, apart: str) -> int | None:
        numbers = self.left.index.node_ops.get(a.node), self.right.index.node_ops.get(b.node)
        if numbers[0] is None or numbers[1] is None:
            return None
        ops = self.left.index.op(numbers[0]), self.right.index.op(numbers[1])
        values = [op.outputs[0] if op.outputs else None for op in ops]
        name = self.left.name(values[0]) if values[0] is not None else ops[0].op
        difference = Difference("gradient", name, apart, values[0], values[1])
        if values[0] is not None:
            self._own.add(values[0])
        lines = ops[0].place.line, ops[1].place.line
        text = tr(
            "the gradient of {name} {apart}, nothing before it differs", name=name, apart=apart
        )
        return self._ledger.add(
            ("gradient", ops[0].op, lines), text, lines, ops[0].scope, [difference]
        )

    # Leaves

    def _leaves(self, one: int, other: int, pushed: dict[str, dict[GradientKey, int]]) -> None:
        """Account for the gradients that a pass added to leaves."""
        here, there = self._accumulations(self.left, one), self._accumulations(self.right, other)
        for a, added in here.items():
            b = self.left.partners.get(a)
            cause = earliest(
                pushed["left"].get((a, 0)),
                pushed["right"].get((b, 0)) if b is not None else None,
                self.left.gradients.get((a, 0)),
            )
            if b is None or b not in there:
                self._taint_leaf(self.left, a, earliest(cause, self.left.values.get(a)))
                continue
            after = self.left.index.snapshot(added.after), self.right.index.snapshot(there[b].after)
            apart = words(*after)
            if apart and cause is None:
                cause = self._own_leaf(a, b, apart)
            self._set_leaf(a, b, cause if apart else None)
        for b in there:
            a_or_none = self.right.partners.get(b)
            if a_or_none is None or a_or_none not in here:
                cause = earliest(pushed["right"].get((b, 0)), self.right.values.get(b))
                self._taint_leaf(self.right, b, cause)

    def _own_leaf(self, a: int, b: int, apart: str) -> int:
        name = self.left.name(a)
        values = self.left.index.values[a], self.right.index.values[b]
        lines = values[0].place.line, values[1].place.line
        self._own.add(a)
        text = tr(
            "the gradient of {name} {apart}, nothing before it differs", name=name, apart=apart
        )
        difference = Difference("gradient", name, apart, a, b)
        return self._ledger.add(("gradient", lines), text, lines, "", [difference])

    def _accumulations(self, side: Side, run: int) -> dict[int, Accumulation]:
        """Return the last addition of a pass to each leaf, by its first version."""
        return self._by_run["left" if side is self.left else "right"].get(run, {})

    @cached_property
    def _by_run(self) -> dict[str, dict[int, dict[int, Accumulation]]]:
        found: dict[str, dict[int, dict[int, Accumulation]]] = {}
        for name, side in (("left", self.left), ("right", self.right)):
            runs: dict[int, dict[int, Accumulation]] = {}
            for added in side.index.tape.accumulations:
                leaf = side.index.first_version(added.leaf)
                runs.setdefault(added.run, {})[leaf] = added
            found[name] = runs
        return found

    def _set_leaf(self, a: int, b: int, cause: int | None) -> None:
        _set(self.left.gradients, (a, 0), cause)
        _set(self.right.gradients, (b, 0), cause)

    def _taint_leaf(self, side: Side, leaf: int, cause: int | None) -> None:
        """Give a leaf's gradient a cause on both sides, unless it has an earlier cause."""
        other = self.right if side is self.left else self.left
        partner = side.partners.get(leaf)
        for at, key in ((side, leaf), (other, partner)):
            if key is not None and cause is not None:
                at.gradients[key, 0] = min(cause, at.gradients.get((key, 0), cause))

    # Resets and changes by hand

    def reset(self, one: int, other: int) -> None:
        """Account for two corresponding resets: what both reset is the same again."""
        here = {self.left.index.first_version(v) for v in self.left.index.tape.resets[one].leaves}
        there = self.right.index.tape.resets[other].leaves
        others = {self.right.index.first_version(v) for v in there}
        for a in here:
            b = self.left.partners.get(a)
            if b in others and b is not None:
                self._set_leaf(a, b, None)

    def reset_alone(self, side: Side, ref: int, cause: int) -> None:
        """Account for a reset that only one run has."""
        for leaf in side.index.tape.resets[ref].leaves:
            self._taint_leaf(side, side.index.first_version(leaf), cause)

    def write(self, side: Side, value: int, cause: int) -> None:
        """Account for a ``.grad`` that was changed in place."""
        leaf = self.leaf_of(side, value)
        if leaf is not None:
            self._taint_leaf(side, leaf, cause)

    def leaf_of(self, side: Side, grad: int) -> int | None:
        """Return the leaf (first version) of a ``.grad`` value; None if unknown."""
        name = side.index.values[grad].name.removesuffix(".grad")
        return side.leaves_by_name.get(name)

    # The gradients at the end

    def list_all(self) -> None:
        """Account for the gradients that values and leaves have at the end of both runs."""
        ends = len(self.left.index.tape.events), len(self.right.index.tape.events)
        for a, b in self.left.partners.items():
            made = self.left.index.values[a]
            later = made.op is None and self.left.index.first_version(a) != a
            if later or made.maker == ".grad" or a in self._own:
                continue
            states = self.left.index.gradient(a, ends[0]), self.right.index.gradient(b, ends[1])
            apart = words(
                self.left.index.snapshot(states[0].snapshot),
                self.right.index.snapshot(states[1].snapshot),
            )
            if not apart:
                continue
            cause = self._final_cause(a, b)
            if cause is None:
                self._own_leaf(a, b, apart)
            else:
                difference = Difference("gradient", self.left.name(a), apart, a, b)
                self._ledger.follow(cause, difference)

    def _final_cause(self, a: int, b: int) -> int | None:
        found = [
            side.gradients.get(side.gradient_key(value))
            for side, value in ((self.left, a), (self.right, b))
        ]
        if (cause := earliest(*found)) is not None:
            return cause
        ops = self.left.index.values[a].op, self.right.index.values[b].op
        return earliest(
            self.left.values.get(a),
            self.left.ops.get(ops[0]) if ops[0] is not None else None,
            self.right.ops.get(ops[1]) if ops[1] is not None else None,
            0 if len(self._ledger) else None,
        )

    def _both(self, one: int, other: int) -> tuple[tuple[Side, int], tuple[Side, int]]:
        return (self.left, one), (self.right, other)


def _set(causes: dict[GradientKey, int], key: GradientKey, cause: int | None) -> None:
    if cause is None:
        causes.pop(key, None)
    else:
        causes[key] = cause
