"""Steps of a long loop that are brought back: recorded in full by running the program again."""

from gradscribe.app.document.state import Result
from gradscribe.engine.protocol.tape import StepLoop, Tape
from gradscribe.playback.tape.loops import steps
from gradscribe.playback.tape.loops.brought_steps import with_brought_steps
from gradscribe.playback.tape.loops.partial_loops import main_loop

STEPS_AHEAD = 7
"""Steps that are recorded after one that is brought back: stepping on from there is smooth."""
STEPS_BEHIND = 2
"""Steps that are recorded before the one that is shown when more are brought."""


class StepRecall:
    """The steps that are being brought back, and the tape of the whole run meanwhile."""

    def __init__(self) -> None:
        self.wanted = 0
        """The step that is being brought back; 0 for none."""
        self.next_wanted = 0
        """The step to bring once those that are being brought have come; 0 for none."""
        self.stays = False
        """True if the steps that are being brought back only follow those that are shown."""
        self._whole: tuple[Tape, int] | None = None

    @property
    def is_shown(self) -> bool:
        """True while steps that were brought back are shown in place of the whole run."""
        return self._whole is not None

    def whole(self, result: Result) -> tuple[Tape, int]:
        """Return the tape of the whole run, and its id."""
        return self._whole or (result.tape, result.shown_id)

    def take_whole(self, result: Result) -> tuple[Tape, int]:
        """Return the tape of the whole run, and its id, which is shown again from now on."""
        whole, self._whole = self.whole(result), None
        return whole

    def forget(self) -> None:
        """Drop what was brought back and what is wanted: another tape is shown."""
        self._whole, self.wanted, self.next_wanted = None, 0, 0

    def begin(self, loop: StepLoop, number: int, first: int) -> tuple[int, int, int]:
        """Want step ``number``; return the loop's line, and the first and last step to record."""
        self.wanted = number
        return loop.line, first, min(number + STEPS_AHEAD, loop.steps)

    def first_to_bring(self, number: int, result: Result) -> int:
        """Return the first step to bring while ``number`` is shown; 0 if there are enough."""
        loop = main_loop(self.whole(result)[0])
        if self._whole is None or loop is None:
            return 0
        ahead = steps.steps_of(result.tape)
        due = min(number + STEPS_AHEAD // 2, loop.steps)
        if ahead.is_full(due) or not ahead.is_full(number):
            return 0
        return max(1, number - STEPS_BEHIND)

    def accept(self, part: Tape, number: int, result: Result, here: int) -> tuple[Tape, int] | None:
        """Return the tape with the steps that have come, and the position to show.

        None if they follow steps that the user has left meanwhile.

        Args:
            part: the recording of those steps.
            number: the step that was wanted.
            result: what is shown.
            here: the position in it.

        Raises:
            NotRepeated: the program did something else than before.
        """
        whole = self.whole(result)
        loop = main_loop(whole[0])
        assert loop is not None
        shown = with_brought_steps(whole[0], part, loop.line, number)
        found = steps.steps_of(shown)
        _, position = found.span(number)
        if self.stays:
            before = steps.steps_of(result.tape)
            # The user may have gone on meanwhile.
            now = before.number_at(here)
            if self._whole is None or not found.is_full(now):
                return None
            position = found.span(now)[0] + here - before.span(now)[0]
        self._whole = whole
        return shown, position
