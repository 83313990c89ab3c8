"""Recovered work of windows that crashed, offered together: in one line of one window."""

from collections.abc import Callable
from dataclasses import dataclass

from gradscribe.app.document.state import Doc
from gradscribe.app.runtime.notice import Notice, NoticeActions
from gradscribe.playback.translation import tr

KEY = "recovered"
"""Key of the notice."""
MOST_BUTTONS = 3
"""Most pieces of work that have a button of their own; more follow once these are dealt with."""
LONGEST_NAME = 24

Choices = tuple[tuple[str, Callable[[], None]], ...]


@dataclass(frozen=True)
class RecoveryOffer:
    """Work to be restored: ``name`` in a list, ``text`` and ``choices`` when it is alone.

    The first choice restores it. ``is_open``: it is restored already, and may be given up.
    """

    key: str
    name: str
    text: str
    choices: Choices
    is_open: bool = False
    more: str = ""


class RecoveryOffers:
    """All offers of a window, shown as one notice; each is gone once a choice is made."""

    def __init__(self, notices: NoticeActions) -> None:
        self._notices = notices
        self._offers: list[RecoveryOffer] = []

    @property
    def offers(self) -> tuple[RecoveryOffer, ...]:
        """The offers that wait; what is restored already comes first."""
        return tuple(self._offers)

    def add(self, offer: RecoveryOffer, *, now: bool = False) -> None:
        """Add an offer, or replace that with its key; ``now``: it answers an action."""
        others = [other for other in self._offers if other.key != offer.key]
        if offer.is_open:
            # Only the latest is what the window shows.
            others = [other for other in others if not other.is_open]
            self._offers = [offer, *others]
        else:
            self._offers = [*others, offer]
        self._show(now=now)

    def remove(self, key: str) -> None:
        """Withdraw an offer."""
        self._offers = [offer for offer in self._offers if offer.key != key]
        self._show()

    def _show(self, *, now: bool = False) -> None:
        if not self._offers:
            self._notices.drop(KEY)
            return
        notice = self._single() if len(self._offers) == 1 else self._several()
        (self._notices.show_now if now else self._notices.post)(notice)

    def _single(self) -> Notice:
        (offer,) = self._offers
        choices = tuple((label, self._chosen(offer, do)) for label, do in offer.choices)
        return Notice(KEY, offer.text, choices, offer.more)

    def _several(self) -> Notice:
        """Return a notice with a button for each, and the whole texts as its tool tip."""
        first, others = self._offers[0], self._offers
        choices: list[tuple[str, Callable[[], None]]] = []
        if first.is_open:
            others = self._offers[1:]
            text = tr("{text}. Also unsaved: {names}", text=first.text, names=_names(others))
            choices += [(label, self._chosen(first, do)) for label, do in first.choices]
        else:
            text = tr("Work that was not saved: {names}", names=_names(others))
        for offer in others[:MOST_BUTTONS]:
            label, do = offer.choices[0]
            choices.append((f"{label} {_short(offer.name)}", self._chosen(offer, do)))
        more = "\n".join(offer.text for offer in self._offers)
        return Notice(KEY, text, tuple(choices), more)

    def _chosen(self, offer: RecoveryOffer, do: Callable[[], None]) -> Callable[[], None]:
        def act() -> None:
            self._offers = [other for other in self._offers if other is not offer]
            try:
                do()
            finally:
                # What else there is stays on offer.
                self._show()

        return act


def offered_name(doc: Doc) -> str:
    """Return the title of a document; one without a title has its first line, too.

    Several of them would not be told apart.
    """
    line = next((line.strip() for line in doc.source.splitlines() if line.strip()), "")
    if doc.path or doc.title != Doc().title or not line:
        return doc.title
    return f"{doc.title}: {_short(line)}"


def _names(offers: list[RecoveryOffer]) -> str:
    names = [offer.name for offer in offers]
    if len(names) > MOST_BUTTONS:
        names = [*names[:MOST_BUTTONS], tr("{value} more", value=len(offers) - MOST_BUTTONS)]
    return (
        names[0]
        if len(names) == 1
        else tr("{join} and {names}", join=", ".join(names[:-1]), names=names[-1])
    )


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
