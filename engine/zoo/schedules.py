"""Learning rate schedules: the classes of torch.optim.lr_scheduler."""

from torch.optim import lr_scheduler

from gradscribe.engine.zoo.entry import Schedule, read_options


def _entry(
    make: type[object],
    title: str,
    text: str,
    *,
    first: bool = False,
    metric: bool = False,
    **given: dict[str, object],
) -> Schedule:
    options = read_options(make, **given)
    return Schedule(make, title, text, metric, options=options, first=first)


ENTRIES = {
    "constant": _entry(
        lr_scheduler.ConstantLR,
        "Constant",
        "The rate times factor for total_iters steps, then as it was",
        factor={"low": 1e-6, "high": 1.0},
        total_iters={"low": 0},
    ),
    "cosine": _entry(
        lr_scheduler.CosineAnnealingLR,
        "Cosine",
        "Down to eta_min along half a cosine of T_max steps",
        first=True,
        T_max={"default": 1000, "low": 1},
    ),
    "cyclic": _entry(
        lr_scheduler.CyclicLR,
        "Cyclic",
        "Up and down between base_lr and max_lr",
        base_lr={"default": 0.001},
        max_lr={"default": 0.1},
        step_size_up={"default": 100, "low": 1},
        cycle_momentum={"default": False},
    ),
    "exponential": _entry(
        lr_scheduler.ExponentialLR,
        "Exponential",
        "The rate times gamma every step",
        gamma={"default": 0.999, "low": 0.0},
    ),
    "linear": _entry(
        lr_scheduler.LinearLR,
        "Linear",
        "From start_factor to end_factor within total_iters steps",
        first=True,
        start_factor={"low": 1e-6, "high": 1.0},
        end_factor={"low": 0.0, "high": 1.0},
        total_iters={"default": 100, "low": 1},
    ),
    "multistep": _entry(
        lr_scheduler.MultiStepLR,
        "Milestones",
        "The rate times gamma at each milestone",
        milestones={"kind": "ints", "default": [300, 600]},
        gamma={"low": 0.0},
    ),
    "one_cycle": _entry(
        lr_scheduler.OneCycleLR,
        "One cycle",
        "Up to max_lr and down again within total_steps",
        max_lr={"default": 0.1},
        total_steps={"kind": "int", "default": 1000, "low": 2},
    ),
    "plateau": _entry(
        lr_scheduler.ReduceLROnPlateau,
        "On a plateau",
        "The rate times factor when the loss has not improved for patience steps",
        metric=True,
        factor={"low": 1e-6, "high": 0.999999},
        patience={"low": 0},
        threshold_mode={"kind": "choice", "choices": ("rel", "abs")},
    ),
    "polynomial": _entry(
        lr_scheduler.PolynomialLR,
        "Polynomial",
        "Down to 0 within total_iters steps, along a power of what is left of them",
        total_iters={"low": 1},
        power={"low": 0.0},
    ),
    "step": _entry(
        lr_scheduler.StepLR,
        "Steps",
        "The rate times gamma every step_size steps",
        first=True,
        step_size={"default": 200, "low": 1},
        gamma={"low": 0.0},
    ),
    "warm_restarts": _entry(
        lr_scheduler.CosineAnnealingWarmRestarts,
        "Cosine with restarts",
        "A cosine of T_0 steps, again and again",
        T_0={"default": 200, "low": 1},
        T_mult={"low": 1},
    ),
}
"""Name in setups -> entry."""
