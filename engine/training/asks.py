"""What the window asks of a training run: plain data."""

from typing import Literal

from msgspec import Struct

from engine.setup import Plain, Setup

Condition = Literal["step", "loss_below", "plateau", "nan"]


class Until(Struct, frozen=True):
    """Pause when: ``step`` reached, loss below ``value``, no better for ``value`` steps, NaN.

    The loss is the smoothed one that the curve shows (mean of the last 20 steps).
    """

    kind: Condition
    value: float = 0.0


class ListParts(Struct, frozen=True, tag=True):
    """Ask for the `Catalogue`."""

    run_id: int = 0


class Train(Struct, frozen=True, tag=True):
    """Make a run, paused at step 0. Its replies: `Begun`, `DataShown`, views, `TrainState`.

    ``play``: start at once. ``source`` is the user's program for the model ``own`` where the
    option ``source`` is empty. ``policy``: a module that the setup brings came from elsewhere.
    """

    run_id: int
    setup: Setup
    play: bool = False
    source: str = ""
    policy: bool = False


class Play(Struct, frozen=True, tag=True):
    """Go on. ``rate``: steps per second at most, 0 is as fast as it goes."""

    run_id: int
    rate: float = 0.0
    until: tuple[Until, ...] = ()


class Pause(Struct, frozen=True, tag=True):
    """Pause between two steps; inside a step that is played by events, finish nothing."""

    run_id: int


class Advance(Struct, frozen=True, tag=True):
    """Make ``steps`` steps and pause; a step begun by events is finished first, as one of them."""

    run_id: int
    steps: int = 1


class StepEvent(Struct, frozen=True, tag=True):
    """Make the next event inside a step; answered by `Happened`."""

    run_id: int


class Alter(Struct, frozen=True, tag=True):
    """Go on with another setup.

    What can change while a run goes on (`Altered.applied`) holds from the next step and is
    remembered, so that rewinding replays it; anything else (`Altered.restarts`) begins the run
    anew.
    """

    run_id: int
    setup: Setup
    reread: bool = False
    """Begin anew with the data read again, even if the setup is the same."""


class Rewind(Struct, frozen=True, tag=True):
    """Bring step ``step`` back exactly as it was, and pause there. Later steps are forgotten."""

    run_id: int
    step: int


class Fork(Struct, frozen=True, tag=True):
    """Make run ``run_id`` of run ``source_id`` as it was at ``step``, then go on with ``setup``.

    The source stays where it is and can be played again.
    """

    run_id: int
    source_id: int
    step: int
    setup: Setup


class Reset(Struct, frozen=True, tag=True):
    """Back to step 0: the same weights and data, or new ones of either (another seed)."""

    run_id: int
    weights: bool = False
    data: bool = False


class EditWeight(Struct, frozen=True, tag=True):
    """Set one element (row-major ``index``) of a parameter; remembered like a live change."""

    run_id: int
    name: str
    index: int
    value: float


class Drop(Struct, frozen=True, tag=True):
    """Forget a run and its checkpoints."""

    run_id: int


class Wish(Struct, frozen=True):
    """A view that is wanted, at most every ``every_ms``; options as its kind has them (`View`)."""

    kind: str
    every_ms: int = 33
    options: dict[str, Plain] = {}


class Watch(Struct, frozen=True, tag=True):
    """Which views are wanted from now on; each is sent once at once."""

    run_id: int
    wishes: tuple[Wish, ...]


class TapeStep(Struct, frozen=True, tag=True):
    """Ask for the whole `Tape` of the step after ``step`` (None: the one after the current).

    The run is not moved. Answered by `StepTape`, its source in `StepTape.source`.
    """

    run_id: int
    step: int | None = None
    live: bool = False
    """It is for a view that is kept up to date; `StepTape.live` tells the answer."""


class Sample(Struct, frozen=True):
    """Which lines of a file were kept, counted from 0.

    The first ``first`` of them, and of the others those a multiple of ``every`` after ``start``.
    """

    lines: int
    line_ends: int
    """One fewer than lines where the last line has no end."""
    first: int
    start: int
    every: int

    def next_kept(self, line: int) -> int:
        """Return the first line from ``line`` on that was kept; `lines` or more where none was."""
        if line < self.first:
            return line
        return line + (self.start - line) % self.every


class GiveFile(Struct, frozen=True, tag=True):
    """What is in the file ``path`` where the window runs, or why it cannot be read.

    The engine may not read files itself. Told before what needs it.
    """

    run_id: int
    path: str
    data: bytes = b""
    problem: str = ""
    sample: Sample | None = None
    """Of a long file: which of its lines ``data`` holds."""


class LookIntoFile(Struct, frozen=True, tag=True):
    """Ask what a CSV file holds; answered by `FileLooked`.

    ``header``: whether its first row names the columns; None: it does unless it holds numbers.
    """

    run_id: int
    path: str
    header: bool | None = None


class Export(Struct, frozen=True, tag=True):
    """Ask for a file's bytes: the plain script, all series as CSV, or the model as safetensors."""

    run_id: int
    kind: Literal["script", "csv", "safetensors"]
    steps: int | None = None
    """Steps of the script; None: as many as the run has made."""


class Keep(Struct, frozen=True, tag=True):
    """Ask for a run and its past as bytes, to go on with another time; answered by `RunKept`."""

    run_id: int


class Resume(Struct, frozen=True, tag=True):
    """Make the run that `RunKept` held, where it was. Its replies are those to `Train`.

    ``parent``: the run it was forked from, and at which step. ``path``: the file its data is in,
    of which it takes ``rows``. ``policy``: a module that it brings came from elsewhere.
    """

    run_id: int
    data: bytes
    parent: tuple[int, int] | None = None
    path: str = ""
    rows: int = 0
    policy: bool = False


class GoAlong(Struct, frozen=True, tag=True):
    """Let run ``right_id`` go along with ``run_id``: the same steps, the same changes, no mistakes.

    The view ``beside`` of ``run_id`` tells how the two differ.
    """

    run_id: int
    right_id: int
