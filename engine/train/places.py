"""Where a model's parameters stand. Shared ones stand in several places."""

import torch
from torch import nn


def instead(model: nn.Module, values: dict[nn.Parameter, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return by name what is to stand in each place of these parameters while a model is called.

    A module that has two names is named once: of two, `torch.func.functional_call` with
    ``tie_weights`` puts the replacement back in the end, and the model has lost its parameter.
    """
    return {
        f"{path}.{name}" if path else name: values[parameter]
        for path, module in model.named_modules()
        for name, parameter in module._parameters.items()
        if parameter is not None and parameter in values
    }
