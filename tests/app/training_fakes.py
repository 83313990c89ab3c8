"""An outcome of a run made in this process, with the engine's own messages."""

from array import array

from app import train
from engine import setup
from engine.train.host import Host
from engine.training import answers, asks


def outcome(given, steps=5):
    """What `app.train.run` would return for a setup."""
    said = []
    host = Host(said.append)
    host.take(asks.Train(1, setup.parse({"model": "mlp", **given})))
    host.take(asks.Advance(1, steps))
    while host.work() is not None:
        pass
    kinds = ("scores", "weights", "boundary", "fit", "confusion")
    host.take(asks.Watch(1, tuple(asks.Wish(kind) for kind in kinds)))

    def last(kind):
        return [m for m in said if isinstance(m, kind)][-1]

    made = train.Outcome(last(answers.Begun), last(answers.TrainState), last(answers.DataShown))
    made.curves = {name: array("d") for name in ("step", "loss", "val", "lr")}
    for message in said:
        if isinstance(message, answers.Series):
            train._extend(made.curves, message)
        elif isinstance(message, answers.View):
            made.views[message.kind] = message
    return made
