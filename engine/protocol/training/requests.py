"""Training requests from the window to the engine: plain data."""

from typing import Literal

from msgspec import Struct

from gradscribe.engine.protocol.setup import JsonValue, Setup

ConditionKind = Literal["step", "loss_below", "solved", "plateau", "nan"]


class StopCondition(Struct, frozen=True):
    """Stop condition: step reached, loss below ``value``, no progress for ``value`` steps, NaN.

    ``solved``: a loss as low as that of a model that has learned its task.
    The loss is the smoothed loss that the curve shows (mean of the last 20 steps).
    """

    kind: ConditionKind
    value: float = 0.0


class ListCatalogue(Struct, frozen=True, tag=True):
    """Request the `Catalogue`."""

    run_id: int = 0


class Train(Struct, frozen=True, tag=True):
    """Create a run, paused at step 0. Replies: `RunStarted`, `DataSample`, views, `TrainState`.

    ``play``: start at once. ``source`` is the user's program for the model ``own`` if its option
    ``source`` is empty. ``policy``: apply the sandbox policy, as the setup's module is untrusted.
    """

    run_id: int
    setup: Setup
    play: bool = False
    source: str = ""
    policy: bool = False


class Play(Struct, frozen=True, tag=True):
    """Continue. ``rate``: maximum steps per second, 0 for no limit."""

    run_id: int
    rate: float = 0.0
    until: tuple[StopCondition, ...] = ()


class Pause(Struct, frozen=True, tag=True):
    """Pause between two steps; a step that is played event by event is not finished."""

    run_id: int


class Advance(Struct, frozen=True, tag=True):
    """Make ``steps`` steps and pause; finishing a partly executed step counts as the first."""

    run_id: int
    steps: int = 1


class StepEvent(Struct, frozen=True, tag=True):
    """Execute the next event of a step; answered by `EventDone`."""

    run_id: int


class ChangeSetup(Struct, frozen=True, tag=True):
    """Continue with another setup.

    Settings that can change during a run (`SetupChanged.applied`) apply from the next step and are
    remembered, so that rewinding replays them; all others (`SetupChanged.restarts`) restart the
    run. ``base``: only the differences of ``setup`` from it are applied to the run's setup, which
    may have changed meanwhile; None: all of ``setup``.
    """

    run_id: int
    setup: Setup
    reread: bool = False
    """Restart with the data read again, even if the setup is unchanged."""
    base: Setup | None = None


class Rewind(Struct, frozen=True, tag=True):
    """Restore step ``step`` bit for bit and pause there; None: the last step that was made.

    Later steps stay known, to go on to, until the run takes another way. Steps after the last are
    made.
    """

    run_id: int
    step: int | None


class Fork(Struct, frozen=True, tag=True):
    """Create run ``run_id`` from run ``source_id`` at ``step`` and apply ``setup``.

    The source run is unchanged and can be played again. ``step``: None for where the source is;
    ``setup``: None for the settings of that step.
    """

    run_id: int
    source_id: int
    step: int | None
    setup: Setup | None


class ResetRun(Struct, frozen=True, tag=True):
    """Return to step 0 with the same weights and data, or with the next seed for either."""

    run_id: int
    weights: bool = False
    data: bool = False


class EditWeight(Struct, frozen=True, tag=True):
    """Set one element (row-major ``index``) of a parameter; recorded like a change of setup."""

    run_id: int
    name: str
    index: int
    value: float


class DropRun(Struct, frozen=True, tag=True):
    """Delete a run and its checkpoints."""

    run_id: int


class ViewRequest(Struct, frozen=True):
    """A requested view, at most every ``every_ms``; see `engine.train.views`."""

    kind: str
    every_ms: int = 33
    options: dict[str, JsonValue] = {}


class WatchViews(Struct, frozen=True, tag=True):
    """Set the requested views; each is sent once immediately."""

    run_id: int
    wishes: tuple[ViewRequest, ...]


class RecordStep(Struct, frozen=True, tag=True):
    """Request the `Tape` of the step after ``step`` (None: after the current step).

    The run does not move. Answered by `StepTape`; a ``live`` request for a step that takes long to
    repeat is answered with the next, and inside a step with none.
    """

    run_id: int
    step: int | None = None
    live: bool = False
    """True if requested by an automatically refreshed view; copied to `StepTape.live`."""


class LineSample(Struct, frozen=True):
    """The lines of a file that were read as a sample, counted from 0.

    These are the first ``first`` lines, then every ``every``-th line from ``start`` on.
    """

    lines: int
    line_ends: int
    """Number of line breaks: one less than ``lines`` if the last line has none."""
    first: int
    start: int
    every: int
    recoded: str = ""
    """The file's encoding, if its lines were converted to UTF-8."""

    def next_sampled(self, line: int) -> int:
        """Return the first sampled line at or after ``line``; `lines` or more if there is none."""
        if line < self.first:
            return line
        return line + (self.start - line) % self.every


class ProvideFile(Struct, frozen=True, tag=True):
    """Contents of the file ``path``, or why it cannot be read.

    The engine may not read files itself; the window sends this before the request that needs it.
    """

    run_id: int
    path: str
    data: bytes = b""
    problem: str = ""
    sample: LineSample | None = None
    """For a long file: which of its lines ``data`` holds."""


class InspectFile(Struct, frozen=True, tag=True):
    """Request a summary of a table's file; answered by `FileSummary`.

    ``header``: whether the first row names the columns; None: it does unless it looks like data.
    ``options``: the other options of the data, which say how it is read.
    """

    run_id: int
    path: str
    header: bool | None = None
    options: dict[str, JsonValue] = {}


ExportKind = Literal["script", "ddp", "csv", "safetensors", "pt", "pt2", "onnx"]


class Export(Struct, frozen=True, tag=True):
    """Request a file's bytes: the plain script, all series as CSV, or the model.

    ``ddp`` is the script for torchrun, whose ranks share each batch.
    The model is ``safetensors``, ``pt`` (its ``state_dict``), ``pt2`` (`torch.export`) or ``onnx``.
    """

    run_id: int
    kind: ExportKind
    steps: int | None = None
    """Number of steps in the script; None: as many as the run has made."""


class SaveRun(Struct, frozen=True, tag=True):
    """Request a run with its history as bytes, to resume later; answered by `RunSaved`."""

    run_id: int


class ResumeRun(Struct, frozen=True, tag=True):
    """Recreate a run from the bytes of `RunSaved`. Its replies are those to `Train`.

    ``parent``: the run it was forked from, and the step. ``path``: its data file, of which it uses
    ``rows`` rows. ``policy``: apply the sandbox policy, as the run's module is untrusted.
    """

    run_id: int
    data: bytes
    parent: tuple[int, int] | None = None
    path: str = ""
    rows: int = 0
    policy: bool = False


class Detach(Struct, frozen=True, tag=True):
    """Send nothing until the next request: no window reads for a while. Runs that train go on."""

    run_id: int = 0


class RejoinRun(Struct, frozen=True, tag=True):
    """Describe a run again to a window that is new, and send its curves after ``step``.

    Its replies are those to `ResumeRun`; a run that trains goes on meanwhile.
    """

    run_id: int
    step: int = 0


class PairRuns(Struct, frozen=True, tag=True):
    """Pair run ``right_id`` with ``run_id``: the same steps and changes, but no mistakes.

    The view ``beside`` of ``run_id`` reports how the two differ.
    """

    run_id: int
    right_id: int
