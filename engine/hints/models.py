"""Hints for errors in assembling models: states, schedules, saved models, loaders."""

import ast
import difflib
import re
import traceback

import torch
from torch import nn

from gradscribe.engine.hints import operands
from gradscribe.engine.hints.advice import HintContext, HintRow


def batched_matmul(match: re.Match[str], case: HintContext) -> str:
    """Hint for a batched product whose second operand does not fit."""
    batch, inner, batch_given, other = match.groups()
    text = (
        f"In (b × n × k) @ (b × k × m) the second begins with ({batch}, {inner}) and not "
        f"({batch_given}, {other})."
    )
    pair = operands.binary_operands(case)
    if len(pair) == 2 and batch == batch_given and str(pair[1][1].shape[-1]) == inner:
        return f"{text} {pair[1][0]}.transpose(1, 2) would fit."
    return text


def embedding_index(match: re.Match[str], case: HintContext) -> str:  # noqa: ARG001
    """Hint for an index without a row in an embedding."""
    known = [thing for _, thing in operands.operands(case)]
    rows = next((layer.num_embeddings for layer in known if isinstance(layer, nn.Embedding)), 0)
    indices = next(
        (t for t in known if isinstance(t, torch.Tensor) and not t.is_floating_point()), 0
    )
    text = "An embedding's indices go from 0 to num_embeddings − 1."
    if not rows or not isinstance(indices, torch.Tensor) or not indices.numel():
        return text
    low, high = int(indices.min()), int(indices.max())
    wrong = low if low < 0 else high
    return f"Index {wrong} has no row: this embedding's rows are 0 to {rows - 1}."


def state_dict_mismatch(match: re.Match[str], case: HintContext) -> str:  # noqa: ARG001
    """Hint for a saved state that does not fit the model: its first entry that differs."""
    message = str(case.exc)
    size = re.search(
        r"size mismatch for ([\w.]+): .*?Size\(\[(.*?)\]\).*?Size\(\[(.*?)\]\)", message, re.DOTALL
    )
    if size is not None:
        return f"{size[1]} is ({size[2]}) in the saved state and ({size[3]}) in this model."
    missing = re.search(r"Missing key\(s\) in state_dict: \"([^\"]+)\"", message)
    extra = re.search(r"Unexpected key\(s\) in state_dict: \"([^\"]+)\"", message)
    if extra is not None and missing is not None:
        if extra[1] == f"module.{missing[1]}":
            return "It was saved from a DataParallel: take module. off the front of its names."
        return f"The saved state calls {extra[1]} what this model may call {missing[1]}."
    if missing is not None:
        return f"The saved state has no {missing[1]}: build the model that was saved."
    if extra is not None:
        return f"This model has no {extra[1]}: build the model that was saved."
    return "The saved state belongs to a model with other layers or sizes: build the same one."


def missing_forward(match: re.Match[str], case: HintContext) -> str:  # noqa: ARG001
    """Hint for a module without forward: a similar method, or a forward outside the class."""
    frames = [frame for frame, _ in traceback.walk_tb(case.exc.__traceback__)]
    module = frames[-1].f_locals.get("self") if frames else None
    if isinstance(module, nn.ModuleList | nn.ModuleDict):
        return (
            f"A {type(module).__name__} only holds layers: call each of them in a loop, or use "
            "nn.Sequential."
        )
    methods = [
        name for kind in type(module).__mro__ for name in vars(kind) if kind is not nn.Module
    ]
    methods = [name for name in methods if not hasattr(nn.Module, name)]
    close = difflib.get_close_matches("forward", [name.strip("_").lower() for name in methods], n=1)
    if close:
        meant = next(name for name in methods if name.strip("_").lower() == close[0])
        return f"Calling a module runs forward: rename the method {meant} to forward."
    tree = ast.parse(case.source)
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    inside = {id(part) for cls in classes for part in cls.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "forward" and id(node) not in inside:
            return (
                f"forward on line {node.lineno} is not in the class: give its def the indentation "
                "of __init__."
            )
    return "Give the class a method forward(self, ...)."


ROWS = (
    HintRow(
        r"missing the required .forward. function",
        missing_forward,
        'Module [M] is missing the required "forward" function',
        NotImplementedError,
    ),
    HintRow(
        r"first two dimensions of batch2 tensor to be: \[(\d+), (\d+)\] but got: \[(\d+), (\d+)\]",
        batched_matmul,
        "Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 5].",
    ),
    HintRow(
        r"subscripts in the equation \((\d+)\) does not match the number of dimensions \((\d+)\) "
        r"for operand (\d+)",
        "Each dimension has one letter: operand {3}, counted from 0, has {2} dimensions and {1} "
        "letters.",
        "einsum(): the number of subscripts in the equation (3) does not match the number of "
        "dimensions (2) for operand 0 and no ellipsis was given",
    ),
    HintRow(
        "Expected floating point type for target with class probabilities",
        "Of one shape with the scores, a target is read as probabilities: scores are (rows, "
        "classes), targets (rows).",
        "Expected floating point type for target with class probabilities, got Long",
    ),
    HintRow(
        r"Expected hidden(?:\[\d\])? size \((.+)\), got \[(.+)\]",
        "The state must be (layers, batch, hidden) = ({1}); here it is ({2}).",
        "Expected hidden[0] size (1, 2, 8), got [1, 3, 8]",
    ),
    HintRow(
        "cannot be called on meta tensors",
        "A tensor on the meta device has a shape and no numbers: make it on cpu.",
        "Tensor.item() cannot be called on meta tensors",
    ),
    HintRow(
        r"default_collate: batch must contain .* found <class '(.+)'>",
        "A batch is made of tensors, numbers, or dicts and lists of them: a {1} needs its own "
        "collate_fn.",
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        "found <class 'object'>",
        TypeError,
    ),
    HintRow(
        r"expected (\d)D(?: or \dD)? input \(got (\d)D input\)",
        "Made for {1} dimensions and given {2}: BatchNorm1d takes (batch, features), BatchNorm2d "
        "pictures.",
        "expected 4D input (got 2D input)",
        ValueError,
    ),
    HintRow(
        r"was expecting embedding dimension of (\d+), but got (\d+)",
        "The attention is made for vectors of {1}; the last dimension here is {2}.",
        "was expecting embedding dimension of 8, but got 6",
        AssertionError,
    ),
    HintRow(
        r"cannot assign '.+' as parameter '(\w+)'",
        "A parameter is replaced by a parameter: write nn.Parameter(...) around the tensor.",
        "cannot assign 'torch.FloatTensor' as parameter 'weight' (torch.nn.Parameter or None "
        "expected)",
        TypeError,
    ),
    HintRow(
        r"Calculated output size: \((.+)\)\. Output size is too small",
        "Nothing is left after this pooling, ({1}): pool less often, or begin with a bigger "
        "picture.",
        "Given input size: (1x2x2). Calculated output size: (1x0x0). Output size is too small",
    ),
    HintRow(
        "only one dimension can be inferred",
        "-1 stands for the one size that torch works out: write all the others.",
        "only one dimension can be inferred",
    ),
    HintRow(
        r"(\w+) is not an Optimizer",
        "A schedule takes the optimizer first: StepLR(optimizer, ...).",
        "float is not an Optimizer",
        TypeError,
    ),
    HintRow(
        r"Parent directory (.+) does not exist",
        "Make the folder {1} first, or save beside the program.",
        "Parent directory models does not exist.",
    ),
    HintRow(
        r"(LSTM|GRU|RNN): Expected input to be 2D or 3D, got (\d)D",
        "{1} reads (steps, batch, features), or (steps, features) without a batch: here are {2} "
        "dimensions.",
        "GRU: Expected input to be 2D or 3D, got 4D instead",
        Exception,
    ),
    HintRow(
        r"argument 'size' .*(?:but got|not) (\w+)",
        "Sizes are whole numbers, not {1}: divide with //, or use int(...).",
        "empty(): argument 'size' failed to unpack the object at pos 2 with error \"type must be "
        'tuple of ints,but got float"',
        TypeError,
    ),
    HintRow(
        r"torch\.nn\.\S*?(\w+) is not a Module subclass",
        "Make the layer with parentheses: nn.{1}().",
        "torch.nn.modules.activation.ReLU is not a Module subclass",
        TypeError,
    ),
    HintRow(
        "list is not a Module subclass",
        "Sequential takes its layers one by one: nn.Sequential(*layers).",
        "list is not a Module subclass",
        TypeError,
    ),
    HintRow(
        "ModuleList.extend should be called with an iterable",
        "Give it a list of layers: nn.ModuleList([...]).",
        "ModuleList.extend should be called with an iterable, but got Linear",
        TypeError,
    ),
    HintRow(
        "index out of range in self", embedding_index, "index out of range in self", IndexError
    ),
    HintRow(
        "loading state_dict", state_dict_mismatch, "Error(s) in loading state_dict for Linear:"
    ),
)
