"""Types of what a finding's file declares and what its detector yields."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.protocol.tape import Place

SPOILED = ("",)
"""`FindingKind.follows` of symptoms: any sure finding explains them that spoils training."""


CUTS = (
    "cut-by-copy",
    "cut-by-data",
    "cut-by-detach",
    "cut-by-item",
    "cut-by-no-grad",
    "cut-by-numpy",
)
"""Findings of a graph that is cut, so that part of it leads to no loss."""


PARTIAL_CUT = "partial-cut"
"""The finding of a gradient of which a share is lost; a trial of its fix measures the share."""


class FoundCase(NamedTuple):
    """A case of a mistake: place, evidence, related places and the fixed program."""

    place: Place
    message: str
    related: tuple[Place, ...] = ()
    fix: str = ""
    why_no_fix: str = ""
    """The reason why there is no fix, if known; without a full stop."""
    is_hint: bool = False
    """True if this case may be on purpose although the kind is sure."""


class SetupFix(NamedTuple):
    """Changes of a training run's setup that remove a finding: the first that applies is made."""

    mistake: str = ""
    """The deliberate mistake to switch off."""
    rate: float = 1.0
    """Factor of the learning rate."""
    clip_norm: float = 0.0
    """Largest norm of the gradients, for a setup without one."""
    activations: Mapping[str, str] = MappingProxyType({})
    """Replacements of activations."""


class FindingKind(NamedTuple):
    """A kind of finding. ``id`` never changes once it has been published.

    ``why`` describes the consequences. A *hint* may be on purpose, a *sure* finding is not.
    ``sick`` are programs with the mistake, at the line that ends in ``# !`` if there is one;
    ``healthy`` are at least two programs that resemble it and have no finding at all.
    """

    id: str
    title: str
    why: str
    detect: Callable[[Evidence], Iterable[FoundCase]]
    severity: Literal["sure", "hint"] = "sure"
    setup_fix: SetupFix = SetupFix()
    sick: tuple[str, ...] = ()
    healthy: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    """Ids of the findings that this is then a consequence of; `SPOILED` for whatever spoils
    training."""
    spoils_training: bool = True
    """True if losses and gradients are wrong by a *sure* case of this."""
