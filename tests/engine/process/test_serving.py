"""Requests during a training run are served between two of its turns, all at once."""

from gradscribe.engine.process.server import Server
from gradscribe.engine.protocol.training import requests


class Host:
    """A run that plays, at a step each time it may."""

    def __init__(self):
        self.steps = 0

    def work(self):
        self.steps += 1
        return 0.0


def test_no_step_is_made_while_a_request_waits():
    server = Server(-1, -1)
    host = server._host = Host()
    for run_id in range(3):
        server._mail.put(requests.SaveRun(run_id))
    server._mail.put(requests.Pause(1))
    served = []
    while not host.steps:
        if server._should_serve():
            served.append(server._mail.take()[0])
    assert [type(one) for one in served] == [
        requests.SaveRun,
        requests.SaveRun,
        requests.SaveRun,
        requests.Pause,
    ]
    assert not server._should_serve()
    assert host.steps == 2
