"""Account of the causes found so far, and of the values and gradients that they have reached."""

from collections.abc import Hashable, Iterable
from functools import cached_property

from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.playback.compare.differences import Cause, Difference
from gradscribe.playback.tape.index import Index
from gradscribe.playback.translation import tr

GradientKey = tuple[int, int]
"""(node, output) or (first version of a leaf, 0), as the keys of `Index.arrivals`."""


class Side:
    """The account of one of the two runs. Causes are given by their numbers."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.partners: dict[int, int] = {}
        """Value -> its counterpart in the other run."""
        self.values: dict[int, int] = {}
        """Value that differs -> its cause."""
        self.ops: dict[int, int] = {}
        """Op -> the cause that changed it or its inputs."""
        self.op_partners: dict[int, int] = {}
        self.order: dict[int, tuple[int, int]] = {}
        """Op -> place in the order of both runs, place in its stretch."""
        self.storages: dict[int, int | None] = {}
        """Storage -> cause of the latest change in place."""
        self.gradients: dict[GradientKey, int] = {}
        """Gradient that differs -> its cause."""

    def snapshot(self, value: int) -> Snapshot | None:
        """Return the numbers of a value."""
        return self.index.snapshot(self.index.values[value].snapshot)

    def gradient_key(self, value: int) -> GradientKey:
        """Return the key of a value's gradient."""
        made = self.index.values[value]
        if made.node is None:
            return self.index.first_version(value), 0
        return made.node, made.output_nr

    def name(self, value: int) -> str:
        """Return a value's name; without a name the op that made it and its module."""
        made = self.index.values[value]
        if made.name or made.op is None:
            return made.name or made.maker
        op = self.index.op(made.op)
        return tr("{op} in {scope}", op=op.op, scope=op.scope) if op.scope else op.op

    @cached_property
    def leaves_by_name(self) -> dict[str, int]:
        """First versions of the leaves by name."""
        return {
            value.name: self.index.first_version(value.id)
            for value in self.index.tape.values
            if value.op is None and value.name and value.maker != ".grad"
        }


class CauseLedger:
    """The causes, in order of execution; those of the same key are one cause."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._causes: list[tuple[str, tuple[int, int], str]] = []
        self._own: list[list[Difference]] = []
        self._following: list[list[Difference]] = []
        self._paths: list[set[str]] = []
        self._times: list[int] = []
        self._leaves: set[int] = set()

    def __len__(self) -> int:
        return len(self._causes)

    def add(
        self,
        key: Hashable,
        words: str,
        lines: tuple[int, int],
        path: str,
        differences: Iterable[Difference],
    ) -> int:
        """Add a cause, or another place of a cause with the same key; return its number."""
        number = self._numbers.setdefault(key, len(self._causes))
        if number == len(self._causes):
            self._causes.append((words, lines, path))
            self._own.append([])
            self._following.append([])
            self._paths.append(set())
            self._times.append(0)
        self._own[number] += differences
        self._paths[number].add(path)
        self._times[number] += 1
        return number

    def add_leaf(
        self, key: Hashable, words: str, lines: tuple[int, int], difference: Difference
    ) -> int:
        """Add a leaf that differs by itself; return the cause's number."""
        number = self.add(key, words, lines, "", [difference])
        self._leaves.add(number)
        return number

    def follow(self, number: int, difference: Difference) -> None:
        """Add a difference that follows from a cause."""
        self._following[number].append(difference)

    def causes(self) -> tuple[Cause, ...]:
        """Return all causes, the first one first."""
        return tuple(
            Cause(*about, tuple(own), tuple(following), times, len(paths), n in self._leaves)
            for n, (about, own, following, times, paths) in enumerate(
                zip(
                    self._causes,
                    self._own,
                    self._following,
                    self._times,
                    self._paths,
                    strict=True,
                )
            )
        )


def earliest(*causes: int | None) -> int | None:
    """Return the cause that came first; None if there is none."""
    return min((cause for cause in causes if cause is not None), default=None)
