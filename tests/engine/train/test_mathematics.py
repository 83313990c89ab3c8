"""Runs compared with mathematics: curves and ends worked out in NumPy alone."""

import numpy as np
import pytest

from gradscribe.engine.protocol import setup
from gradscribe.engine.train.runs.run import TrainingRun

MODES = ("reference", "captured")


def begun(**given):
    return TrainingRun(setup.parse({"dtype": "float64", "validate_every": 0, **given}))


def data(run):
    return tuple(run.program.tensor(f"{name}_train").numpy() for name in "xy")


def weights(run):
    return [p.detach().numpy().copy() for p in run.program.model.parameters()]


def curve(run, steps):
    run.advance(steps)
    assert run.problem is None
    return run.history.store()[0][:, 1]


def gradients(layers, x, targets, is_classes):
    """Return the loss of a network with tanh units, and the gradient of each of its weights."""
    inputs = [x]
    for weight, bias in zip(layers[::2], layers[1::2], strict=True):
        inputs.append(inputs[-1] @ weight.T + bias)
        if len(inputs) <= len(layers) // 2:
            inputs[-1] = np.tanh(inputs[-1])
    output = inputs.pop()
    if is_classes:
        shares = np.exp(output - output.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        loss = -np.log(shares[np.arange(len(x)), targets]).mean()
        back = (shares - np.eye(output.shape[1])[targets]) / len(x)
    else:
        loss = ((output - targets) ** 2).mean() / 2
        back = (output - targets) / len(x)
    found = []
    for weight, given in reversed(list(zip(layers[::2], inputs, strict=True))):
        found += [back.sum(axis=0), back.T @ given]
        back = (back @ weight) * (1 - given**2)
    return loss, found[::-1]


def by_hand(layers, x, targets, is_classes, update, l2, steps):
    """Return the loss of each step that ``update`` makes of the gradients."""
    losses = []
    for step in range(1, steps + 1):
        loss, found = gradients(layers, x, targets, is_classes)
        losses.append(loss + l2 / 2 * sum((weight**2).sum() for weight in layers[::2]))
        for weight, gradient in zip(layers[::2], found[::2], strict=True):
            gradient += l2 * weight
        update(layers, found, step)
    return losses


def nesterov(lr, momentum):
    """Return an update as Sutskever wrote it: a velocity, and a look ahead along it."""
    velocity = {}

    def update(layers, found, _step):
        for at, (weight, gradient) in enumerate(zip(layers, found, strict=True)):
            velocity[at] = momentum * velocity.get(at, 0.0) - lr * gradient
            weight += momentum * velocity[at] - lr * gradient

    return update


def adam(lr, first=0.9, second=0.999, eps=1e-8):
    """Return an update as Kingma and Ba wrote it."""
    means, squares = {}, {}

    def update(layers, found, step):
        for at, (weight, gradient) in enumerate(zip(layers, found, strict=True)):
            means[at] = first * means.get(at, 0.0) + (1 - first) * gradient
            squares[at] = second * squares.get(at, 0.0) + (1 - second) * gradient**2
            mean, square = means[at] / (1 - first**step), squares[at] / (1 - second**step)
            weight -= lr * mean / (np.sqrt(square) + eps)

    return update


UPDATES = {
    "nesterov": (
        {"name": "sgd", "lr": 0.05, "momentum": 0.9, "nesterov": True},
        lambda: nesterov(0.05, 0.9),
    ),
    "adam": ({"name": "adam", "lr": 0.01}, lambda: adam(0.01)),
}
TASKS = {
    "regression": {"data": "sine", "loss": "half"},
    "classes": {"data": {"name": "spirals", "classes": 4}, "loss": "cross_entropy"},
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("l2", [0.0, 0.01])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("update", UPDATES)
def test_the_curve_of_a_network_is_the_one_worked_out_by_hand(update, task, l2, mode):
    optimizer, made = UPDATES[update]
    model = {"name": "mlp", "layers": [8, 5]}
    run = begun(**TASKS[task], model=model, optimizer=optimizer, l2=l2, mode=mode)
    expected = by_hand(weights(run), *data(run), task == "classes", made(), l2, 100)
    assert curve(run, 100) == pytest.approx(expected, rel=1e-11)
    assert run.mode == mode


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_least_squares_end_at_the_solution_of_their_equations(l2, mode):
    optimizer = {"name": "sgd", "lr": 0.1}
    run = begun(
        data="houses", model="linear", standardize=True, optimizer=optimizer, l2=l2, mode=mode
    )
    x, y = data(run)
    run.advance(3000)
    columns = np.column_stack([x, np.ones(len(x))])
    # The mean of the squares, and half of l2 times the weights', but not the bias's.
    ridge = np.diag([l2 / 2 * len(x)] * x.shape[1] + [0.0])
    solved = np.linalg.solve(columns.T @ columns + ridge, columns.T @ y[:, 0])
    assert np.concatenate([part.ravel() for part in weights(run)]) == pytest.approx(
        solved, abs=1e-9
    )


SLOPES = {
    "hinge": (lambda z, t: max(0.0, 1 - z * t), lambda z, t: -t * (z * t < 1)),
    "bce": (lambda z, t: np.logaddexp(0, z) - t * z, lambda z, t: 1 / (1 + np.exp(-z)) - t),
    "half": (lambda z, t: (z - t) ** 2 / 2, lambda z, t: z - t),
    "l1": (lambda z, t: abs(z - t), lambda z, t: np.sign(z - t)),
    "huber": (
        lambda z, t: (z - t) ** 2 / 2 if abs(z - t) < 0.3 else 0.3 * (abs(z - t) - 0.15),
        lambda z, t: np.clip(z - t, -0.3, 0.3),
    ),
}


@pytest.mark.parametrize("loss", SLOPES)
def test_one_example_at_a_time_is_followed_loss_by_loss(loss):
    made = {"name": "huber", "delta": 0.3} if loss == "huber" else loss
    source = "moons" if loss in ("hinge", "bce") else "outliers"
    optimizer = {"name": "sgd", "lr": 0.05}
    run = begun(data=source, model="linear", loss=made, batch=1, shuffle=False, optimizer=optimizer)
    (x, y), (weight, bias) = data(run), weights(run)
    value, slope = SLOPES[loss]
    expected = []
    for step in range(400):
        given, target = x[step % len(x)], y[step % len(x), 0]
        output = given @ weight[0] + bias[0]
        expected.append(value(output, target))
        back = slope(output, target)
        weight -= 0.05 * back * given
        bias -= 0.05 * back
    assert curve(run, 400) == pytest.approx(expected, rel=1e-9, abs=1e-12)
