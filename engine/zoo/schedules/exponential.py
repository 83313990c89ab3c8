"""torch.optim.lr_scheduler.ExponentialLR."""

from torch.optim.lr_scheduler import ExponentialLR

from gradscribe.engine.zoo.entry import Schedule, read_options

ENTRY = Schedule(
    ExponentialLR,
    "Exponential",
    "The rate times gamma every step",
    options=read_options(ExponentialLR, gamma={"default": 0.999, "low": 0.0}),
)
