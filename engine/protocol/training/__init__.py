"""Training messages between window and engine: plain data, no torch.

A run is created with `Train` and starts paused at step 0, its first views already sent. While it
plays, the engine sends at most about 30 times a second: one `SeriesChunk` with all steps since the
last, one `ViewReply` for each requested view that has changed, one `TrainState`. All are bounded
(see `SERIES_STEPS`): a trainer that makes more steps than that between two messages leaves every
k-th out of the message and keeps k the same for the rest of the run, so nothing floods the window.

Step ``n`` is the state after the n-th update: step 0 is the untrained model. The engine can hold
several runs (forks); only one plays at a time. A message about a run that no longer exists is
answered by `TrainState` with status ``gone``.
"""

from gradscribe.engine.protocol.training.advice import Advice, RunAdvice
from gradscribe.engine.protocol.training.catalogue import CatalogueEntry, Option
from gradscribe.engine.protocol.training.replies import (
    Catalogue,
    ColumnSummary,
    DataSample,
    EventDone,
    Exported,
    FileSummary,
    Parameter,
    RawArray,
    RunSaved,
    RunStarted,
    SeriesChunk,
    SetupChanged,
    SetupRestored,
    StepTape,
    TrainProblem,
    TrainState,
    UnitLayer,
    ViewReply,
)
from gradscribe.engine.protocol.training.requests import (
    Advance,
    ChangeSetup,
    Detach,
    DropRun,
    EditWeight,
    Export,
    Fork,
    InspectFile,
    LineSample,
    ListCatalogue,
    PairRuns,
    Pause,
    Play,
    ProvideFile,
    RecordStep,
    RejoinRun,
    ResetRun,
    ResumeRun,
    Rewind,
    SaveRun,
    StepEvent,
    StopCondition,
    Train,
    ViewRequest,
    WatchViews,
)

TrainRequest = (
    ListCatalogue
    | Train
    | Play
    | Pause
    | Advance
    | StepEvent
    | ChangeSetup
    | Rewind
    | Fork
    | ResetRun
    | EditWeight
    | DropRun
    | WatchViews
    | RecordStep
    | InspectFile
    | Export
    | ProvideFile
    | PairRuns
    | RejoinRun
    | Detach
    | SaveRun
    | ResumeRun
)
TrainReply = (
    Catalogue
    | RunStarted
    | DataSample
    | SeriesChunk
    | ViewReply
    | TrainState
    | EventDone
    | SetupChanged
    | SetupRestored
    | StepTape
    | FileSummary
    | Exported
    | RunSaved
    | TrainProblem
    | RunAdvice
)
