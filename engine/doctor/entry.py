"""What a finding's file declares, and what its detector yields."""

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

from engine.doctor.evidence import Evidence
from engine.tape import Place


class Found(NamedTuple):
    """One case of a mistake: where, what was measured, what else takes part, the mended program."""

    place: Place
    message: str
    related: tuple[Place, ...] = ()
    fix: str = ""
    unmended: str = ""
    """Why there is no mended program, where that is known; no full stop."""


class Entry(NamedTuple):
    """A finding that the doctor knows. ``id`` never changes once it has been published.

    ``why`` tells what the mistake leads to. A *hint* may be on purpose, a *sure* finding is not.
    """

    id: str
    title: str
    why: str
    detect: Callable[[Evidence], Iterable[Found]]
    severity: Literal["sure", "hint"] = "sure"
