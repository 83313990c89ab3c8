"""Messages about names: their way over the pipe, and what is refused."""

import pytest

from gradscribe.engine.protocol import frames, messages
from gradscribe.engine.protocol.language import (
    MAX_CHARS,
    MAX_NAMES,
    MAX_OWNERS,
    Complete,
    Completed,
    Describe,
    Described,
    Explain,
    Explained,
    KnownName,
    Locate,
    Located,
    TorchNames,
)

LINEAR = KnownName("Linear", "module", ("(in_features: int)",), "A layer.")


def sent(message, kind):
    reader = frames.MessageReader(kind)
    (arrived,) = reader.feed(b"".join(frames.encode_frames(message)))
    return arrived


@pytest.mark.parametrize(
    "request_",
    [Complete(1, "x.", 1, 2), Describe(2, "sum"), Explain(3, "f(", 1, 2), Locate(4, "x", 1, 0)],
)
def test_requests_arrive_as_they_were(request_):
    assert sent(request_, messages.Request) == request_


@pytest.mark.parametrize(
    "reply",
    [
        TorchNames({"torch.nn": (LINEAR,)}),
        Completed(1, (LINEAR,)),
        Described(2, LINEAR),
        Described(2),
        Explained(3, LINEAR),
        Located(4, 7, 2),
        Located(5, elsewhere="torch"),
    ],
)
def test_replies_arrive_as_they_were(reply):
    assert sent(reply, messages.Reply) == reply


@pytest.mark.parametrize(
    "reply",
    [
        Completed(1, (LINEAR,) * (MAX_NAMES + 1)),
        Completed(1, (KnownName("x" * (MAX_CHARS + 1)),)),
        Described(1, KnownName("x", "function", ("()",) * 65)),
        Explained(1, KnownName("x", summary="y" * (MAX_CHARS + 1))),
        Located(1, -1, 0),
        Located(1, 1, -1),
        TorchNames({str(at): () for at in range(MAX_OWNERS + 1)}),
        TorchNames({"torch": (KnownName("x", "function", ("y" * (MAX_CHARS + 1),)),)}),
    ],
)
def test_what_is_too_big_or_impossible_is_refused(reply):
    with pytest.raises(frames.ProtocolError):
        sent(reply, messages.Reply)
