"""The failure among those of several ranks that made the others end."""

import re
from collections.abc import Sequence

from gradscribe.engine.protocol.tape import Tape

_PEER = re.compile(r"closed by peer|reset by peer|Broken pipe|Connection refused", re.IGNORECASE)


def first_failure(tapes: Sequence[Tape]) -> int | None:
    """Return the rank whose end made the others end; None if all ended well.

    The others were ended from outside, or lost their connection to it.
    """

    def weight(rank: int) -> tuple[bool, bool, int]:
        error = tapes[rank].error
        ended = error is not None and error.type == "RankEnded"
        lost = error is not None and _PEER.search(error.message) is not None
        return ended, lost, rank

    failed = [rank for rank, tape in enumerate(tapes) if tape.status != "ok"]
    return min(failed, key=weight, default=None)
