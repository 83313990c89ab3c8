"""Causes of the differences between two runs: both are followed, in order of execution.

An action is a cause if it differs from its counterpart by itself (another op, another argument,
another result from the same inputs), or has none. A value differs because of its inputs, a gradient
because of what arrived or because of the values that its backward node saved; each carries the
earliest cause that reaches it.
"""

from collections.abc import Callable
from itertools import groupby
from typing import Literal

from gradscribe.engine.protocol.tape import Op
from gradscribe.playback.compare.alignment import Action, Block
from gradscribe.playback.compare.backward import GradientTracer
from gradscribe.playback.compare.differences import Difference, Kind, words
from gradscribe.playback.compare.ledger import CauseLedger, Side, earliest
from gradscribe.playback.compare.settings import changed_setting, step_setting
from gradscribe.playback.tape.index import Index
from gradscribe.playback.translation import tr

MOST_NAMED = 3
"""Most ops of a stretch that are named."""
BLOCKS_PER_REPORT = 100


class CauseTracer:
    """Follow two aligned runs and account for every difference."""

    def __init__(self, left: Side, right: Side, leaves: list[tuple[int, int]]) -> None:
        self.left, self.right = left, right
        self.ledger = CauseLedger()
        self._gradients = GradientTracer(left, right, self.ledger)
        self._waiting = sorted(leaves, key=lambda pair: -left.index.created_at.get(pair[0], -1))
        self._seen: dict[tuple[str, int, str], int | None] = {}
        """Name, line and module of actions that both runs have done -> cause of the latest."""
        self._updated: dict[int, tuple[int, Difference]] = {}
        """Leaf -> cause and difference of what the latest optimizer step made of it."""
        self._last: Block | None = None
        """The last block."""
        self._failed: int | None = None
        """Cause of a failure for which the other run alone went on."""

    def trace(self, blocks: list[Block], report: Callable[[float], object]) -> None:
        """Follow the runs to their ends; ``report`` gets the share of blocks done."""
        self._number(blocks)
        self._last = blocks[-1] if blocks else None
        failing = self._failing_side()
        for n, block in enumerate(blocks):
            if n % BLOCKS_PER_REPORT == 0:
                report(n / len(blocks))
            if block.left:
                self._create_leaves(block.left[0].at)
            if failing and block is self._last and not getattr(block, failing):
                self._create_leaves(None)
                self._failed = self._fail()
                failing = None
            if block.is_pair:
                self._pair(block.left[0], block.right[0])
            else:
                self._changed(block)
        self._create_leaves(None)
        if self._failed is None and failure(self.left.index) != failure(self.right.index):
            self._fail()
        # Of the many steps the last one counts.
        for cause, difference in self._updated.values():
            self.ledger.follow(cause, difference)
        self._gradients.list_all()

    def _number(self, blocks: list[Block]) -> None:
        for place, block in enumerate(blocks):
            for side, found in ((self.left, block.left), (self.right, block.right)):
                for n, action in enumerate(found):
                    if action.kind == "op":
                        side.order[action.ref] = place, n
            if block.is_pair and block.left[0].kind == "op":
                one, other = block.left[0].ref, block.right[0].ref
                self.left.op_partners[one] = other
                self.right.op_partners[other] = one

    # Leaves and later versions of them

    def _create_leaves(self, before: int | None) -> None:
        """Compare the leaves that came into being before an event of the left run."""
        created_at = self.left.index.created_at
        while self._waiting and (
            before is None or created_at.get(self._waiting[-1][0], -1) < before
        ):
            self._leaf(*self._waiting.pop())

    def _leaf(self, a: int, b: int) -> None:
        if a in self.left.partners or b in self.right.partners:
            return
        self._link(a, b)
        one, other = self.left.index.values[a], self.right.index.values[b]
        apart = words(self.left.snapshot(a), self.right.snapshot(b))
        if not apart and one.requires_grad != other.requires_grad:
            apart = tr(
                "requires_grad {requires_grad} → {requires_grad_2}",
                requires_grad=one.requires_grad,
                requires_grad_2=other.requires_grad,
            )
        if not apart:
            return
        cause = self._reason_of_version(a, b)
        name = self.left.name(a)
        difference = Difference("value", name, apart, a, b)
        if cause is None:
            lines = one.place.line, other.place.line
            renamed = f" → {other.name}" if other.name and other.name != one.name else ""
            key = ("leaf", one.role, one.maker, lines)
            cause = self.ledger.add_leaf(key, f"{name}{renamed} {apart}", lines, difference)
        else:
            self.ledger.follow(cause, difference)
        self._mark(cause, a, b)

    def _reason_of_version(self, a: int, b: int) -> int | None:
        """Return the cause for numbers that were written later; None for a new leaf."""
        one = self.left.index.values[a]
        first = self.left.index.first_version(a)
        if one.maker == ".grad":
            leaf = self._gradients.leaf_of(self.left, a)
            cause = self.left.gradients.get((leaf, 0)) if leaf is not None else None
            return cause if cause is not None or not len(self.ledger) else 0
        if first == a:
            return None
        written = (
            self.left.storages.get(one.storage),
            self.right.storages.get(self.right.index.values[b].storage),
        )
        return earliest(*written, self.left.gradients.get((first, 0)), self.left.values.get(first))

    # Actions

    def _pair(self, a: Action, b: Action) -> None:
        if a.kind == "op":
            self._op(a, b)
        elif a.kind == "backward":
            self._gradients.run(a.ref, b.ref, (a.line, b.line))
        elif a.kind == "step":
            self._step(a, b)
        else:
            self._gradients.reset(a.ref, b.ref)
        for side, action in ((self.left, a), (self.right, b)):
            cause = side.ops.get(action.ref) if action.kind == "op" else None
            self._seen[action.name, action.line, action.token[2]] = cause

    def _op(self, a: Action, b: Action) -> None:
        one, other = self.left.index.op(a.ref), self.right.index.op(b.ref)
        reason = self._inputs(one, other)
        setting = changed_setting(self.left, self.right, one, other)
        if setting is not None and setting.computed and len(self.ledger):
            reason, setting = (0 if reason is None else reason), None
        apart = [
            (x, y, words(self.left.snapshot(x), self.right.snapshot(y)))
            for x, y in zip(one.outputs, other.outputs, strict=False)
        ]
        for x, y, _ in apart:
            self._link(x, y)
        if setting is not None:
            first = one.outputs[0] if one.outputs else None
            second = other.outputs[0] if other.outputs else None
            own = Difference("setting", self._name_of(first, one), setting.words, first, second)
            lines = a.line, b.line
            # All that runs under another gradient mode does so for the same reason.
            key = setting.kind if setting.kind == "grad mode" else (setting.kind, one.op, lines)
            cause = self.ledger.add(key, setting.words, lines, one.scope, [own])
            self._mark_rest(one, other, cause)
            self._carry(a, b, cause, [pair for pair in apart if pair[2]], listed=True)
            return
        differing = [pair for pair in apart if pair[2]]
        if differing and reason is None:
            x, y, text = differing[0]
            own = Difference("value", self.left.name(x), text, x, y)
            shown = tr(
                "{op} gives other numbers from the same inputs ({text})", op=one.op, text=text
            )
            lines = a.line, b.line
            cause = self.ledger.add(("value", one.op, lines), shown, lines, one.scope, [own])
            self._carry(a, b, cause, differing, listed=False)
        else:
            self._carry(a, b, reason, differing, listed=True)

    def _mark_rest(self, one: Op, other: Op, cause: int) -> None:
        """Give the results that only one of two calls has its cause."""
        count = min(len(one.outputs), len(other.outputs))
        for side, outputs in ((self.left, one.outputs), (self.right, other.outputs)):
            side.values.update(dict.fromkeys(outputs[count:], cause))

    def _carry(
        self,
        a: Action,
        b: Action,
        cause: int | None,
        differing: list[tuple[int, int, str]],
        *,
        listed: bool,
    ) -> None:
        """Mark ops and their differing results with a cause; list the results if ``listed``."""
        for side, number in ((self.left, a.ref), (self.right, b.ref)):
            op = side.index.op(number)
            if cause is not None:
                side.ops[number] = cause
            for made in op.outputs if op.inplace else ():
                value = side.index.values[made]
                side.storages[value.storage] = cause if differing else None
                if value.maker == ".grad" and differing and cause is not None:
                    self._gradients.write(side, made, cause)
        for x, y, text in differing:
            assert cause is not None
            self._mark(cause, x, y)
            if listed:
                self.ledger.follow(cause, Difference("value", self.left.name(x), text, x, y))

    def _inputs(self, one: Op, other: Op) -> int | None:
        """Link inputs that come from outside, and return the earliest cause among all inputs."""
        causes: list[int | None] = []
        for x, y in zip(one.inputs, other.inputs, strict=False):
            if x not in self.left.partners and y not in self.right.partners:
                made = self.left.index.values[x].op, self.right.index.values[y].op
                if made == (None, None):
                    self._leaf(x, y)
            elif self.left.partners.get(x) != y:
                causes.append(self._other_version(x, y))
            causes += [self.left.values.get(x), self.right.values.get(y)]
        return earliest(*causes)

    def _other_version(self, x: int, y: int) -> int | None:
        """Return the cause why two versions of a leaf that was updated on one side differ."""
        homes = self.left.index.first_version(x), self.right.index.first_version(y)
        if self.left.partners.get(homes[0]) != homes[1]:
            return None
        if not words(self.left.snapshot(x), self.right.snapshot(y)):
            return None
        found = self._reason_of_version(x, y)
        return found if found is not None or not len(self.ledger) else 0

    def _step(self, a: Action, b: Action) -> None:
        """Compare an optimizer's step: its settings, then the parameters that it changed."""
        one, other = self.left.index.tape.steps[a.ref], self.right.index.tape.steps[b.ref]
        own = step_setting(one, other)
        cause = None
        if own:
            place = one.changes[0].after if one.changes else None
            there = other.changes[0].after if other.changes else None
            difference = Difference("setting", one.optimizer, own, place, there)
            lines = a.line, b.line
            cause = self.ledger.add((tr("step setting"), lines), own, lines, "", [difference])
        for x, y in zip(one.changes, other.changes, strict=False):
            self._link(x.after, y.after)
            apart = words(self.left.snapshot(x.after), self.right.snapshot(y.after))
            home = self.left.index.first_version(x.before)
            if not apart:
                self._updated.pop(home, None)
                continue
            reason = earliest(
                cause, self.left.values.get(x.before), self.left.gradients.get((home, 0))
            )
            if reason is None:
                name = self.left.name(x.after)
                difference = Difference("value", name, apart, x.after, y.after)
                text = tr(
                    "{optimizer} changes {name} differently, from the same gradient",
                    optimizer=one.optimizer,
                    name=name,
                )
                lines = (a.line, b.line)
                reason = self.ledger.add(("step", lines), text, lines, "", [difference])
            else:
                difference = Difference("value", self.left.name(x.after), apart, x.after, y.after)
                self._updated[home] = reason, difference
            self._mark(reason, x.after, y.after)

    # Stretches without a counterpart

    def _changed(self, block: Block) -> None:
        """Account for actions that one run has, or that stand in another's place."""
        reason = self._failed if block is self._last else None
        reason = self._repeated(block) if reason is None else reason
        text = _stretch_words(block)
        alone = [
            difference
            for kind, side, found in self._both(block)
            for action in found
            for difference in self._alone(kind, side, action)
        ]
        ends = self._ends(block)
        if ends is not None and ends[0] is not None and ends[1] is not None:
            # The two last results take each other's place.
            alone = [one for one in alone if one.left != ends[0] and one.right != ends[1]]
            name = self.left.name(ends[0])
            alone.insert(0, Difference("op", name, text, ends[0], ends[1]))
        if reason is None:
            first = (*block.left, *block.right)[0]
            lines = tuple(found[0].line if found else 0 for found in (block.left, block.right))
            both = lines[0], lines[1]
            cause = self.ledger.add(("stretch", text, both), text, both, first.token[2], alone)
        else:
            cause = reason
            for difference in alone:
                self.ledger.follow(cause, difference)
        for _, side, found in self._both(block):
            for action in found:
                self._mark_action(side, action, cause)
        if ends is not None and ends[0] is not None and ends[1] is not None:
            self._replace(ends[0], ends[1], cause)

    def _both(
        self, block: Block
    ) -> list[tuple[Literal["left", "right"], Side, tuple[Action, ...]]]:
        return [("left", self.left, block.left), ("right", self.right, block.right)]

    def _repeated(self, block: Block) -> int | None:
        """Return the cause for which a loop that both runs have ran more rounds on one side.

        None if the stretch is no repetition or nothing differed before.
        """
        if block.left and block.right:
            return None
        side, found = (self.left, block.left) if block.left else (self.right, block.right)
        keys = [(x.name, x.line, x.token[2]) for x in found]
        if not all(key in self._seen for key in keys):
            return None
        inputs = [i for x in found if x.kind == "op" for i in side.index.op(x.ref).inputs]
        causes = [side.values.get(value) for value in inputs]
        return earliest(*causes, *(self._seen[key] for key in keys))

    def _alone(self, kind: Kind, side: Side, action: Action) -> list[Difference]:
        """Return an action without a counterpart as a difference."""
        line = tr("line {line}", line=action.line) if action.line else ""
        value, name = None, action.name
        if action.kind == "op":
            op = side.index.op(action.ref)
            if not op.outputs:
                return []
            value = op.outputs[0]
            name = side.name(value)
        text = " · ".join(filter(None, (action.name if action.name not in name else "", line)))
        left, right = (value, None) if kind == "left" else (None, value)
        return [Difference(kind, name, text, left, right)]

    def _ends(self, block: Block) -> tuple[int | None, int | None] | None:
        """Return the results of the last ops of both sides of a stretch; None if one has none."""
        ends = []
        for _, side, found in self._both(block):
            ops = [side.index.op(action.ref) for action in found if action.kind == "op"]
            if not ops:
                return None
            ends.append(ops[-1].outputs[0] if ops[-1].outputs else None)
        return ends[0], ends[1]

    def _mark_action(self, side: Side, action: Action, cause: int) -> None:
        if action.kind == "op":
            op = side.index.op(action.ref)
            side.ops[action.ref] = cause
            for made in op.outputs:
                side.values[made] = cause
                if op.inplace:
                    side.storages[side.index.values[made].storage] = cause
        elif action.kind == "step":
            for change in side.index.tape.steps[action.ref].changes:
                side.values[change.after] = cause
        elif action.kind == "backward":
            self._gradients.run_alone(side, action.ref, cause)
        else:
            self._gradients.reset_alone(side, action.ref, cause)

    def _replace(self, a: int, b: int, cause: int) -> None:
        """Link two results that take each other's place; equal numbers stop the cause there."""
        self._link(a, b)
        apart = words(self.left.snapshot(a), self.right.snapshot(b))
        if apart:
            self.ledger.follow(cause, Difference("value", self.left.name(a), apart, a, b))
        else:
            self.left.values.pop(a, None)
            self.right.values.pop(b, None)

    # Failures

    def _failing_side(self) -> Literal["left", "right"] | None:
        """Return the side that alone failed; None if none or both did."""
        failed = [bool(failure(side.index)[1]) for side in (self.left, self.right)]
        return ("left" if failed[0] else "right") if failed[0] != failed[1] else None

    def _fail(self) -> int:
        """Account for the failure of each side that failed; return the cause of the last."""
        cause: int | None = None
        kinds: tuple[Kind, Kind] = ("left fails", "right fails")
        for kind, side in zip(kinds, (self.left, self.right), strict=True):
            name, text = failure(side.index)
            if not text:
                continue
            difference = Difference(kind, name, text, None, None)
            cause = self._reason_of_failure(side)
            if cause is None:
                error = side.index.tape.error
                line = error.place.line if error is not None else 0
                lines = (line, 0) if kind == "left fails" else (0, line)
                shown = tr("the {kind}, {name}: {text}", kind=kind, name=name, text=text)
                cause = self.ledger.add(kind, shown, lines, "", [difference])
            else:
                self.ledger.follow(cause, difference)
        assert cause is not None
        return cause

    def _reason_of_failure(self, side: Side) -> int | None:
        """Return the earliest cause among the inputs of the call that failed."""
        fault, tape = side.index.tape.fault, side.index.tape
        if fault is None:
            line = tape.error.place.line if tape.error is not None else 0
            is_backward = tape.stuck is not None or line in {run.line for run in tape.passes}
            # A backward pass fails because of the graph that was built before it.
            return len(self.ledger) - 1 if is_backward and len(self.ledger) else None
        block, other = self._last, self.right if side is self.left else self.left
        found = (block.right if side is self.left else block.left) if block is not None else ()
        # The other run made the same call, and went on.
        if found and found[0].kind == "op" and found[0].name == fault.op:
            made = other.index.op(found[0].ref)
            self._inputs(*((fault, made) if side is self.left else (made, fault)))
        return earliest(*(side.values.get(value) for value in fault.inputs))

    # Small parts

    def _link(self, a: int, b: int) -> None:
        self.left.partners[a] = b
        self.right.partners[b] = a

    def _mark(self, cause: int, a: int, b: int) -> None:
        self.left.values[a] = cause
        self.right.values[b] = cause

    def _name_of(self, value: int | None, op: Op) -> str:
        return self.left.name(value) if value is not None else op.op


def failure(index: Index) -> tuple[str, str]:
    """Return the call in which a program failed and the error; empty strings if it did not fail."""
    problem, call = index.tape.error, index.tape.fault
    if problem is None:
        return "", ""
    name = (
        problem.type
        if call is None
        else call.op + (tr(" in {scope}", scope=call.scope) if call.scope else "")
    )
    line = tr("line {line}", line=problem.place.line) if problem.place.line else ""
    message = problem.message.strip().partition("\n")[0]
    return name, " · ".join(part for part in (message, line) if part) or problem.type


def _stretch_words(block: Block) -> str:
    """Return ``exp, sum, log → logsumexp`` or ``add only on the right``."""
    if block.left and block.right:
        return f"{_named(block.left)} → {_named(block.right)}"
    side = "left" if block.left else "right"
    return tr("{named} only on the {side}", named=_named(block.left or block.right), side=side)


def _named(found: tuple[Action, ...]) -> str:
    """Return the names of actions in order, equal ones in a row with their number."""
    names = [(name, len(list(same))) for name, same in groupby(action.name for action in found)]
    texts = [name if count == 1 else f"{count} × {name}" for name, count in names]
    if len(texts) <= MOST_NAMED:
        return ", ".join(texts)
    more = len(found) - sum(count for _, count in names[: MOST_NAMED - 1])
    return tr("{join} and {more:,} more", join=", ".join(texts[: MOST_NAMED - 1]), more=more)
