"""Binary cross-entropy on logits."""

from gradscribe.engine.zoo.entry import Loss

ENTRY = Loss(
    lambda _: "nn.BCEWithLogitsLoss()",
    "Binary cross-entropy",
    "With logits: sigmoid and logarithm in one",
    ("binary", "classes"),
    "ones",
    first=True,
)
