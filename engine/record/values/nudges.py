"""Nudge: a recorded value with one element set to another number, for finite differences."""

import numpy as np
import torch
from msgspec import Struct

from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())


class Nudge(Struct):
    """A number for one element of a value, set as soon as the value exists.

    The program goes on with the changed number. Torch's version counter is not incremented: to
    autograd nothing was written.
    """

    value: int
    index: int
    """Flat, row-major."""
    to: complex
    own_memory: bool = False
    """Give the tensor a copy of its numbers first, so that those it shares memory with, as a view
    does with its base, stay as they are."""
    was_applied: bool = False
    before: complex | None = None
    """The element's number before; NaN if it was none."""
    problem: str = ""
    """The reason for which the element could not be set."""

    def apply(self, t: torch.Tensor) -> None:
        """Set the element of ``t``, the tensor of the value."""
        self.was_applied = True
        try:
            with torch.no_grad():
                if self.own_memory:
                    t.data = t.detach().clone()
                plain = t.data
                if any(n > 1 and s == 0 for n, s in zip(plain.shape, plain.stride(), strict=True)):
                    self.problem = "Its elements share their memory"
                    return
                place = tuple(int(i) for i in np.unravel_index(self.index, tuple(plain.shape)))
                cell = plain[place]
                self.before = complex(cell.item())
                cell.fill_(self.to if t.is_complex() else self.to.real)
        except (RuntimeError, NotImplementedError, TypeError, ValueError) as error:
            self.problem = f"Its memory cannot be written: {str(error).strip().splitlines()[0]}"
