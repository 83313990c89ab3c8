"""Constants that only folded modules use, and are drawn as part of them: masks made in forward."""

from collections.abc import Iterable, Mapping

from gradscribe.engine.protocol.tape import Value
from gradscribe.playback.graph.folding.modules import FoldingPlan
from gradscribe.playback.graph.folding.units import ModuleUnit
from gradscribe.playback.tape.index import Index

_FIXED = frozenset(
    "arange as_tensor empty eye from_numpy full full_like linspace logspace ones ones_like "
    "scalar_tensor tensor tril_indices triu_indices zeros zeros_like".split()
)
"""Factories of tensors whose numbers the program's text determines."""
_DRAWN = ("rand", "bernoulli", "multinomial", "normal", "poisson", "dropout", "uniform", "shuffle")
"""Parts of names of ops that draw numbers: noise is an input, not a constant."""


class Constants:
    """The constants of a scene: made in modules of nothing but fixed numbers and buffers.

    Args:
        index: the tape's index.
        ops: the scene's ops, by number.
        adopted: op -> the module call whose buffer it created, as `buffer_creating_ops` returns.
    """

    def __init__(self, index: Index, ops: Iterable[int], adopted: Mapping[int, int]) -> None:
        self._index, self._adopted = index, adopted
        self._modules = {call.name for call in index.tape.calls}
        self._known: dict[int, bool] = {}
        self._ops = list(ops)
        within = set(self._ops)
        # In order of execution, so that no value is asked for before its maker's inputs.
        self._made = {n for n in sorted(within) if self._is_made_of_constants(n, within)}

    def _is_made_of_constants(self, number: int, within: set[int]) -> bool:
        op = self._index.op(number)
        is_constant = (
            (op.call is not None or number in self._adopted)
            and not op.nodes
            and not any(part in op.op for part in _DRAWN)
            and all(self.includes(value) for value in op.inputs)
        )
        for made in op.outputs:
            self._known[made] = is_constant and number in within
        return is_constant

    def includes(self, number: int) -> bool:
        """Return whether a value is a constant."""
        if number not in self._known:
            self._known[number] = self._is_fixed(self._index.values[number])
        return self._known[number]

    def _is_fixed(self, value: Value) -> bool:
        """Return whether a leaf is a module's buffer, or was made in a module of fixed numbers."""
        if value.op is not None or value.requires_grad:
            return False
        path = value.name.rpartition(".")[0].partition("[")[0]
        if path in self._modules:
            return True
        home = self._index.first_version(value.id)
        return value.maker in _FIXED and (
            home in self._index.leaf_calls
            or all(user in self._adopted for user in self._index.users.get(value.id, (None,)))
        )

    def fold(
        self, plan: FoldingPlan, takers: Mapping[int, list[int]], shown: Iterable[int] = ()
    ) -> dict[int, ModuleUnit]:
        """Move what only folded modules use from open frames into the first of them.

        Args:
            plan: changed in place.
            takers: first version of a leaf -> the ops that take it.
            shown: values that stay: the operands of a failed call.

        Returns:
            First version of each tensor that is moved -> the folded module.
        """
        homes = {n: unit for n, unit in plan.folded.items() if unit.calls}
        fed: dict[int, bool] = {}
        found: dict[int, ModuleUnit] = {}
        stay = frozenset(shown)
        for number in sorted(self._made & plan.inside.keys(), reverse=True):
            made = self._index.op(number).outputs
            users = {u for value in made for u in self._index.users.get(value, [])}
            unit = self._home(users - {number}, homes, fed) if stay.isdisjoint(made) else None
            if unit is not None:
                homes[number] = plan.folded[number] = unit
                del plan.inside[number]
                found.update((self._index.first_version(value), unit) for value in made)
        for leaf, ops in takers.items():
            known = leaf not in stay and self.includes(leaf)
            unit = self._home(set(ops), homes, fed) if known else None
            if unit is not None:
                found[leaf] = unit
        return found

    def _home(
        self, users: set[int], homes: Mapping[int, ModuleUnit], fed: dict[int, bool]
    ) -> ModuleUnit | None:
        """Return the first folded module of some users if all are in folded modules with inputs."""
        if not users or not users <= homes.keys():
            return None
        for unit in map(homes.__getitem__, users):
            if id(unit) not in fed:
                inside = set(unit.all_ops())
                taken = (v for op in inside for v in self._index.op(op).inputs)
                fed[id(unit)] = any(self._is_input(value, inside) for value in taken)
            if not fed[id(unit)]:
                return None
        return homes[min(users)]

    def _is_input(self, number: int, inside: set[int]) -> bool:
        value = self._index.values[number]
        if value.op in inside or value.role == "parameter":
            return False
        return not self.includes(number)
