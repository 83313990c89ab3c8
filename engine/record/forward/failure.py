"""The op or backward node that raised the exception that ended a program."""

from types import TracebackType
from typing import TYPE_CHECKING

import torch

from gradscribe.engine.protocol.tape import Phase
from gradscribe.engine.record.forward.arguments import CallArguments
from gradscribe.engine.record.forward.function_mode import ForwardMode, record_opaque_call
from gradscribe.engine.record.log import OpRow
from gradscribe.engine.record.source import CodeLocation
from gradscribe.engine.sandbox.builtins import use_original_builtins

if TYPE_CHECKING:
    from gradscribe.engine.record.recorder import Recorder
    from gradscribe.engine.record.threads import ThreadState

use_original_builtins(globals())

_STARTS = {torch.autograd.backward.__code__: "tensors", torch.autograd.grad.__code__: "outputs"}
"""Functions that begin a backward pass, and their parameter with the root tensors."""
_CALLS = frozenset((ForwardMode._op.__code__, record_opaque_call.__code__))


class FailurePoint:
    """The op or backward node in which a program failed, if any."""

    def __init__(self, recorder: "Recorder") -> None:
        self._recorder = recorder
        self._latest: tuple[int, OpRow] | None = None
        self.op: OpRow | None = None
        """The failed call; it has no results."""
        self.node: int | None = None
        """The id of the failed backward node, or of the value at which a pass failed to begin."""

    def note(
        self,
        lane: "ThreadState",
        error: Exception,
        name: str,
        where: CodeLocation,
        given: CallArguments,
    ) -> None:
        """Note a call that raised, replacing the previous note; without tensors it is no op."""
        if not given.values:
            return
        call = lane.calls[-1].index if lane.calls else None
        graded = torch._C.is_grad_enabled()
        phase: Phase = "backward" if lane.runs else "forward"
        row = OpRow(0, name, given.values, given.args, where, call, graded, phase, False, 0, [])
        # Only its id: the error refers to frames whose locals have to be freed in time.
        self._latest = id(error), row

    def find(self, error: BaseException) -> None:
        """Find the op or node that raised the error that ended the program."""
        backward = self._recorder.backward
        if backward.failed is not None and backward.failed_by is error:
            self.node = backward.failed.id
        elif (root := _root(error.__traceback__)) is not None:
            row = self._recorder.tensors.known(root)
            self.node = row.id if row is not None else None
        elif self._latest is not None and self._latest[0] == id(error):
            # Another error may have got the id of an error that was freed.
            self.op = self._latest[1] if _came_from_a_call(error.__traceback__) else None


def _root(trace: TracebackType | None) -> torch.Tensor | None:
    """Return the first root tensor of the backward pass that raised an error."""
    while trace is not None:
        name = _STARTS.get(trace.tb_frame.f_code)
        if name is not None:
            roots = trace.tb_frame.f_locals.get(name)
            several = roots if isinstance(roots, list | tuple) else [roots]
            return next((t for t in several if isinstance(t, torch.Tensor)), None)
        trace = trace.tb_next
    return None


def _came_from_a_call(trace: TracebackType | None) -> bool:
    while trace is not None:
        if trace.tb_frame.f_code in _CALLS:
            return True
        trace = trace.tb_next
    return False
