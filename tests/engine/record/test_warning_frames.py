"""Warnings that a program sees: as many, from the same places, as without a recorder."""

import re
import subprocess
import sys
import textwrap
import warnings

import pytest

from gradscribe.engine.record.recorder import Recorder
from gradscribe.engine.run import run
from tests.engine.mirror import mirror

GIVING = {
    "torch's C++": "y.grad",
    "a function in Python": "F.mse_loss(torch.ones(2), torch.ones(2, 1))",
    "a function called by a module": "nn.L1Loss()(torch.ones(2), torch.ones(2, 1))",
    "one that looks further up": "nn.Softmax()(torch.ones(2, 2))",
    "a scheduler": "optim.lr_scheduler.StepLR(optim.SGD([w], 0.1), 1).step()",
    "the program": "warnings.warn('mine')",
    "the program, for its caller": "warnings.warn('mine', DeprecationWarning, 2)",
    "the program, for nobody": "warnings.warn('mine', stacklevel=999)",
    "an instance": "warnings.warn(RuntimeWarning('mine'))",
    "a custom function": "Warning_.apply(y)",
    "a custom function's backward": "Warning_.apply(y).sum().backward(retain_graph=True)",
}
HEAD = """
import warnings
class Warning_(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        warnings.warn("forward", stacklevel=2)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        warnings.warn("backward")
        return g
w = torch.ones(2, requires_grad=True)
y = w * 3
"""


@pytest.mark.parametrize("giving", GIVING.values(), ids=GIVING)
def test_a_program_that_collects_its_warnings_finds_its_own_places_in_them(giving):
    source = HEAD + textwrap.dedent(
        f"""
        def work():
            {giving}
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            work()
            work()
        for one in told:
            print(one.category.__name__, one.filename, one.lineno, str(one.message)[:60])
        """
    )
    assert mirror(source).stdout.count("\n") >= 2


@pytest.mark.parametrize("action", ["default", "always", "once", "module", "ignore"])
@pytest.mark.parametrize("giving", [GIVING["torch's C++"], GIVING["a function in Python"]])
def test_python_shows_a_warning_as_often_as_without_a_recorder(giving, action):
    source = HEAD + textwrap.dedent(
        f"""
        shown = []
        with warnings.catch_warnings():
            warnings.simplefilter("{action}")
            warnings.showwarning = lambda *told: shown.append(told[2:4])
            for _ in range(3):
                {giving}
            {giving}
        print(shown)
        """
    )
    mirror(source)


@pytest.mark.parametrize("giving", [GIVING["torch's C++"], GIVING["one that looks further up"]])
@pytest.mark.parametrize("module", ["__main__", "torch", "elsewhere"])
@pytest.mark.parametrize("action", ["error", "ignore"])
def test_filters_by_module_hold_for_the_module_that_a_warning_is_about(giving, module, action):
    source = HEAD + textwrap.dedent(
        f"""
        warnings.filterwarnings("{action}", module="{module}")
        shown = []
        warnings.showwarning = lambda *told: shown.append(told[3])
        try:
            {giving}
        except UserWarning as error:
            print("raised", error)
        print(shown)
        """
    )
    mirror(source)


def test_each_line_that_a_warning_is_about_is_told_once():
    source = "y = param(1.) * 2\ny.grad\ny.grad\nfor _ in range(3):\n    y.grad\n"
    told = [line for line in run.record(source).stderr.splitlines() if "UserWarning" in line]
    assert [line.partition(":")[0] for line in told] == ["line 2", "line 3", "line 5"]
    again = [line for line in run.record(source).stderr.splitlines() if "UserWarning" in line]
    assert again == told


def test_a_warning_that_is_none_raises_what_python_raises():
    for given in ("", "'mine', int", "'mine', None, 'x'", "'mine', None, 1, None, 5", "other=5"):
        mirror(f"import warnings\nwarnings.warn({given})")


def test_warnings_are_pythons_again_once_the_run_is_over():
    before = warnings.warn, warnings._showwarnmsg
    with Recorder("", "<gradscribe>"):
        assert warnings.warn is not before[0]
    assert (warnings.warn, warnings._showwarnmsg) == before


WARNING = """\
import sys, types, warnings
library = types.ModuleType("library")
exec('''
import warnings
def call():
    for kind in (DeprecationWarning, PendingDeprecationWarning, ResourceWarning, UserWarning):
        warnings.warn(f"of the library's: {kind.__name__}", kind)
        warnings.warn(f"of its caller's: {kind.__name__}", kind, stacklevel=2)
''', vars(library))
library.call()
import torch
torch.set_default_tensor_type(torch.FloatTensor)
torch.func.vmap(torch.func.grad(torch.sin))(torch.ones(2))
import torch._functorch.deprecated as old
old.vmap(torch.sin)(torch.ones(2))
"""


def test_those_warnings_show_that_show_in_a_script():
    ran = subprocess.run(
        [sys.executable, "-c", WARNING], capture_output=True, text=True, check=True
    )
    told = re.findall(r"\w+Warning: .*", ran.stderr)
    assert told
    assert re.findall(r"\w+Warning: .*", run.record(WARNING).stderr) == told
