"""Mean absolute error."""

from gradscribe.engine.zoo.entry import Loss

ENTRY = Loss(
    lambda _: "nn.L1Loss()",
    "Mean absolute error",
    "L1: outliers weigh less than in a square",
    ("regression", "binary", "classes"),
    "signs",
)
