"""torch.optim.lr_scheduler.LinearLR."""

from torch.optim.lr_scheduler import LinearLR

from gradscribe.engine.zoo.entry import Schedule, read_options

ENTRY = Schedule(
    LinearLR,
    "Linear",
    "From start_factor to end_factor within total_iters steps",
    options=read_options(
        LinearLR,
        start_factor={"low": 1e-6, "high": 1.0},
        end_factor={"low": 0.0, "high": 1.0},
        total_iters={"default": 100, "low": 1},
    ),
    first=True,
)
