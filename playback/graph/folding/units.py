"""Units of a scene's folding: a module call, equal calls in a row, or repeated ops."""

from dataclasses import dataclass, field


@dataclass(eq=False)
class ModuleUnit:
    """A module call of the scene, or a run of equal calls (``repeats`` of them, in ``items``)."""

    key: str
    calls: tuple[int, ...]
    parent: "ModuleUnit | None" = None
    ops: list[int] = field(default_factory=list)
    """The ops directly inside, not those of inner units."""
    items: list["ModuleUnit | int"] = field(default_factory=list)
    """Inner units and ops, in order."""
    repeats: int = 1
    rows: set[int] = field(default_factory=set)
    """The depths of the ops directly inside: ops of equal depth share a row."""
    title: str = ""
    """For a stretch of repeated ops, which has no calls: the ops of one repeat."""

    @property
    def units(self) -> list["ModuleUnit"]:
        """The units directly inside."""
        return [item for item in self.items if isinstance(item, ModuleUnit)]

    def all_ops(self) -> list[int]:
        """Return every op inside, in order."""
        found: list[int] = []
        for item in self.items:
            found.extend(item.all_ops() if isinstance(item, ModuleUnit) else [item])
        return found

    def all_units(self) -> list["ModuleUnit"]:
        """Return every unit inside, outer ones first."""
        return [deep for unit in self.units for deep in (unit, *unit.all_units())]
