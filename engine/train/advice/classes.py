"""Classes with too few examples, and labels that mean the same class."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator

from gradscribe.engine.protocol.training.advice import Advice
from gradscribe.engine.train.advice.kind import AdviceKind
from gradscribe.engine.train.advice.run_facts import RunFacts

MOST_NAMED = 3
MOST_LISTED = 12
ROW_NAMES = 0.5
"""Share of the rows: with a class for every second row or more most classes have one example, which
no class of things has; names of the rows do."""
LEAST_ROWS = 8
TRUTHS = (("true", "t", "yes", "y", "on"), ("false", "f", "no", "n", "off"))
"""Words that say yes, and words that say no."""


def find(facts: RunFacts) -> Iterator[Advice]:
    """Yield classes that cannot be learned, and labels that differ only in spelling.

    Below two examples a class is either trained on or validated on; that is arithmetic.
    """
    if not facts.has_classes:
        return
    counts = facts.class_counts
    there = [kind for kind, count in enumerate(counts) if count]
    if len(there) == 1 and facts.rows >= 2:
        name = facts.program.class_names[there[0]]
        words = f"Every row is of class {name!r}: there is nothing to tell apart"
        yield Advice("classes", _place(facts), words)
        return
    if facts.target and facts.rows >= LEAST_ROWS and len(there) >= ROW_NAMES * facts.rows:
        words = (
            f"{facts.target!r} has {len(there):,} different labels in {facts.rows:,} rows: they "
            "name rows rather than classes"
        )
        yield Advice("classes", _place(facts), words)
        return
    yield from _alike(facts)
    yield from _rare(facts)


def _place(facts: RunFacts) -> str:
    return "data.target" if facts.target else "data"


def _rare(facts: RunFacts) -> Iterator[Advice]:
    names, counts, trained = facts.program.class_names, facts.class_counts, facts.trained_counts
    if min((count for count in counts if count), default=0) == max(counts) == 1:
        return  # A row of each: an example to look at, not to validate.
    single = [kind for kind, count in enumerate(counts) if count == 1]
    unseen = [k for k, count in enumerate(counts) if count > 1 and not trained[k]]
    if single and facts.rows >= LEAST_ROWS:
        shown = _listed([names[kind] for kind in single])
        if len(single) == 1:
            used = "trained on, never validated" if trained[single[0]] else "never trained on"
            words = f"Class {shown} has one example of {facts.rows:,}: it is {used}"
        else:
            words = f"Classes {shown} have one example each: trained on or validated on, never both"
        yield Advice("classes", _place(facts), words)
    if unseen:
        shown = _listed([names[kind] for kind in unseen])
        has = "Class {} has" if len(unseen) == 1 else "Classes {} have"
        words = f"{has.format(shown)} no example among the rows that are trained on"
        yield Advice("classes", "train", words)


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:MOST_NAMED])
    return shown + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")


def _alike(facts: RunFacts) -> Iterator[Advice]:
    """Yield labels that differ by case, spaces or signs between words, or say yes in two ways."""
    names = facts.program.class_names
    if not facts.target or facts.setup.data.options.get("classes") is False:
        return
    groups = defaultdict[str, list[str]](list)
    for name in names:
        groups[_bare(name)].append(name)
    spelled = [same for same in groups.values() if len(same) > 1]
    truths = [[groups[word][0] for word in groups if word in way] for way in TRUTHS]
    meant = [words for words in truths if len(words) > 1]
    if sum(map(len, truths)) < len(groups):
        meant = []  # Among other answers, as of a survey, "no" and "off" need not be the same.
    if not spelled and not meant:
        return
    why = [f"{_both(same)} differ only in how they are written" for same in spelled[:MOST_NAMED]]
    why += [f"{_both(words)} mean the same" for words in meant]
    counts = [(name, count) for name, count in zip(names, facts.class_counts, strict=True) if count]
    found = ", ".join(f"{name} {count:,}" for name, count in counts[:MOST_LISTED])
    more = f" and {len(counts) - MOST_LISTED} more" if len(counts) > MOST_LISTED else ""
    words = f"{len(counts)} classes: {found}{more}. {'; '.join(why)}"
    yield Advice("classes", "data.target", words)


def _both(labels: list[str]) -> str:
    return " and ".join(map(repr, labels))


def _bare(label: str) -> str:
    """Return a label without case, spaces, hyphens and underscores; accents stay."""
    text = unicodedata.normalize("NFKC", label).casefold()
    return re.sub(r"[\s_\-]+", "", text) or label


ENTRY = AdviceKind(find, order=20)
