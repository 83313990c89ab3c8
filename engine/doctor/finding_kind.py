"""Types of what a finding's file declares and what its detector yields."""

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.protocol.tape import Place


class FoundCase(NamedTuple):
    """A case of a mistake: place, evidence, related places and the fixed program."""

    place: Place
    message: str
    related: tuple[Place, ...] = ()
    fix: str = ""
    why_no_fix: str = ""
    """The reason why there is no fix, if known; without a full stop."""


class FindingKind(NamedTuple):
    """A kind of finding. ``id`` never changes once it has been published.

    ``why`` describes the consequences. A *hint* may be on purpose, a *sure* finding is not.
    """

    id: str
    title: str
    why: str
    detect: Callable[[Evidence], Iterable[FoundCase]]
    severity: Literal["sure", "hint"] = "sure"
