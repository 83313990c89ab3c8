"""Names of a model's parameters; shared (tied) parameters have several."""

import torch
from torch import nn


def replacements(
    model: nn.Module, values: dict[nn.Parameter, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """Map every name of these parameters to its replacement, for `torch.func.functional_call`.

    A module with two names is listed once: with both, ``tie_weights`` would restore the
    replacement at the end, and the model would lose its parameter.
    """
    return {
        f"{path}.{name}" if path else name: values[parameter]
        for path, module in model.named_modules()
        for name, parameter in module._parameters.items()
        if parameter is not None and parameter in values
    }
