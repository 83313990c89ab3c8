"""What a program learns of its own errors: the frames that there are without a recorder."""

import textwrap
import traceback

import pytest
import torch

from engine.record.recorder import Recorder
from tests.engine.mirror import mirror

FAILING = {
    "a method": "torch.ones(2).view(7)",
    "an operator": "torch.ones(2) @ torch.ones(3)",
    "a function in Python": "F.cross_entropy(torch.ones(1, 2), torch.tensor([5]))",
    "a module in a module": "nn.Sequential(nn.Identity(), nn.Linear(2, 3))(torch.ones(4))",
    "a backward pass": "(torch.ones(2, requires_grad=True) * 2).backward()",
    "a gradient": "torch.autograd.grad(torch.ones(1), torch.ones(1))",
    "a custom function": "Failing.apply(torch.ones(1, requires_grad=True))",
    "a custom function's backward": "Failing.apply(torch.zeros(1, requires_grad=True)).backward()",
}


@pytest.mark.parametrize("failing", FAILING.values(), ids=FAILING)
def test_a_program_that_prints_its_traceback_sees_no_recorder_in_it(failing):
    source = f"""
        import logging, traceback
        class Failing(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                if x.item():
                    raise ValueError("forward")
                return x * 2
            @staticmethod
            def backward(ctx, g):
                raise ValueError("backward")
        def work():
            {failing}
        try:
            work()
        except Exception as error:
            for frame in traceback.extract_tb(error.__traceback__):
                print(frame.name, frame.lineno)
            for frame, line in traceback.walk_tb(error.__traceback__):
                print(frame.f_code.co_name, line)
            told = traceback.format_exc()
            print("record" in told, told.count("File"), told.splitlines()[-1])
    """
    assert mirror(textwrap.dedent(source)).stdout.startswith("<module> ")


def test_after_the_run_all_frames_are_there_again():
    walks = traceback.walk_tb, traceback._walk_tb_with_full_positions
    with Recorder("", __file__) as recorder:
        assert traceback.walk_tb is not walks[0]
        with pytest.raises(RuntimeError) as caught:
            torch.ones(2).view(7)
        hidden = traceback.extract_tb(caught.value.__traceback__)
    assert (traceback.walk_tb, traceback._walk_tb_with_full_positions) == walks
    shown = traceback.extract_tb(caught.value.__traceback__)
    assert [f.name for f in hidden] == [shown[0].name]
    assert "_op" in [f.name for f in shown]
    recorder.release()
