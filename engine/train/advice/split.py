"""A validation on so few rows that its score says little."""

from collections.abc import Iterator

from gradscribe.engine.protocol.training.advice import Advice
from gradscribe.engine.train.advice.kind import AdviceKind
from gradscribe.engine.train.advice.run_facts import RunFacts

FEWEST = 5
"""Rows from which on a validation is not questioned: with four, a single row moves the share of
right ones by 25 points, as much as separates a good model from a poor one."""
SMALL = 25
"""Rows up to which training on all of them is offered: a larger table can spare more."""


def find(facts: RunFacts) -> Iterator[Advice]:
    """Yield the number of rows that validate if there are fewer than `FEWEST`, but any."""
    count = len(facts.program.tensor("val_rows"))
    if not 0 < count < FEWEST or facts.setup.validate_every == 0:
        return
    if count == 1:
        words = f"1 of {facts.rows:,} rows validates, and is never trained on"
    else:
        words = f"{count} of {facts.rows:,} rows validate, and are never trained on"
    if facts.has_classes:
        hangs = "it is right or wrong" if count == 1 else f"each moves the score by {100 // count}%"
    else:
        hangs = f"the validation loss hangs on {'it' if count == 1 else 'them'} alone"
    words = f"{words}: {hangs}"
    if facts.rows <= SMALL:
        yield Advice("split", "train", words, f"Train on all {facts.rows}", {"train": 1.0})
    else:
        yield Advice("split", "train", words)


ENTRY = AdviceKind(find, order=30)
