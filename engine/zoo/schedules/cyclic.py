"""torch.optim.lr_scheduler.CyclicLR."""

from torch.optim.lr_scheduler import CyclicLR

from gradscribe.engine.zoo.entry import Schedule, read_options

ENTRY = Schedule(
    CyclicLR,
    "Cyclic",
    "Up and down between base_lr and max_lr",
    options=read_options(
        CyclicLR,
        base_lr={"default": 0.001},
        max_lr={"default": 0.1},
        step_size_up={"default": 100, "low": 1},
        cycle_momentum={"default": False},
    ),
)
