"""torch.optim.lr_scheduler.OneCycleLR."""

from torch.optim.lr_scheduler import OneCycleLR

from gradscribe.engine.zoo.entry import Schedule, read_options

ENTRY = Schedule(
    OneCycleLR,
    "One cycle",
    "Up to max_lr and down again within total_steps",
    options=read_options(
        OneCycleLR, max_lr={"default": 0.1}, total_steps={"kind": "int", "default": 1000, "low": 2}
    ),
)
