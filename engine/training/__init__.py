"""Training messages between window and engine: plain data, no torch.

A run is created with `Train` and starts paused at step 0, its first views already sent. While it
plays, the engine sends at most about 30 times a second: one `Series` with all steps since the
last, one `View` for each requested view that has changed, one `TrainState`. All are bounded
(see `SERIES_STEPS`): a trainer that makes more steps than that between two messages leaves every
k-th out of the message and keeps k the same for the rest of the run, so nothing floods the window.

Step ``n`` is the state after the n-th update: step 0 is the untrained model. The engine can hold
several runs (forks); only one plays at a time. A message about a run that no longer exists is
answered by `TrainState` with status ``gone``.
"""

from engine.training.answers import (
    SERIES_STEPS,
    Altered,
    Array,
    Begun,
    Catalogue,
    DataShown,
    Exported,
    FileLooked,
    Happened,
    Parameter,
    RunKept,
    Series,
    StepTape,
    TrainProblem,
    TrainState,
    Unit,
    View,
    WentBack,
)
from engine.training.asks import (
    Advance,
    Alter,
    Drop,
    EditWeight,
    Export,
    Fork,
    GiveFile,
    GoAlong,
    Keep,
    ListParts,
    LookIntoFile,
    Pause,
    Play,
    Reset,
    Resume,
    Rewind,
    Sample,
    StepEvent,
    TapeStep,
    Train,
    Until,
    Watch,
    Wish,
)
from engine.training.parts import (
    Entry,
    EntryKind,
    Option,
    OptionKind,
    Task,
)

TrainRequest = (
    ListParts
    | Train
    | Play
    | Pause
    | Advance
    | StepEvent
    | Alter
    | Rewind
    | Fork
    | Reset
    | EditWeight
    | Drop
    | Watch
    | TapeStep
    | LookIntoFile
    | Export
    | GiveFile
    | GoAlong
    | Keep
    | Resume
)
TrainReply = (
    Catalogue
    | Begun
    | DataShown
    | Series
    | View
    | TrainState
    | Happened
    | Altered
    | WentBack
    | StepTape
    | FileLooked
    | Exported
    | RunKept
    | TrainProblem
)

__all__ = [
    "SERIES_STEPS",
    "Advance",
    "Alter",
    "Altered",
    "Array",
    "Begun",
    "Catalogue",
    "DataShown",
    "Drop",
    "EditWeight",
    "Entry",
    "EntryKind",
    "Export",
    "Exported",
    "FileLooked",
    "Fork",
    "GiveFile",
    "GoAlong",
    "Happened",
    "Keep",
    "ListParts",
    "LookIntoFile",
    "Option",
    "OptionKind",
    "Parameter",
    "Pause",
    "Play",
    "Reset",
    "Resume",
    "Rewind",
    "RunKept",
    "Sample",
    "Series",
    "StepEvent",
    "StepTape",
    "TapeStep",
    "Task",
    "Train",
    "TrainProblem",
    "TrainReply",
    "TrainRequest",
    "TrainState",
    "Unit",
    "Until",
    "View",
    "Watch",
    "WentBack",
    "Wish",
]
