"""Devices that the tensors of a program are on."""

from collections import Counter

from gradscribe.engine.protocol.tape import Tape


def devices_of(tape: Tape) -> tuple[str, ...]:
    """Return the devices of a tape's tensors, that with the most results of ops first.

    Of as many results, the device of the later ones is first. Inputs count where no op ran.
    """
    results = Counter(value.device for value in tape.values if not value.is_leaf)
    counts = results or Counter(value.device for value in tape.values)
    last = {value.device: at for at, value in enumerate(tape.values)}
    return tuple(sorted(last, key=lambda device: (-counts[device], -last[device])))
