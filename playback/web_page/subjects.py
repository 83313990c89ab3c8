"""Content of a selected card: explanations and exact numbers, at every position."""

from typing import NamedTuple

from gradscribe.playback.explain.page import explain
from gradscribe.playback.tape import event_text
from gradscribe.playback.tape.index import Index
from gradscribe.playback.tape.track import change_events
from gradscribe.playback.web_page import number_text
from gradscribe.playback.web_page.explanation_data import Explanations
from gradscribe.playback.web_page.interned import Data, add_change


class CardSubject(NamedTuple):
    """Op or value of a card, and the positions at which there is such a card."""

    op: int | None
    value: int | None
    first: int
    stop: int


class Subjects:
    """Collects what cards are about; equal explanations and numbers are stored once."""

    def __init__(self, index: Index, explanations: Explanations, most: int, letters: int) -> None:
        self.index, self.explanations = index, explanations
        self.most, self.letters = most, letters
        self.numbers: dict[int, Data] = {}
        """Index of a snapshot -> its numbers."""
        self.is_full = False
        """True once a tensor's numbers did not fit."""

    def positions(self, subject: CardSubject, stop: int) -> list[int]:
        """Return the positions at which anything may be new: those of events and the next ones."""
        index, events = self.index, set[int]()
        op, value, first, last = subject
        numbers = [] if value is None else [value]
        if op is not None:
            events.add(index.op_events.get(op, 0))
            numbers += [*index.op(op).inputs[:8], *index.op(op).outputs[:4]]
        for number in numbers:
            events.update(change_events(index, number))
            events.add(index.created_at.get(number, 0))
        around = {at + step for at in events for step in (0, 1, 2)} | {first}
        return sorted(position for position in around if first <= position <= min(last, stop))

    def data(self, subject: CardSubject, positions: list[int]) -> Data:
        """Return explanations, values and gradients of a subject at some positions."""
        op, value, _, _ = subject
        explained: list[int] = []
        values: list[int] = []
        gradients: list[int] = []
        for position in positions:
            found = explain(self.index, op=op, value=value, position=position)
            number = self.explanations.add(found, found.title, found.step)
            add_change(explained, position, number)
            if value is not None:
                shown = self._snapshots(value, position)
                for timeline, snapshot in zip((values, gradients), shown, strict=True):
                    add_change(timeline, position, self._number(snapshot))
        title = "" if value is None else event_text.value_name(self.index, value)
        return {"title": title, "explained": explained, "value": values, "gradient": gradients}

    def _snapshots(self, value: int, position: int) -> tuple[int | None, int | None]:
        """Return the snapshots of a value and its gradient at a position."""
        index, made = self.index, self.index.values[value]
        if index.created_at.get(value, -1) >= position:
            return None, None
        newest = index.snapshot_at(value, position) if made.node is None else made.snapshot
        known = index.gradient(value, position)
        return newest, known.returned if known.snapshot is None else known.snapshot

    def _number(self, snapshot: int | None) -> int:
        """Store the numbers of a snapshot and return its index; -1 for none."""
        if snapshot is None:
            return -1
        if snapshot not in self.numbers:
            self.numbers[snapshot] = self._written(snapshot)
        return snapshot

    def _written(self, number: int) -> Data:
        snapshot = self.index.tape.snapshots[number]
        data: Data = {"shape": list(snapshot.shape), "dtype": snapshot.dtype}
        texts = number_text.exact_texts(snapshot, self.most)
        length = sum(map(len, texts)) + len(texts)
        if length <= self.letters:
            self.letters -= length
            data["text"] = texts
        else:
            self.is_full = True
        if snapshot.numel > 1:
            data["facts"] = number_text.facts(snapshot)
        return data
