"""A kind of advice."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gradscribe.engine.protocol.training.advice import Advice
from gradscribe.engine.train.advice.run_facts import RunFacts


@dataclass(frozen=True)
class AdviceKind:
    """A check of a run; its docstring justifies the threshold from which on it says something."""

    find: Callable[[RunFacts], Iterable[Advice]]
    order: int
    """Place among the others: what concerns the data comes first."""
    of_data: bool = False
    """True if it depends on data and model alone, which no change during a run touches."""
    needs_steps: bool = False
    """True if it is about the steps that were made, not about data and setup alone."""
