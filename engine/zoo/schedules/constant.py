"""torch.optim.lr_scheduler.ConstantLR."""

from torch.optim.lr_scheduler import ConstantLR

from gradscribe.engine.zoo.entry import Schedule, read_options

ENTRY = Schedule(
    ConstantLR,
    "Constant",
    "The rate times factor for total_iters steps, then as it was",
    options=read_options(ConstantLR, factor={"low": 1e-6, "high": 1.0}, total_iters={"low": 0}),
)
