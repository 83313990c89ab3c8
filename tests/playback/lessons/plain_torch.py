"""Programs of lessons in plain PyTorch, without the recorder."""

import contextlib
import io
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim, tensor


def run_plainly(program):
    """Run a program with the names that the engine gives it; return its namespace.

    ``printed`` in it is the output.
    """

    def param(numbers):
        return torch.tensor(numbers, requires_grad=True)

    names = {"torch": torch, "nn": nn, "F": F, "optim": optim, "np": np, "math": math}
    names |= {"tensor": tensor, "param": param}
    torch.manual_seed(0)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(program, "<lesson>", "exec"), names)
    names["printed"] = output.getvalue()
    return names
