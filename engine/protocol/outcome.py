"""Outcome of a run, as far as a fix of a finding is judged by it: plain data."""

from msgspec import Struct

from gradscribe.engine.protocol.tape import Finding, Problem, Status


class LineLosses(Struct, frozen=True):
    """The scalars that the backward on a line began at, in order."""

    line: int
    losses: tuple[float, ...]


class FeedingPasses(Struct, frozen=True):
    """The lines of the backward passes whose gradients the step on a line has used."""

    step: int
    passes: tuple[int, ...]


class LeafGradients(Struct, frozen=True):
    """Shares that the first passes added to the ``.grad`` of a leaf, each as its elements."""

    name: str
    passes: tuple[tuple[float, ...], ...]


class Outcome(Struct, frozen=True):
    """End of a run, and its training; ``reached``: lines on which events happened, ascending."""

    status: Status = "ok"
    error: Problem | None = None
    is_cut: bool = False
    """True if its tape ends before the program did."""
    findings: tuple[Finding, ...] = ()
    curves: tuple[LineLosses, ...] = ()
    feeds: tuple[FeedingPasses, ...] = ()
    learning: tuple[str, ...] = ()
    """Names of the parameters that a step has changed."""
    reached: tuple[int, ...] = ()
    passes: int = 0
    gradients: tuple[LeafGradients, ...] = ()
    """Those of the first named leaves, as far as they are small."""
