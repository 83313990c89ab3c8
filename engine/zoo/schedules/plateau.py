"""torch.optim.lr_scheduler.ReduceLROnPlateau."""

from torch.optim.lr_scheduler import ReduceLROnPlateau

from gradscribe.engine.zoo.entry import Schedule, read_options

ENTRY = Schedule(
    ReduceLROnPlateau,
    "On a plateau",
    "The rate times factor when the loss has not improved for patience steps",
    options=read_options(
        ReduceLROnPlateau,
        factor={"low": 1e-6, "high": 0.999999},
        patience={"low": 0},
        threshold_mode={"kind": "choice", "choices": ("rel", "abs")},
    ),
    metric=True,
)
