"""State of a recorded thread: the module calls, backward passes and optimizer steps that run."""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import torch
from msgspec import Struct
from torch import nn
from torch.overrides import TorchFunctionMode

from gradscribe.engine.protocol.tape import StateEntry
from gradscribe.engine.record.log import CodeLocation, Target, ValueRow
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

NotedGradient = tuple[weakref.ref[torch.Tensor], int, int | None]
"""A gradient, its version and its snapshot."""


class CalledModule(Struct, gc=False, eq=False):
    """A module that was called, described as it was at its first call."""

    module: "weakref.ref[nn.Module]"
    """Weak: a program may create many modules, whose parameters have to be freed with them."""
    number: int
    parameters: int
    about: str
    inside: dict[int, str | None]
    """The path from it to each submodule, by ``id()``; None for a module that is elsewhere."""
    variables: dict[tuple[int, int], str]
    """The variable that referred to it, by the code object and instruction of the call."""
    is_named: bool = False
    """True once its parameters have their full names."""
    state: tuple[StateEntry, ...] = ()
    """Its parameters and buffers at the last call at which they were recorded."""


class RunningCall(Struct, gc=False, eq=False):
    """A module call that is running."""

    index: int
    """The index of its row in `Log.calls`."""
    known: CalledModule
    name: str
    frame: FrameType | None
    """The frame of the call, until it ends."""
    where: CodeLocation
    activity: str
    """The place of the call in the user's text and torch's activity there: `Source.locate`."""


class RunningPass:
    """A backward pass while it runs."""

    def __init__(self, number: int, targets: list[Target | None], creates_graph: bool) -> None:
        self.number = number
        self.creates_graph = creates_graph
        """True if its gradients can be differentiated again."""
        self.targets = targets
        """The nodes and leaves that it starts from."""
        self.sent_gradients: dict[int, NotedGradient] = {}
        """Gradients that were sent, by ``id()``: if one arrives unchanged, it has a snapshot."""


class ThreadState:
    """Per-thread recorder state."""

    __slots__ = ("calls", "mode", "quiet", "runs", "steps")

    def __init__(self, mode: TorchFunctionMode) -> None:
        self.mode = mode
        """The mode that records the thread's torch functions."""
        self.quiet = 0
        """While above zero nothing is recorded in this thread."""
        self.calls: list[RunningCall] = []
        """The module calls that are running, the innermost last."""
        self.runs: list[RunningPass] = []
        """The backward passes that are running: a node may start another pass."""
        self.steps: list[list[tuple[torch.Tensor, ValueRow]]] = []
        """The optimizer steps that are running: each parameter and its value before."""

    @contextmanager
    def without_mode(self) -> Iterator[None]:
        """Take the thread's mode off torch's stack, if it is on top of it."""
        count = torch._C._len_torch_function_stack()
        on_top = count > 0 and torch._C._get_function_stack_at(count - 1) is self.mode
        if on_top:
            self.mode.__exit__(None, None, None)  # type: ignore[no-untyped-call]
        try:
            yield
        finally:
            if on_top:
                self.mode.__enter__()  # type: ignore[no-untyped-call]

    def is_inside_torch_function(self) -> bool:
        """Return whether a torch function is running: custom Functions it calls are part of it.

        Torch pops a mode off its stack while the mode handles a function.
        """
        count = torch._C._len_torch_function_stack()
        return all(torch._C._get_function_stack_at(i) is not self.mode for i in range(count))
