"""torch.optim.lr_scheduler.PolynomialLR."""

from torch.optim.lr_scheduler import PolynomialLR

from gradscribe.engine.zoo.entry import Schedule, read_options

ENTRY = Schedule(
    PolynomialLR,
    "Polynomial",
    "Down to 0 within total_iters steps, along a power of what is left of them",
    options=read_options(PolynomialLR, total_iters={"low": 1}, power={"low": 0.0}),
)
