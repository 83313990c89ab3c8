"""Answers of a module's API as they stand at a call: parameters(), state_dict(), to()."""

from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import StateEntry, Tape
from gradscribe.playback.lab import dtypes
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr

MOST_LISTED = 40
"""Most parameters and buffers that are listed; of more, the rest is counted."""


def entries_at(tape: Tape, number: int) -> tuple[StateEntry, ...]:
    """Return the parameters and buffers of the module of call ``number``, as it was called."""
    call = tape.calls[number]
    outer = number
    while (parent := tape.calls[outer].parent) is not None:
        outer = parent
    module, root = tape.calls[outer].module, tape.calls[outer].name
    earlier = (one for one in reversed(tape.calls[: outer + 1]) if one.module == module)
    state = next((one.state for one in earlier if one.state), ())
    if outer == number:
        return state
    if not call.name.startswith(f"{root}."):
        return ()
    path = f"{call.name.removeprefix(f'{root}.')}."
    return tuple(
        replace(entry, name=entry.name.removeprefix(path))
        for entry in state
        if entry.name.startswith(path)
    )


def rows(entries: tuple[StateEntry, ...]) -> list[tuple[str, str]]:
    """Return (name, fact) pairs: the calls of the API with their answers, then each tensor."""
    parameters = [entry for entry in entries if entry.kind == "parameter"]
    saved = [entry for entry in entries if entry.kind != "unsaved buffer"]
    learning = sum(entry.requires_grad for entry in parameters)
    size = sum(dtypes.bytes_in(entry.shape, entry.dtype) for entry in saved if _is_sized(entry))
    found = [
        (
            "parameters()",
            tr(
                "{tensors}, {learning:,} learn",
                tensors=ngettext("{count:,} tensor", "{count:,} tensors", len(parameters)),
                learning=learning,
            ),
        ),
        (
            "state_dict()",
            (
                ngettext("{count:,} tensor", "{count:,} tensors", len(saved))
                + ", "
                + formatting.size(size)
            ),
        ),
        ("to()", ", ".join(dict.fromkeys(f"{one.device} {one.dtype}" for one in entries))),
    ]
    found += [(entry.name, _words(entry)) for entry in entries[:MOST_LISTED]]
    if len(entries) > MOST_LISTED:
        found.append(("", tr("and {value:,} more", value=len(entries) - MOST_LISTED)))
    return found


def _is_sized(entry: StateEntry) -> bool:
    return entry.dtype in dtypes.DTYPES


def _words(entry: StateEntry) -> str:
    shape = formatting.shape(entry.shape) if entry.shape else "scalar"
    state = "requires_grad" if entry.requires_grad else "frozen"
    return f"{shape}, {state if entry.kind == 'parameter' else entry.kind}"
