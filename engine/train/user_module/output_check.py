"""Check that the outputs of a user's model fit its loss."""

import torch
from torch.nn.parameter import is_lazy

from gradscribe.engine.protocol.safe_text import type_name
from gradscribe.engine.protocol.setup import Part, SetupError
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Problem
from gradscribe.engine.run.errors import USER_ERRORS
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.train.source.program import ProgramError, TrainingProgram, suppress_warnings
from gradscribe.engine.train.user_module import attributes, external_state
from gradscribe.engine.zoo.entry import Loss

ROWS = 3
ARGUMENTS_HINT = (
    "Training calls model(inputs), with one tensor: give a default to what else forward takes."
)


def check(program: TrainingProgram) -> None:
    """Run the model once and check its output shape: a loss may silently broadcast a wrong one.

    The program is left unchanged.

    Raises:
        SetupError: the shapes do not fit. `ProgramError`: the model raised.
    """
    model = program.model
    if any(is_lazy(p) for p in model.parameters()):
        return
    try:
        with attributes.evaluating(program):
            output = model(program.tensor("x_train")[:ROWS].clone())
    except USER_ERRORS as error:
        raise ProgramError(_with_hint(program.failure(error)), "model.source") from error
    _check_shape(program, output)
    if _has_external_state(program):
        # Its external state has changed by the calls made here: create it again.
        program.rebuild_model()
        program.has_external_state = True


def _has_external_state(program: TrainingProgram) -> bool:
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
            with torch.no_grad(), suppress_warnings(), attributes.preserved(program):
                outputs.append(model(inputs.clone()).detach().clone())
            states.append(external_state.snapshot(program))
        except USER_ERRORS:
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
        return replace(problem, hint=ARGUMENTS_HINT)
    return problem


def _check_shape(program: TrainingProgram, output: object) -> None:
    if not isinstance(output, torch.Tensor):
        kind = type_name(type(output))
        raise SetupError(f"forward returns a {kind}, but must return one tensor", "model.source")
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
        raise SetupError(
            f"forward makes {_shape_text(has)} of {rows} examples, but {part.name} needs "
            f"{_shape_text(expected)} here",
            "model.source",
        )


def _shape_text(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
