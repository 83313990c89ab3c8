"""The op or backward node that raised the exception that ended a program."""

from dataclasses import dataclass
from types import CodeType, TracebackType

import torch

from gradscribe.engine.protocol.tape import Phase
from gradscribe.engine.record.backward.backward_pass import Backward
from gradscribe.engine.record.forward.arguments import CallArguments
from gradscribe.engine.record.log import CodeLocation, OpRow
from gradscribe.engine.record.thread_state import ThreadState
from gradscribe.engine.record.values.tensors import Tensors
from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())

_STARTS = {torch.autograd.backward.__code__: "tensors", torch.autograd.grad.__code__: "outputs"}
"""Functions that begin a backward pass, and their parameter with the root tensors."""


@dataclass(eq=False)
class FailurePoint:
    """The op or backward node in which a program failed, if any."""

    tensors: Tensors
    backward: Backward
    callers: frozenset[CodeType]
    """The code of the recorder's functions that call `note`."""
    _latest: tuple[int, OpRow] | None = None
    op: OpRow | None = None
    """The failed call; it has no results."""
    node: int | None = None
    """The id of the failed backward node, or of the value at which a pass failed to begin."""

    def note(
        self,
        thread: ThreadState,
        error: Exception,
        name: str,
        where: CodeLocation,
        given: CallArguments,
    ) -> None:
        """Note a call that raised, replacing the previous note; without tensors it is no op."""
        if not given.values:
            return
        call = thread.calls[-1].index if thread.calls else None
        graded = torch._C.is_grad_enabled()
        phase: Phase = "backward" if thread.runs else "forward"
        row = OpRow(0, name, given.values, given.args, where, call, graded, phase, False, 0, [])
        # Only its id: the error refers to frames whose locals have to be freed in time.
        self._latest = id(error), row

    def find(self, error: BaseException) -> None:
        """Find the op or node that raised the error that ended the program."""
        backward = self.backward
        if backward.failed is not None and backward.failed_by is error:
            self.node = backward.failed.id
        elif (root := _root(error.__traceback__)) is not None:
            row = self.tensors.known(root)
            self.node = row.id if row is not None else None
        elif self._latest is not None and self._latest[0] == id(error):
            # Another error may have got the id of an error that was freed.
            self.op = self._latest[1] if self._came_from_a_call(error.__traceback__) else None

    def _came_from_a_call(self, trace: TracebackType | None) -> bool:
        while trace is not None:
            if trace.tb_frame.f_code in self.callers:
                return True
            trace = trace.tb_next
        return False


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
