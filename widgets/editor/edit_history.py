"""Undo history of a text as plain data that can be saved.

It follows a document's own history by the number of steps that can be undone and redone.
"""

from collections.abc import Sequence

from msgspec import Struct

MAX_STEPS = 300
"""Maximum number of steps stored; the oldest are dropped."""
MAX_CHARACTERS = 1 << 20
"""Maximum number of characters stored in all steps together."""
MAX_WEIGHT = 32 << 20
"""Weight in characters above which the document's own history should be rebuilt."""
MAX_STEPS_PER_UNDO = 40
"""Maximum number of steps that one undo of the document reverts."""
STEP_WEIGHT = 200
"""Fixed weight of a step, in characters."""


class EditStep(Struct, frozen=True, array_like=True):
    """Replacement of the text ``gone`` at position ``at`` by ``come``."""

    at: int
    removed: str
    inserted: str

    def redo(self, text: str) -> str:
        """Return ``text`` after the step.

        Raises:
            ValueError: the step does not fit the text.
        """
        return _swap(text, self.at, self.removed, self.inserted)

    def undo(self, text: str) -> str:
        """Return ``text`` as it was before the step.

        Raises:
            ValueError: the step does not fit the text.
        """
        return _swap(text, self.at, self.inserted, self.removed)


def _swap(text: str, at: int, old: str, new: str) -> str:
    if at < 0 or not text.startswith(old, at) or at > len(text):
        raise ValueError("the step is not about this text")
    return text[:at] + new + text[at + len(old) :]


def step_between(old: str, new: str) -> EditStep:
    """Return the single step that leads from ``old`` to ``new``."""
    start, end = 0, min(len(old), len(new))
    # Comparing slices is far faster than comparing single characters.
    while start < end:
        half = (start + end + 1) // 2
        if old[start:half] == new[start:half]:
            start = half
        else:
            end = half - 1
    rest = min(len(old), len(new)) - start
    same, most = 0, rest
    while same < most:
        half = (same + most + 1) // 2
        if old[len(old) - half : len(old) - same] == new[len(new) - half : len(new) - same]:
            same = half
        else:
            most = half - 1
    return EditStep(start, old[start : len(old) - same], new[start : len(new) - same])


def original_text(text: str, steps: Sequence[EditStep], done: int) -> str:
    """Return the text before the first of ``steps``, of which ``done`` lead to ``text``.

    Raises:
        ValueError: the steps are not about this text.
    """
    if not 0 <= done <= len(steps):
        raise ValueError("more steps are done than there are")
    later = text
    for step in steps[done:]:
        later = step.redo(later)
    for step in reversed(steps[:done]):
        text = step.undo(text)
    return text


class EditHistory:
    """The steps of one document; `note` has to be called for every change."""

    def __init__(self) -> None:
        self.reset("")

    def reset(self, text: str) -> None:
        """Start an empty history with ``text``."""
        self._text = text
        self._steps: list[EditStep] = []
        self._done = self._undo = self._redo = 0
        self._weight = 0

    def note(self, text: str, undo: int, redo: int) -> None:
        """Record the text after a change, and the numbers of available undo and redo steps.

        The document decides what belongs to one step. Its numbers are only hints: whatever they
        are, the steps here lead to its text.
        """
        if text != self._text:
            found = self._find(text, back=undo < self._undo) if redo or self._redo else None
            if found is not None:
                self._done = found
            elif undo > self._undo:
                self._add(step_between(self._text, text))
            else:
                self._extend_last(text)
            self._text = text
            self._trim()
        self._undo, self._redo = undo, redo

    def _find(self, text: str, back: bool) -> int | None:
        """Return how many steps lead to ``text``, searching backwards or forwards."""
        seen, done = self._text, self._done
        for _ in range(MAX_STEPS_PER_UNDO):
            if done == (0 if back else len(self._steps)):
                return None
            done -= back
            seen = self._steps[done].undo(seen) if back else self._steps[done].redo(seen)
            done += not back
            if seen == text:
                return done
        return None

    def _add(self, step: EditStep) -> None:
        del self._steps[self._done :]
        self._steps.append(step)
        self._done += 1
        self._weight += len(step.removed) + len(step.inserted) + STEP_WEIGHT

    def _extend_last(self, text: str) -> None:
        """Extend the last step to lead to ``text``: the document merged the change into it."""
        before = self._text
        if self._done:
            self._done -= 1
            before = self._steps[self._done].undo(before)
        self._add(step_between(before, text))
        self._weight -= STEP_WEIGHT

    def _trim(self) -> None:
        """Drop the oldest steps if there are too many."""
        size = sum(len(step.removed) + len(step.inserted) for step in self._steps)
        first = 0
        while first < self._done and (
            len(self._steps) - first > MAX_STEPS or size > MAX_CHARACTERS
        ):
            size -= len(self._steps[first].removed) + len(self._steps[first].inserted)
            first += 1
        del self._steps[:first]
        self._done -= first

    @property
    def steps(self) -> tuple[EditStep, ...]:
        """The stored steps, including those that were undone and can be redone."""
        return tuple(self._steps)

    @property
    def done(self) -> int:
        """Number of `steps` that lead to the current text."""
        return self._done

    @property
    def is_heavy(self) -> bool:
        """True if the document's own history has grown out of proportion."""
        return self._weight > MAX_WEIGHT
