"""torch.optim.lr_scheduler.CosineAnnealingLR."""

from torch.optim.lr_scheduler import CosineAnnealingLR

from gradscribe.engine.zoo.entry import Schedule, read_options

ENTRY = Schedule(
    CosineAnnealingLR,
    "Cosine",
    "Down to eta_min along half a cosine of T_max steps",
    options=read_options(CosineAnnealingLR, T_max={"default": 1000, "low": 1}),
    first=True,
)
