"""torch.optim.lr_scheduler.MultiStepLR."""

from torch.optim.lr_scheduler import MultiStepLR

from gradscribe.engine.zoo.entry import Schedule, read_options

ENTRY = Schedule(
    MultiStepLR,
    "Milestones",
    "The rate times gamma at each milestone",
    options=read_options(
        MultiStepLR, milestones={"kind": "ints", "default": [300, 600]}, gamma={"low": 0.0}
    ),
)
