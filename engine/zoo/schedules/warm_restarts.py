"""torch.optim.lr_scheduler.CosineAnnealingWarmRestarts."""

from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts

from gradscribe.engine.zoo.entry import Schedule, read_options

ENTRY = Schedule(
    CosineAnnealingWarmRestarts,
    "Cosine with restarts",
    "A cosine of T_0 steps, again and again",
    options=read_options(
        CosineAnnealingWarmRestarts, T_0={"default": 200, "low": 1}, T_mult={"low": 1}
    ),
)
