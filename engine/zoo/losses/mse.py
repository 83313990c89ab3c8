"""Mean squared error."""

from engine.zoo.pieces import Loss

ENTRY = Loss(
    lambda _: "nn.MSELoss()",
    "Mean squared error",
    "The mean of the squared differences",
    ("regression", "binary", "classes"),
    "signs",
)
