"""Mean squared error."""

from gradscribe.engine.zoo.entry import Loss

ENTRY = Loss(
    lambda _: "nn.MSELoss()",
    "Mean squared error",
    "The mean of the squared differences",
    ("regression", "binary", "classes"),
    "signs",
    first=True,
)
