"""An outcome of a run made in this process, with the engine's own messages."""

from array import array

from gradscribe.app.cli import train
from gradscribe.engine.protocol import setup
from gradscribe.engine.protocol.training import replies, requests
from gradscribe.engine.train.serve.host import TrainingHost


def outcome(given, steps=5):
    """Return a result of `app.cli.train.run` for a setup."""
    said = []
    host = TrainingHost(said.append)
    host.take(requests.Train(1, setup.parse({"model": "mlp", **given})))
    host.take(requests.Advance(1, steps))
    while host.work() is not None:
        pass
    kinds = ("scores", "weights", "boundary", "fit", "confusion")
    host.take(requests.WatchViews(1, tuple(requests.ViewRequest(kind) for kind in kinds)))

    def last(kind):
        return [m for m in said if isinstance(m, kind)][-1]

    made = train.TrainOutcome(
        last(replies.RunStarted), last(replies.TrainState), last(replies.DataSample)
    )
    made.curves = {name: array("d") for name in ("step", "loss", "val", "lr")}
    for message in said:
        if isinstance(message, replies.SeriesChunk):
            train._extend(made.curves, message)
        elif isinstance(message, replies.ViewReply):
            made.views[message.kind] = message
    return made
