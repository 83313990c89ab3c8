"""Options of a run that belong to no part such as data or model: titles, ranges and help."""

import itertools
from collections.abc import Sequence

from gradscribe.engine.protocol.training import Option
from gradscribe.playback.translation import tr
from gradscribe.widgets.plots.features import FEATURES

MOST_INPUTS = 32
"""Most inputs for which switches are offered."""
MOST_MULTIPLIED = 6
"""Most inputs for which products are offered."""


def feature_names(inputs: int) -> tuple[str, ...]:
    """Return the features that can be made of a number of inputs; the inputs come first."""
    if not 0 < inputs <= MOST_INPUTS:
        return ()
    each = [f"x{i}" for i in range(1, inputs + 1)]
    pairs = itertools.combinations(each, 2) if inputs <= MOST_MULTIPLIED else ()
    products = [f"{a}*{b}" for a, b in pairs]
    return (*each, *(f"{x}^2" for x in each), *products, *(f"sin({x})" for x in each))


def column_legend(names: Sequence[str]) -> str:
    """Return which input x1, x2 is which column; empty if the columns have no other names."""
    pairs = [f"x{i} {name}" for i, name in enumerate(names, 1) if name not in ("x", f"x{i}")]
    return " · ".join(pairs)


DATA_OPTIONS = (
    Option("train", "float", 0.8, tr("Share of the data "
    "that is trained on"), tr("Training share"), 0.1, 1),
    Option(
        "standardize", "bool", False, tr("Shift and scale inputs to mean 0 and deviation 1"),
        tr("Standardize"),
    ),
    Option(
        "features", "choices", [], tr("Columns made from the inputs: what the model is given"),
        tr("Features"), choices=FEATURES,
    ),
)  # fmt: skip
BATCH_OPTIONS = (
    Option("batch", "int", 0, tr("Examples in a batch; "
    "0 is all of them"), tr("Batch size"), 0, 256),
    Option("shuffle", "bool", True, tr("Another order in each epoch"), tr("Shuffle")),
    Option(
        "accumulate", "int", 1, tr("Batches whose gradients "
        "add up to one step"), tr("Accumulate"), 1, 32
    ),
    Option("drop_last", "bool", False, tr("Leave out a batch "
    "that is too small"), tr("Drop last batch")),
    Option(
        "validate_every", "int", 50, tr("Steps between two validation losses; 0: never"),
        tr("Validate every"), 0, 1000,
    ),
)  # fmt: skip
REGULARIZATION_OPTIONS = (
    Option("l2", "float", 0.0, tr("Times half the sum of the squared weights"), "L2", 0, 10, True),
    Option("l1", "float", 0.0, tr("Times the sum of the weights' sizes"), "L1", 0, 10, True),
    Option(
        "clip_norm", "float", 0.0, tr("Largest norm of all gradients together; 0: none"),
        tr("Clip norm"), 0, 100, True,
    ),
    Option(
        "clip_value", "float", 0.0, tr("Largest size of one gradient; 0: none"),
        tr("Clip value"), 0, 100, True,
    ),
)  # fmt: skip
DTYPES = ("float32", "float64", "bfloat16", "float16")
AMPS = ("", "bfloat16", "float16")
MODES = ("auto", "reference", "captured")


def machine_options(devices: tuple[str, ...]) -> tuple[Option, ...]:
    """Return the options for seed, device and precision."""
    return (
        Option("seed", "int", 0, tr("Decides weights, data and order"), tr("Seed"), 0),
        Option(
            "device", "choice", "cpu", tr("Where the tensors live"), tr("Device"), choices=devices
        ),
        Option(
            "dtype", "choice", "float32", tr("Of weights and data"), tr("Dtype"), choices=DTYPES
        ),
        Option(
            "amp", "choice", "", tr("Autocast to this dtype"), tr("Mixed precision"), choices=AMPS
        ),
        Option(
            "threads",
            "int",
            1,
            tr("Threads torch may use; small models want 1"),
            tr("Threads"),
            1,
            8,
        ),
        Option(
            "mode",
            "choice",
            "auto",
            tr("Reference is the plain loop; captured replays one step, with the same losses"),
            tr("Loop"),
            choices=MODES,
        ),
    )


MISTAKES = {
    "no_zero_grad": tr("No zero_grad()"),
    "column_target": tr("(N, 1) against (N)"),
    "validate_in_train_mode": tr("Validation in train mode"),
    "validate_with_grad": tr("Validation without no_grad"),
    "keep_graphs": tr("Losses kept with their graphs"),
    "softmax_first": tr("Softmax before cross-entropy"),
    "huge_lr": tr("Learning rate too big"),
    "freeze_first": tr("First layer frozen"),
    "wrong_device": tr("Data on another device"),
}
"""Titles of the deliberate mistakes."""
