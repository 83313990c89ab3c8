"""Answers on a program that was never run, compared with the program when it runs."""

import inspect
import os

import pytest
import torch

from gradscribe.engine.language.analysis import MAX_DEPTH, MAX_SOURCE, PRELUDE, ProgramAnalysis
from gradscribe.engine.language.catalogue import read_torch
from gradscribe.engine.protocol.language import Complete, Describe, Explain, Locate

PROGRAM = '''\
class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layer = nn.Linear(2, size)
    def forward(self, x, scale=2.0):
        """Scale it. And more."""
        hidden = self.layer(x)
        return hidden * scale
net = Net(3)
x = param([[1.0, 2.0]])
loss_function = nn.MSELoss()
def helper(a, b=2, *rest, key: int = 3):
    return a
'''


@pytest.fixture(scope="module")
def analysis():
    return ProgramAnalysis()


def place(text):
    """Line and column behind the text that is added to the program."""
    source = PROGRAM + text
    return source, source.count("\n") + 1, len(text.rpartition("\n")[2])


def names(analysis, text):
    return {one.name for one in analysis.complete(Complete(1, *place(text))).names}


def explained(analysis, text):
    return analysis.explain(Explain(1, *place(text))).called


def test_the_prelude_defines_what_every_program_starts_with(analysis):
    from gradscribe.engine.protocol.messages import Run
    from gradscribe.engine.run.run import initial_names

    starts = {name for name in initial_names(Run(1, "")) if not name.startswith("__")}
    assert starts <= names(analysis, "")
    exec(compile(PRELUDE, "prelude", "exec"), {})


def test_names_in_scope_and_no_others(analysis):
    assert {"net", "x", "helper", "Net"} <= names(analysis, "")
    assert "hidden" not in names(analysis, "")
    inside = names(analysis, "def g(first, second):\n    local = 1\n    ")
    assert {"first", "second", "local", "net"} <= inside


def test_members_are_those_of_the_real_objects(analysis):
    found = names(analysis, "net.")
    assert {"layer", "forward"} <= found
    assert {name for name in dir(torch.nn.Module) if not name.startswith("_")} <= found
    assert {"sum", "backward", "shape", "grad"} <= names(analysis, "net.layer.weight.")
    assert {name for name in dir(str) if not name.startswith("_")} <= names(analysis, '"".')


def test_a_signature_is_that_of_the_function(analysis):
    scope = {"torch": torch, "nn": torch.nn}
    exec(PROGRAM.replace("param(", "torch.tensor("), scope)
    called = explained(analysis, "helper(")
    plain = inspect.signature(scope["helper"])
    assert called.signatures == (str(plain).replace("int = 3", "int=3"),)
    called = explained(analysis, "net(")
    assert called.name == "forward"
    assert called.signatures == ("(x, scale=2.0)",)
    assert called.summary == "Scale it."
    assert explained(analysis, "Net(").signatures == ("(size)",)
    assert explained(analysis, "loss_function(").signatures[0].startswith("(input: Tensor, target")


def test_torchs_functions_have_torchs_own_words():
    analysis = ProgramAnalysis()
    owners = read_torch().owners
    analysis.catalogue = {
        path: {known.name: known for known in members} for path, members in owners.items()
    }
    called = explained(analysis, "x.sum(")
    assert called.summary == "Returns the sum of all elements in the input tensor."
    # Neither its docstring nor Python has the signature of torch.relu, the stubs have.
    assert explained(analysis, "torch.relu(").signatures == ("(input: Tensor) -> Tensor",)


def test_more_about_a_completion(analysis):
    analysis.complete(Complete(1, *place("net.for")))
    known = analysis.describe(Describe(2, "forward")).known
    assert known is not None
    assert known.signatures == ("(x, scale=2.0)",)
    assert analysis.describe(Describe(3, "nothing")).known is None


@pytest.mark.parametrize(
    ("text", "line"),
    [("helper", 12), ("net.forward", 5), ("net.layer", 4), ("net", 9), ("Net", 1)],
)
def test_definitions(analysis, text, line):
    found = analysis.locate(Locate(1, *place(text)))
    assert found.line == line
    name = text.rpartition(".")[2]
    assert PROGRAM.split("\n")[line - 1][found.column :].startswith(name)


@pytest.mark.parametrize(
    ("text", "home"),
    [("torch.relu", "torch"), ("nn", "torch"), ("print", "builtins"), ("param", "Gradscribe")],
)
def test_what_is_defined_elsewhere(analysis, text, home):
    found = analysis.locate(Locate(1, *place(text)))
    assert (found.line, found.elsewhere) == (0, home)


def test_an_import_leads_to_its_line_and_from_there_to_its_package(analysis):
    found = analysis.locate(Locate(1, *place("import os\nos")))
    assert (found.line, found.elsewhere) == (PROGRAM.count("\n") + 1, "")
    assert analysis.locate(Locate(1, *place("import os"))).elsewhere == "os"


@pytest.mark.parametrize(
    "text",
    ["def f(:", "x = [", "class", "net.layer(((", '"""', "if True:\nx", "\x00", "é.", "((" * 90],
)
def test_half_typed_text_has_an_answer(analysis, text):
    source, line, column = place(text)
    analysis.complete(Complete(1, source, line, column))
    analysis.locate(Locate(1, source, line, column))


def test_modules_in_the_folder_are_read_and_not_run(tmp_path):
    mark = tmp_path / "was_run"
    (tmp_path / "mine.py").write_text(
        f"from pathlib import Path\nPath({str(mark)!r}).touch()\nvalue = 'text'\ndef tool(a): ...\n"
    )
    analysis = ProgramAnalysis(str(tmp_path))
    assert {"value", "tool"} <= names(analysis, "import mine\nmine.")
    assert "upper" in names(analysis, "import mine\nmine.value.")
    assert not mark.exists()


def test_nothing_of_a_program_is_run(analysis, tmp_path, monkeypatch):
    mark = tmp_path / "was_run"
    monkeypatch.setenv("MARK", str(mark))
    text = (
        "import os\n"
        "open(os.environ['MARK'], 'w')\n"
        "class Trap:\n"
        "    def __getattr__(self, name): open(os.environ['MARK'], 'w')\n"
        "    @property\n"
        "    def p(self): open(os.environ['MARK'], 'w')\n"
        "trap = Trap()\n"
        "__import__('os').system('touch $MARK')\n"
        "trap.p."
    )
    names(analysis, text)
    explained(analysis, text[:-1] + "(")
    assert not mark.exists()
    assert os.environ["MARK"]


def test_a_huge_text_is_refused(analysis):
    with pytest.raises(ValueError, match="too long"):
        analysis.complete(Complete(1, "x" * (MAX_SOURCE + 1), 1, 0))


@pytest.mark.parametrize("text", ["(" * 20_000, "x = " + "[{(" * 70, "f(" * (MAX_DEPTH + 1)])
def test_a_text_too_deep_for_python_is_refused(analysis, text):
    """jedi took 40 seconds for the first, in which nothing else was answered."""
    with pytest.raises(SyntaxError, match=r"too many nested|never closed"):
        compile(text, "", "exec")
    with pytest.raises(ValueError, match="nested brackets"):
        analysis.complete(Complete(1, text, 1, len(text)))


def test_many_brackets_one_after_the_other_are_analysed(analysis):
    text = "(1), [2], {3}, " * 100 + "))) max"
    assert "max" in [name.name for name in analysis.complete(Complete(1, text, 1, len(text))).names]
