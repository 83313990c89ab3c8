"""Tracebacks that a program sees have the frames that there are without a recorder."""

import inspect
import textwrap
import traceback

import pytest
import torch

from gradscribe.engine.record.recorder import Recorder
from gradscribe.engine.run import run
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


STACKS = """
    import inspect, threading, traceback
    def own(names):
        if threading.current_thread() is threading.main_thread():
            names = names[len(names) - names[::-1].index("<module>") - 1:]
        print(*names)
    def look(*_):
        own([f.name for f in traceback.extract_stack()])
        own([f.function for f in reversed(inspect.stack())])
        walked = list(traceback.walk_stack(inspect.currentframe()))
        own([f.f_code.co_name for f, _ in reversed(walked)])
    class Look(nn.Module):
        def forward(self, x):
            look()
            return F.relu(x)
    class Fn(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            look()
            return x * 2
        @staticmethod
        def backward(ctx, g):
            look()
            return g * 2
    x = torch.ones(2, requires_grad=True)
    x.register_hook(look)
    y = Fn.apply(nn.Sequential(Look())(x))
    y.sum().backward()
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
"""


def test_a_program_that_prints_its_stack_sees_no_recorder_in_it():
    mirror(textwrap.dedent(STACKS))


def test_a_programs_stack_begins_with_the_program():
    tape = run.record(
        "import inspect, traceback\nprint(traceback.extract_stack()[0].name)\n"
        "def f():\n    return len(inspect.stack())\nprint(f())"
    )
    assert tape.stdout == "<module>\n2\n"


def test_where_torch_says_an_op_was_called_there_is_no_recorder():
    tape = run.record("""
x = torch.zeros(2, requires_grad=True)
with torch.autograd.set_detect_anomaly(True):
    (x.sqrt() * 0).sum().backward()
""")
    assert "SqrtBackward0" in tape.stderr
    assert "in _op" not in tape.stderr


def test_after_the_run_all_frames_are_there_again():
    names = [n for n in ("walk_tb", "_walk_tb_with_full_positions") if hasattr(traceback, n)]
    walks = [getattr(traceback, name) for name in names]
    stacks = traceback.walk_stack, inspect.getouterframes
    with Recorder("", __file__) as recorder:
        assert traceback.walk_tb is not walks[0]
        with pytest.raises(RuntimeError) as caught:
            torch.ones(2).view(7)
        hidden = traceback.extract_tb(caught.value.__traceback__)
    assert [getattr(traceback, name) for name in names] == walks
    assert (traceback.walk_stack, inspect.getouterframes) == stacks
    shown = traceback.extract_tb(caught.value.__traceback__)
    assert [f.name for f in hidden] == [shown[0].name]
    assert "_op" in [f.name for f in shown]
    recorder.release()


@pytest.mark.parametrize("failing", ["nn.Linear(1, 1).missing", "torch.Tensor('abc')"])
def test_doors_that_the_policy_has_shut_show_in_no_traceback(failing):
    source = f"import traceback\ntry: {failing}\nexcept Exception: print(traceback.format_exc())\n"
    told = run.record(source).stdout
    assert told.startswith("Traceback (most recent call last):\n")
    assert "policy" not in told
