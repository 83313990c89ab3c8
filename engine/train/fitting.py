"""Check that the outputs of a user's model fit its loss."""

import torch
from msgspec.structs import replace
from torch.nn.parameter import is_lazy

from engine.errors import RAISES, name_of
from engine.setup import BadSetup, Part
from engine.tape import Problem
from engine.train import attributes, catalogue, outside
from engine.train.program import Failed, Program, quiet
from engine.zoo.pieces import Loss

ROWS = 3
GIVEN = "Training calls model(inputs), with one tensor: give a default to what else forward takes."


def check(program: Program) -> None:
    """Run the model once and check its output shape: a loss may silently broadcast a wrong one.

    The program is left unchanged.

    Raises:
        BadSetup: the shapes do not fit. `Failed`: the model raised.
    """
    model = program.model
    if any(is_lazy(p) for p in model.parameters()):
        return
    random = torch.get_rng_state()
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.no_grad(), quiet(), attributes.untouched(program):
            output = model(program.tensor("x_train")[:ROWS].clone())
    except RAISES as error:
        raise Failed(_with_hint(program.failure(error)), "model.source") from error
    finally:
        for module, training in modes:
            module.training = training
        torch.set_rng_state(random)
    _check_shape(program, output)
    if _has_external_state(program):
        # Its external state has changed by the calls made here: create it again.
        program.begin_again()
        program.keeps_elsewhere = True


def _has_external_state(program: Program) -> bool:
    """Return whether two calls from the same state differ, or the second changes external state.

    That is the case if it counts in a global or draws from another generator. What the first call
    alone creates does not matter.
    """
    model, inputs = program.model, program.tensor("x_train")[:ROWS]
    random = torch.get_rng_state()
    outputs, states = [], []
    for _ in range(2):
        torch.set_rng_state(random)
        try:
            with torch.no_grad(), quiet(), attributes.untouched(program):
                outputs.append(model(inputs.clone()).detach().clone())
            states.append(outside.seen(program))
        except RAISES:
            # It may not accept so few rows; then this cannot be decided.
            return False
        finally:
            torch.set_rng_state(random)
    first, second = outputs
    return states[0] != states[1] or not (
        first.shape == second.shape and torch.allclose(first, second, 0, 0, equal_nan=True)
    )


def _with_hint(problem: Problem) -> Problem:
    """Return the problem with a hint if forward has other arguments than one tensor."""
    if any(f"forward() {word}" in problem.message for word in ("missing", "takes")):
        return replace(problem, hint=GIVEN)
    return problem


def _check_shape(program: Program, output: object) -> None:
    if not isinstance(output, torch.Tensor):
        kind = name_of(type(output))
        raise BadSetup(f"forward returns a {kind}, but must return one tensor", "model.source")
    targets = program.tensor("y_train")[:ROWS]
    part = program.setup.loss
    assert isinstance(part, Part)
    piece, _ = catalogue.find("loss", part, Loss)
    has, expected = tuple(output.shape), tuple(targets.shape)
    if piece.targets == "classes" and program.task != "regression":
        expected = (*expected, program.shapes.outputs)
        enough = len(has) == len(expected) and has[:-1] == expected[:-1] and has[-1] >= expected[-1]
    else:
        enough = has == expected
    if not enough:
        rows = len(targets)
        raise BadSetup(
            f"forward makes {_shape_text(has)} of {rows} examples, but {part.name} needs "
            f"{_shape_text(expected)} here",
            "model.source",
        )


def _shape_text(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
