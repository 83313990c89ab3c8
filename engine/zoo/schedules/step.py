"""torch.optim.lr_scheduler.StepLR."""

from torch.optim.lr_scheduler import StepLR

from gradscribe.engine.zoo.entry import Schedule, read_options

ENTRY = Schedule(
    StepLR,
    "Steps",
    "The rate times gamma every step_size steps",
    options=read_options(StepLR, step_size={"default": 200, "low": 1}, gamma={"low": 0.0}),
    first=True,
)
