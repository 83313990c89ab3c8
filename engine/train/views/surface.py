"""Loss surface over a plane through the current weights, with the path of the weights."""

from collections.abc import Callable, Mapping

import torch
from torch.func import functional_call, vmap

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training.replies import MAX_SURFACE_PARAMETERS
from gradscribe.engine.train.arrays import ViewData, int_option, to_array
from gradscribe.engine.train.captured.tied_parameters import replacements
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.views import limits
from gradscribe.engine.train.views.view import EngineView

ROWS = 500
"""Maximum number of training examples for the loss."""
FEWEST_ROWS = 32
WORK = 1 << 22
"""Approximate budget of each point in inputs times parameters: big models use fewer examples, as
training waits meanwhile."""
CHUNK = 256
CHUNK_NUMBERS = 1 << 24
"""Maximum points of the plane per evaluation, and their total number of parameters."""


def _make(run: TrainingRun, options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return the loss on a grid of the plane, and the path of the weights projected onto it.

    Options: ``side`` 25, ``directions``: ``random``, ``pca`` (the path's first two principal
    components) or ``parameters``; ``span`` 1.0; ``x``, ``y``: flat indices for ``parameters``.
    ``grid`` (side, side) float32, ``a``, ``b`` (side,) coordinates, ``path`` (n, 2), ``path_steps``
    (n,) int64, ``off`` (n,) float32: each point's distance from the plane. Facts ``step_a``,
    ``step_b``: the step against the gradient of this loss, -lr * gradient, within the plane.
    """
    if limits.parameter_count(run) > MAX_SURFACE_PARAMETERS:
        return None
    parameters = [p.detach() for p in run.program.model.parameters()]
    center = _flat(parameters)
    been = {c.step: _flat(c.parameters) for c in run.checkpoints.all}
    been |= {step: _flat([flat]) for step, flat in run.weight_path.points.items()}
    steps = [*sorted(step for step in been if step < run.step), run.step]
    path = torch.stack([*(been[step] for step in steps[:-1]), center])
    directions = _directions(options, center, path)
    if directions is None:
        return None
    first, second = directions
    side = int_option(options, "side", 25, 3, 101)
    offsets = path - center
    places = torch.stack([offsets @ first, offsets @ second], dim=1)
    off = (offsets - places[:, :1] * first - places[:, 1:] * second).norm(dim=1)
    reach = _extent(options, center, places)
    a = torch.linspace(-reach[0], reach[0], side)
    b = torch.linspace(-reach[1], reach[1], side)
    chunk = max(1, min(CHUNK, CHUNK_NUMBERS // len(center)))
    points = torch.stack([a.repeat(side), b.repeat_interleave(side)], dim=1)
    flats = (
        center + (chunk_points[:, 1:] * second + chunk_points[:, :1] * first)
        for chunk_points in torch.split(points, chunk)
    )
    losses = torch.cat([_losses(run, rows) for rows in flats]).reshape(side, side)
    return ViewData(
        {
            "grid": to_array(losses),
            "a": to_array(a),
            "b": to_array(b),
            "path": to_array(places),
            "path_steps": to_array(torch.tensor(steps), "<i8"),
            "off": to_array(off),
        },
        _center(options, center) | _gradient_step(run, center, first, second),
    )


def _gradient_step(
    run: TrainingRun, center: torch.Tensor, first: torch.Tensor, second: torch.Tensor
) -> dict[str, float]:
    """Return -lr * gradient along both directions; nothing for a model without derivatives."""
    with torch.enable_grad():
        weights = center.clone().requires_grad_()
        try:
            (grad,) = torch.autograd.grad(_loss_of(run, len(center))(weights), weights)
        except RuntimeError:
            return {}
    step = -float(run.program.optimizer.param_groups[0]["lr"]) * grad
    return {"step_a": (step @ first).item(), "step_b": (step @ second).item()}


def _center(options: Mapping[str, JsonValue], center: torch.Tensor) -> dict[str, float]:
    """Return the origin of the coordinates: for two parameters their current values."""
    at = _chosen(options, len(center))
    if _kind(options, len(center)) != "parameters" or at is None:
        return {"center_a": 0.0, "center_b": 0.0}
    return {"center_a": center[at[0]].item(), "center_b": center[at[1]].item()}


def _kind(options: Mapping[str, JsonValue], count: int) -> JsonValue:
    return options.get("directions", "parameters" if count == 2 else "random")


def _chosen(options: Mapping[str, JsonValue], count: int) -> tuple[int, int] | None:
    """Return the flat indices of the two parameters; None if they are equal."""
    x, y = (int_option(options, key, i, 0, count - 1) for i, key in enumerate(("x", "y")))
    return (x, y) if x != y else None


def _flat(tensors: list[torch.Tensor]) -> torch.Tensor:
    return torch.cat([t.reshape(-1).float().cpu() for t in tensors])


def _directions(
    options: Mapping[str, JsonValue], center: torch.Tensor, path: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Return two orthonormal directions."""
    count = len(center)
    if count < 2:
        return None
    kind = _kind(options, count)
    if kind == "parameters":
        at = _chosen(options, count)
        if at is None:
            return None
        eye = torch.zeros(2, count)
        eye[0, at[0]] = eye[1, at[1]] = 1.0
        return eye[0], eye[1]
    axes = _principal_axes(path[path.isfinite().all(dim=1)]) if kind == "pca" else None
    if axes is not None:
        return axes
    rng = torch.Generator().manual_seed(int_option(options, "seed", 0, 0, 2**31))
    plane, _ = torch.linalg.qr(torch.randn(count, 2, generator=rng))
    return plane[:, 0], plane[:, 1]


def _principal_axes(path: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Return the first two principal components of a path; None if it has fewer.

    Signs are chosen so that the view does not flip as the path grows: its end is to the right of
    its beginning, and the largest element of the second component is positive.
    """
    if len(path) <= 2:
        return None
    _, spread, axes = torch.linalg.svd(path - path.mean(dim=0), full_matrices=False)
    if len(spread) < 2 or spread[1] <= 1e-12:
        return None
    first, second = axes[0], axes[1]
    if (path[-1] - path[0]) @ first < 0:
        first = -first
    return first, second * second[second.abs().argmax()].sign()


def _extent(
    options: Mapping[str, JsonValue], center: torch.Tensor, places: torch.Tensor
) -> tuple[float, float]:
    span = options.get("span", 1.0)
    times = float(span) if isinstance(span, int | float) and 0 < span < 1e6 else 1.0
    least = 0.1 + 0.25 * center.norm().item() / len(center) ** 0.5
    far = (1.2 * places.abs().amax(dim=0)).tolist()
    return times * max(far[0], least), times * max(far[1], least)


def _loss_of(run: TrainingRun, count: int) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return the loss on the training data as a function of all ``count`` parameters."""
    program, model = run.program, run.program.model
    x, y = program.tensor("x_train"), program.tensor("y_train")
    rows = min(ROWS, max(FEWEST_ROWS, WORK // (x[0].numel() * count)))
    x, y = x[:rows], y[:rows]

    def loss(flat: torch.Tensor) -> torch.Tensor:
        start, values = 0, {}
        for parameter in model.parameters():
            piece = flat[start : start + parameter.numel()].reshape(parameter.shape)
            values[parameter] = piece.to(parameter.device, parameter.dtype)
            start += parameter.numel()
        # A user's module may write into its input, and this is the run's own data.
        output = functional_call(
            model, replacements(model, values), (x.clone(),), tie_weights=False
        )
        return program.criterion(output, y).float().cpu()

    return loss


def _losses(run: TrainingRun, flats: torch.Tensor) -> torch.Tensor:
    """Return the loss of each row of flat parameters, with vmap if the model supports it."""
    loss = _loss_of(run, flats.shape[1])
    try:
        return vmap(loss)(flats)
    except Exception:  # noqa: BLE001 - a model that looks at its numbers is asked one by one
        return torch.stack([loss(flat) for flat in flats])


ENTRY = EngineView("surface", _make, needs_weight_path=True)
