"""Hints for errors of backward, gradients and in-place changes."""

import ast
import contextlib
import re

from gradscribe.engine.hints.advice import HintContext, HintRow

_LEAF = "Change a parameter inside `with torch.no_grad():`, or make a new tensor instead."


def _no_way_back(match: re.Match[str], case: HintContext) -> str:  # noqa: ARG001 - as every answer
    with contextlib.suppress(SyntaxError):
        if _is_of_gradient(case):
            return _AGAIN
    return (
        "No parameter leads here: give an input requires_grad=True, and look for detach(), "
        "no_grad() or .item() on the way."
    )


_AGAIN = (
    "This was computed from a gradient, and gradients have no graph of their own: compute that "
    "one with create_graph=True to differentiate it again."
)


def _unused(match: re.Match[str], case: HintContext) -> str:  # noqa: ARG001 - as every answer
    with contextlib.suppress(SyntaxError):
        if _is_of_gradient(case):
            return _CONSTANT
    return "The result does not depend on this tensor; allow_unused=True gives None for it."


_CONSTANT = (
    "This gradient does not depend on the tensor: where a model is linear its derivative is "
    "constant, and the next one is 0. materialize_grads=True gives zeros; a nonlinear model has a "
    "second derivative."
)


def _is_of_gradient(case: HintContext) -> bool:
    """Return whether the differentiated tensor derives from ``autograd.grad`` or a ``.grad``.

    Names are followed through all assignments of the program, wherever they are.
    """
    assigned: dict[str, list[ast.expr]] = {}
    for node in ast.walk(ast.parse(case.source)):
        if isinstance(node, ast.Assign):
            for name in (
                n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)
            ):
                assigned.setdefault(name, []).append(node.value)
    call = ast.parse(case.code.strip(), mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    seen, stack = set[str](), [*call.args[:1], call.func.value]
    while stack:
        for node in ast.walk(stack.pop()):
            if isinstance(node, ast.Attribute) and node.attr == "grad":
                return True
            if isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                stack += assigned.get(node.id, [])
    return False


ROWS = (
    HintRow(
        "grad can be implicitly created only for scalar outputs",
        "Make one number of it first, with .sum() or .mean(), or pass backward(gradient=...).",
        "grad can be implicitly created only for scalar outputs",
    ),
    HintRow(
        "backward through the graph a second time",
        "The first backward() freed the graph: run the forward lines again, or pass "
        "retain_graph=True the first time.",
        "Trying to backward through the graph a second time",
    ),
    HintRow(
        r"modified by an inplace operation.*which is output \d+ of (\w+?)(Backward\d*)?, is at",
        "{1} saved this tensor for backward, and a later line changed it in place: use the form "
        "without the underscore (y = y + 1).",
        "modified by an inplace operation: [torch.FloatTensor [1]], which is output 0 of Exp, "
        "is at version 1; expected version 0 instead.",
    ),
    HintRow(
        "modified by an inplace operation",
        "Backward needs a tensor that a later line changed in place: make a new one instead.",
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation",
    ),
    HintRow(
        "leaf Variable that requires grad is being used in an in-place operation",
        _LEAF,
        "a leaf Variable that requires grad is being used in an in-place operation.",
    ),
    HintRow(
        "does not require grad and does not have a grad_fn",
        _no_way_back,
        "element 0 of tensors does not require grad and does not have a grad_fn",
    ),
    HintRow(
        "appears to not have been used in the graph",
        _unused,
        "The differentiated Tensor at index 0 appears to not have been used in the graph.",
    ),
    HintRow(
        r"Mismatch in shape: grad_output",
        "gradient= must have the shape of the tensor that backward() is called on.",
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([3])",
    ),
    HintRow(
        "Only Tensors of floating point",
        "Only real numbers have gradients: write 2.0 instead of 2, or dtype=torch.float32.",
        "Only Tensors of floating point and complex dtype can require gradients",
    ),
    HintRow(
        "only change requires_grad flags of leaf",
        "This tensor was computed: use .detach() to cut it off instead.",
        "you can only change requires_grad flags of leaf variables.",
    ),
    HintRow(r"Can't call numpy\(\)", "Write .detach().numpy().", "Can't call numpy() on Tensor"),
    HintRow(
        "Inference tensors",
        "Use torch.no_grad() instead of inference_mode() where backward comes later.",
        "Inference tensors cannot be saved for backward.",
    ),
    HintRow(
        "support the deepcopy protocol",
        "Copy a computed tensor with .detach().clone().",
        "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol",
    ),
    HintRow(
        r"same size in the mapped dimension, got sizes (\[[\d, ]+\])",
        "vmap takes one slice of each argument at a time, and they have {1}: give in_dims None for "
        "what stays whole.",
        "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
        "[3, 5] for the mapped dimension",
        ValueError,
    ),
    HintRow(
        r"vmap: It looks like you're .*\.item\(\) on a Tensor",
        "Inside vmap a tensor stands for all slices: leave .item() out, and use torch.where in "
        "place of if.",
        "vmap: It looks like you're calling .item() on a Tensor.",
    ),
    HintRow(
        r"vmap: It looks like you're .*data-dependent control flow",
        "Inside vmap a tensor stands for all slices: use torch.where in place of if.",
        "vmap: It looks like you're attempting to use a Tensor in some data-dependent "
        "control flow.",
    ),
    HintRow(
        r"Expected f\(\*args\) to return a scalar Tensor, got tensor with (\d+) dims?",
        "grad needs a function that returns one number: add .sum() or .mean(), or use jacrev.",
        "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with 1 "
        "dims.",
    ),
)
