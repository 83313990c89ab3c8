"""The mistakes that the shipped lessons reply to: wrong, and what plain PyTorch makes of them."""

import ast
import functools
import re
from importlib import resources

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode

from gradscribe.engine.run.run import record
from gradscribe.playback.lessons.answers import answer_text, compare
from gradscribe.playback.lessons.check import says
from gradscribe.playback.lessons.mistakes import explain_mistake, find_mistakes, quoted
from gradscribe.playback.lessons.parse import parse_lesson
from gradscribe.playback.lessons.query import evaluate
from gradscribe.playback.tape.index import index_of
from tests.playback.lessons.plain_torch import run_plainly

pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")
FOLDER = resources.files("gradscribe.assets") / "lessons"


def _questions():
    for entry in sorted(FOLDER.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".md"):
            lesson = parse_lesson(entry.name, entry.read_text(encoding="utf-8"))
            for number, step in enumerate(lesson.steps, 1):
                if step.question is not None and step.question.kind != "choice":
                    yield f"{lesson.name} {number}", step


QUESTIONS = dict(_questions())


@functools.cache
def tape(program):
    return index_of(record(program))


# An independent meaning of the lessons' functions: of tensors that plain PyTorch made


class Counter(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.names.append(function.__name__.strip("_"))
        return function(*args, **(kwargs or {}))


def _rooted(program):
    """Return the program with its last backward's root as ``root``, and with graphs retained."""
    parts = re.split(r"^(\s*)(\S.*)\.backward\((?:gradient=)?(.*)\)$", program, flags=re.MULTILINE)
    assert len(parts) == 5
    before, indent, root, seed, after = parts
    backward = f"root.backward({seed or None}, retain_graph=True)"
    return f"{before}{indent}root = {root}\n{indent}{backward}{after}", seed


def _gradient(names, program, tensor):
    """Return a leaf's ``.grad``, or the gradient of the root with respect to any other tensor."""
    if tensor.is_leaf:
        return tensor.grad
    source, seed = _rooted(program)
    plain = run_plainly(source)
    name = next(key for key, value in names.items() if value is tensor)
    seed = eval(seed, dict(plain)) if seed else None
    return torch.autograd.grad(plain["root"], plain[name], seed)[0]


def _earlier(program, name):
    return [
        run_plainly(re.split(r"^with torch.no_grad|^opt = ", program, flags=re.MULTILINE)[0])[
            name
        ].detach()
    ]


def _held(program):
    kept = {}

    def pack(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        run_plainly(program.split("z.backward")[0])
    return sum(kept.values())


def _shares(program, name):
    """Return each share of a gradient: all uses of the tensor but one are detached.

    In the order of arrival: backward meets the latest use first.
    """
    lines = [line for line in program.split("\n") if "=" in line and "param" not in line]
    if not lines:  # the passes of one expression after another: the last one's
        first, *_, last = program.strip().split("\n")
        return [run_plainly(f"{first}\n{last}\n")[name].grad]
    uses = [
        (line, match)
        for line in lines
        for match in re.finditer(rf"(?<![\w.]){name}(?![\w.])", line.partition("=")[2])
    ]
    found = []
    for kept in uses:
        changed = program
        for line in lines:
            right = line.partition("=")[2]
            for used in reversed([use for use in uses if use[0] == line and use != kept]):
                start, stop = used[1].span()
                right = f"{right[:start]}{name}.detach(){right[stop:]}"
            changed = changed.replace(line, f"{line.partition('=')[0]}={right}")
        found.append(run_plainly(changed)[name].grad)
    return found[::-1]


class _Dotted(dict):
    """Names of a program, ``net.0.weight`` among them."""

    def find(self, name):
        first, *rest = name.split(".")
        found = self[first]
        for part in rest:
            found = found[int(part)] if part.isdecimal() else getattr(found, part)
        return found


def by_torch(expression, program):
    """Return what an expression of a lesson means to plain PyTorch."""
    counter = Counter()
    with counter:
        names = _Dotted(run_plainly(program))

    def grad(name, at=""):
        if at:  # before zero_grad 2: after the first round
            return run_plainly(program.replace("range(3)", "range(1)"))["model"].weight.grad
        return _gradient(names, program, names.find(name))

    def of_tensor(function):
        return lambda name: function(names.find(name))

    functions = {
        "value": of_tensor(lambda t: t.detach().double() if t.is_floating_point() else t),
        "grad": grad,
        "shape": of_tensor(lambda t: list(t.shape)),
        "stride": of_tensor(lambda t: list(t.stride())),
        "numel": of_tensor(lambda t: t.numel()),
        "size": of_tensor(lambda t: t.untyped_storage().nbytes()),
        "dtype": of_tensor(lambda t: str(t.dtype).removeprefix("torch.")),
        "grad_fn": of_tensor(lambda t: t.grad_fn.name()),
        "count": lambda op: counter.names.count(op),
        "parameters": lambda: sum(
            p.numel()
            for module in names.values()
            if isinstance(module, torch.nn.Module)
            for p in module.parameters()
        ),
        "earlier": lambda name: _earlier(program, name),
        "shares": lambda name: _shares(program, name),
        "held": lambda at: _held(program),
        "values": lambda name: [
            run_plainly(re.sub(r"range\(\d+\)", f"range({rounds})", program))[name].detach()
            for rounds in (1, 60)
        ],
        "sum": lambda t: torch.as_tensor(t).sum(),
        "mean": lambda t: torch.as_tensor(t).mean(),
        "max": lambda t: torch.as_tensor(t).max(),
        "min": lambda t: torch.as_tensor(t).min(),
        "sqrt": lambda t: torch.as_tensor(t).double().sqrt(),
        "exp": lambda t: torch.as_tensor(t).exp(),
        "abs": abs,
        "len": len,
    }
    return eval(_with_text_names(expression, functions), functions)


def _with_text_names(expression, functions):
    """Return the expression with ``x`` of ``value(x)`` as text."""

    class Quoting(ast.NodeTransformer):
        def visit_Call(self, node):
            self.generic_visit(node)
            if node.args and isinstance(node.args[0], ast.Name | ast.Attribute):
                node.args[0] = ast.Constant(ast.unparse(node.args[0]))
            return node

    return ast.unparse(Quoting().visit(ast.parse(expression, mode="eval")))


def plain(found):
    """Return tensors and lists of them as arrays or numbers."""
    if isinstance(found, torch.Tensor):
        return found.detach().double().numpy() if found.dtype != torch.bool else found.numpy()
    if isinstance(found, list) and any(isinstance(item, torch.Tensor) for item in found):
        return np.asarray([np.asarray(plain(item)) for item in found], "f8")
    return found


STATED = [(key, mistake) for key, step in QUESTIONS.items() for mistake in step.question.mistakes]


@pytest.mark.parametrize(("key", "mistake"), STATED, ids=lambda part: getattr(part, "answer", part))
def test_a_stated_mistake_is_the_number_that_torch_gives_for_it(key, mistake):
    step = QUESTIONS[key]
    found = evaluate(mistake.answer, tape(step.program))
    expected = plain(by_torch(mistake.answer, step.program))
    if isinstance(expected, str):
        assert found == expected
    else:
        np.testing.assert_allclose(np.asarray(found, "f8"), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("key", QUESTIONS)
def test_every_question_knows_several_mistakes_and_each_is_wrong(key):
    step = QUESTIONS[key]
    index, question = tape(step.program), step.question
    truth = evaluate(question.answer, index)
    mistakes = find_mistakes(question, index)
    assert len(mistakes) >= (2 if question.kind == "word" else 3)
    assert sum(mistake.kind == "stated" for mistake in mistakes) == len(question.mistakes) >= 1
    for mistake in mistakes:
        typed = answer_text(mistake.wrong, question.kind == "shape")
        assert compare(question, typed, truth) == "wrong", typed
        assert not says(mistake.reply, truth), mistake.reply
        if len(typed) <= 200:
            # Rounded as it is written, it may be another mistake's number as well.
            replies = {quoted(known.reply, typed) for known in mistakes}
            assert explain_mistake(question, typed, index) in replies


MADE = [
    # Question, change that makes the mistake, what is then read off, the wrong answer.
    ("two_uses 3", "z + x", "z + x.detach()", "x.grad", 48),
    ("two_uses 3", "x * y", "x.detach() * y", "x.grad", 16),
    ("two_uses 3", "loss = w**2", "loss = w", "x.grad", 4),
    ("two_uses 4", "loss = w**2", "loss = w", "y.grad", 2),
    ("backward 3", "L = q * z", "L = q", "x.grad", 1),
    ("local_rules 3", "x.mean()", "x.sum()", "x.grad[0, 0]", 5),
    ("local_rules 3", "5 * x.mean()", "x.mean()", "x.grad[0, 0]", 0.25),
    ("local_rules 1", "torch.relu(x)", "x * 1", "x.grad", [1, 10, 100]),
    ("local_rules 4", "x**3", "x**2", "x.grad", 6),
    ("accumulate 1", "(x**2).backward()\n(x**2).backward()", "(x**2).backward()", "x.grad", 4),
    ("vectors 3", "[1.0, 0.0, 10.0]", "[1.0, 1.0, 1.0]", "x.grad", [2, 4, 6]),
    ("flat 1", "x.round()", "x * 1", "x.grad", 1),
    ("layer 1", "layer.bias\n", "0\n", "layer.weight.numel()", 6),
    ("layer 2", "torch.ones(4, 3)", "torch.ones(1, 3)", "layer.bias.grad", [1, 1]),
    ("layer 4", "y = w * h", "y = w.detach() * h", "w.grad", 6),
    ("losses 1", "nn.MSELoss()", "nn.MSELoss(reduction='sum')", "loss", 5),
    ("losses 1", "nn.MSELoss()", "nn.L1Loss()", "loss", 1),
    ("losses 6", "(score, answer)", "(score, answer, reduction='sum')", "score.grad[0]", -0.5),
    ("descent 1", "w -=", "w +=", "w", -0.6),
    ("descent 1", "0.1 * w.grad", "w.grad", "w", 6),
    ("by_hand 2", ".mean()", ".sum()", "w.grad", [[-54]]),
    ("by_hand 2", "** 2).mean()", "** 2).mean() / 2", "w.grad", [[-6.75]]),
    ("by_hand 3", "    w -=", "    w +=", "w", [[-0.85]]),
    ("by_hand 3", "    w -= 0.1 * ", "    w -= ", "w", [[14]]),
    ("inputs 2", "torch.relu(features - 2)", "(features - 2)", "features.grad", [3, 1, -1]),
    ("arithmetic 1", "product = a * b", "product = a @ b", "product", 32),
    ("arithmetic 4", "a = a + 1", "a += 1", "b", [2, 3]),
    ("reshaping 2", "a.view(6)", "a.clone().view(6)", "first", 0),
    ("numpy 1", "torch.from_numpy(array)", "torch.tensor(array)", "first", 1),
    ("picking 3", "x.sum(dim=0)", "x.sum(dim=1)", "down", [6, 15]),
    ("picking 3", "x.sum(dim=0)", "x.sum()", "down", 21),
    ("picking 3", "x.sum(dim=0)", "x.mean(dim=0)", "down", [2.5, 3.5, 4.5]),
    ("dtypes 3", "dtype=torch.float16", "dtype=torch.float32", "more", 2049),
    ("modes 1", "drop = nn.Dropout(0.5)", "drop = nn.Identity()", "trained.max()", 1),
    ("further 3", "x**3", "x**2", "g", 4),
    ("five_lines 3", "opt.step()", "opt.zero_grad(False)", "model.weight.grad[0, 0]", 0),
]


@pytest.mark.parametrize(("key", "old", "new", "asked", "number"), MADE)
def test_a_mistake_made_in_the_program_leads_to_the_answer_that_is_replied_to(
    key, old, new, asked, number
):
    step = QUESTIONS[key]
    assert old in step.program
    made = plain(eval(asked, dict(run_plainly(step.program.replace(old, new)))))
    np.testing.assert_allclose(made, number, rtol=1e-6)
    index = tape(step.program)
    known = [
        m
        for m in find_mistakes(step.question, index)
        if compare(step.question, answer_text(number), m.wrong) == "right"
    ]
    assert known, f"nothing is known about {number}"
    assert explain_mistake(step.question, answer_text(number), index) == quoted(
        known[0].reply, answer_text(number)
    )
