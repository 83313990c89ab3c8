"""Values from before an optimizer's step that a later loss of another optimizer still uses."""

import ast
from collections.abc import Iterable

from gradscribe.engine.doctor import modes
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.fixes import arguments_without
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, names, receiver
from gradscribe.engine.protocol.tape import Step


def other_step_follows(program: ProgramTree, step: int, failed: int) -> bool:
    """Return whether another optimizer steps in the same block, after the line that failed."""
    statement = program.statement(step)
    if statement is None:
        return False
    own = {_owner(call) for call in _calls(statement, "step")}
    later = (s for s in program.siblings(statement) if s.lineno > failed)
    return any(_owner(call) not in own for s in later for call in _calls(s, "step"))


def _calls(node: ast.AST, name: str) -> list[ast.Call]:
    return [n for n in ast.walk(node) if isinstance(n, ast.Call) and called_name(n) == name]


def _owner(call: ast.Call) -> str:
    owner = receiver(call)
    return ast.unparse(owner) if owner is not None else ""


def without_stale_values(evidence: Evidence, step: Step, at: int, failed: int) -> str:
    """Return the program in which the loss of the line ``failed`` is right after ``step``.

    The step is at event position ``at``. If the loss reaches other parameters without them, the
    values that the step has made stale are detached there. Else they are computed again after the
    step, and the first loss no longer goes back into what they were computed from. Empty if the
    values are not computed by plain assignments in the block of the step.
    """
    found = _StaleValues(evidence, step, at, failed)
    if not found.assignments:
        return ""
    return found.detached() if found.reaches_others() else found.computed_again()


class _StaleValues:
    """The values of a loss that depend on what a step changed, and the lines that make them."""

    def __init__(self, evidence: Evidence, step: Step, at: int, failed: int) -> None:
        self.evidence, self.program = evidence, evidence.program
        self.at, self.failed = at, failed
        self.root = evidence.tape.passes[-1].roots[0] if evidence.tape.passes[-1].roots else None
        self.changed = {evidence.values[c.before].tensor for c in step.changes}
        self.needed = evidence.dependencies([self.root])
        self.all = self._dependents({c.before for c in step.changes})
        self.values = self.all & self.needed
        statement = self.program.statement(step.line)
        self.block = self.program.siblings(statement) if statement is not None else []
        self.step = statement
        self.assignments = self._assignments() if statement is not None else []

    def _dependents(self, values: set[int]) -> set[int]:
        """Return what was computed from values before the step."""
        found = set(values)
        for index, at in self.evidence.op_at.items():
            op = self.evidence.tape.ops[index]
            if at < self.at and not found.isdisjoint(op.inputs):
                found.update(op.outputs)
        return found - values

    def _assignments(self) -> list[ast.Assign]:
        """Return the assignments that make the values; none if something else does."""
        found = dict[int, ast.Assign]()
        for value in self.values:
            op = self.evidence.creator(value)
            outer = self.evidence.outermost_call_of(op) if op is not None else None
            line = op.place.line if op is not None else 0
            line = modes.call_line(self.evidence, outer) if outer is not None else line
            made = next((s for s in self._before() if s.lineno <= line <= _end(s)), None)
            if not isinstance(made, ast.Assign):
                return []
            found[made.lineno] = made
        return [found[line] for line in sorted(found)]

    def _before(self) -> list[ast.stmt]:
        return [s for s in self.block if self.step is not None and s.lineno < self.step.lineno]

    def _between(self) -> list[ast.stmt]:
        """Return the statements from the step to the backward that failed."""
        end = _end(self.step) if self.step is not None else 0
        return [s for s in self.block if end < s.lineno <= self.failed]

    def reaches_others(self) -> bool:
        """Return whether the loss depends on other leaves without the stale values."""
        seen, stack = set[int](self.values), [v for v in [self.root] if v is not None]
        while stack:
            number = stack.pop()
            value = self.evidence.values.get(number)
            if number in seen or value is None:
                continue
            seen.add(number)
            if value.is_leaf and value.requires_grad and value.tensor not in self.changed:
                return True
            op = self.evidence.creator(number)
            stack.extend(op.inputs if op is not None else ())
        return False

    def detached(self) -> str:
        """Return the program with the stale values detached where the loss uses them."""
        made = _bound(self.assignments)
        uses = [
            node
            for statement in self._between()
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in made
        ]
        uses = [u for u in uses if not self._is_called(u)]
        return self.program.replaced(*((u, f"{u.id}.detach()") for u in uses)) if uses else ""

    def _is_called(self, use: ast.Name) -> bool:
        above = next(self.program.above(use), None)
        return isinstance(above, ast.Attribute) and above.attr in ("backward", "item", "detach")

    def computed_again(self) -> str:
        """Return the program that computes the stale values again after the step."""
        if self.step is None:
            return ""
        moved = self._only_needed_later()
        cuts = self._upstream([s for s in self.assignments if s not in moved])
        edits: list[tuple[ast.expr, str]] = [(n, f"{n.id}.detach()") for n in cuts]
        text = "\n".join(self.program.source(s) for s in self.assignments)
        edits += self._without_retain() if cuts else []
        program = ProgramTree(self.program.replaced(*edits)) if edits else self.program
        result = program.inserted(self.step.lineno, text, after=True)
        for statement in reversed(moved):
            result = ProgramTree(result).without(statement.lineno) if result else ""
        return result

    def _only_needed_later(self) -> list[ast.Assign]:
        """Return the assignments whose results nothing up to the step uses."""
        found = list[ast.Assign]()
        for statement in reversed(self.assignments):
            others = (s for s in self._before() if s is not statement and s not in found)
            used = {n for s in (*others, self.step) for n in _loads(s)}
            if not _bound([statement]) & used:
                found.insert(0, statement)
        return found

    def _upstream(self, assignments: Iterable[ast.Assign]) -> list[ast.Name]:
        """Return the reads of results that only parameters of other optimizers went into."""
        own, found = _bound(self.assignments), list[ast.Name]()
        for statement in assignments:
            for node in ast.walk(statement.value):
                if not isinstance(node, ast.Name) or node.id in own:
                    continue
                value = self.evidence.latest(node.id, self.at)
                if value is None or value.op is None or not value.requires_grad:
                    continue
                before = self.evidence.dependencies([value.id])
                tensors = {self.evidence.values[v].tensor for v in before}
                if tensors.isdisjoint(self.changed) and value.id in self.needed:
                    found.append(node)
        return found

    def _without_retain(self) -> list[tuple[ast.expr, str]]:
        calls = [c for s in self._before() for c in _calls(s, "backward")]
        return [
            (call, f"{self.program.source(call.func)}({rest})")
            for call in calls[-1:]
            if any(k.arg == "retain_graph" for k in call.keywords)
            for rest in [arguments_without(self.program, call, "retain_graph")]
        ]


def _end(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _bound(statements: Iterable[ast.Assign]) -> set[str]:
    return {name for s in statements for target in s.targets for name in names(target)}


def _loads(node: ast.AST | None) -> set[str]:
    found = ast.walk(node) if node is not None else ()
    return {n.id for n in found if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
