"""Optimizers: the classes of torch.optim."""

from torch import optim

from gradscribe.engine.zoo.entry import Optimizer, read_options


def _entry(
    make: type[optim.Optimizer],
    text: str,
    lr: float | None = None,
    *,
    title: str = "",
    first: bool = False,
    closure: bool = False,
    **given: dict[str, object],
) -> Optimizer:
    """Return the entry of a class; ``lr`` is the default rate, None for torch's own."""
    rate: dict[str, object] = {"high": 10.0} if lr is None else {"high": 10.0, "default": lr}
    options = read_options(make, lr=rate, **given)
    return Optimizer(make, title or make.__name__, text, closure, options=options, first=first)


ENTRIES = {
    "adadelta": _entry(optim.Adadelta, "Rates from running means of gradients and updates", 1.0),
    "adafactor": _entry(
        optim.Adafactor, "Keeps row and column means in place of every square", 0.01
    ),
    "adagrad": _entry(optim.Adagrad, "Divides by the root of all squared gradients so far", 0.01),
    "adam": _entry(optim.Adam, "Each weight has a rate of its own", 0.001, first=True),
    "adamax": _entry(
        optim.Adamax, "Adam with the largest gradient in place of the root mean square", 0.002
    ),
    "adamw": _entry(
        optim.AdamW, "Adam with weight decay kept apart from the gradient", 0.001, first=True
    ),
    "asgd": _entry(optim.ASGD, "SGD that also averages the weights", 0.01),
    "lbfgs": _entry(
        optim.LBFGS,
        "Quasi-Newton: several evaluations a step; for full batches",
        1.0,
        title="L-BFGS",
        closure=True,
        max_iter={"low": 1, "high": 1000},
        history_size={"low": 1, "high": 1000},
        line_search_fn={"kind": "choice", "default": "", "choices": ("", "strong_wolfe")},
    ),
    "muon": _entry(
        optim.Muon,
        "Momentum made orthogonal; for models whose parameters are all matrices",
        adjust_lr_fn={
            "kind": "choice",
            "default": "",
            "choices": ("", "original", "match_rms_adamw"),
        },
    ),
    "nadam": _entry(optim.NAdam, "Adam with Nesterov momentum", 0.002),
    "radam": _entry(optim.RAdam, "Adam that warms up by itself", 0.001),
    "rmsprop": _entry(optim.RMSprop, "Divides by a running root mean square of gradients", 0.01),
    "rprop": _entry(optim.Rprop, "Only the signs of gradients count; for full batches", 0.01),
    "sgd": _entry(
        optim.SGD,
        "Against the gradient, with momentum if wanted",
        first=True,
        momentum={"low": 0.0, "high": 1.0},
    ),
    "sparse_adam": _entry(optim.SparseAdam, "Adam for embeddings made with sparse=True"),
}
"""Name in setups -> entry."""
