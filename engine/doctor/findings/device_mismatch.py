"""Tensors on different devices met in one op."""

from collections.abc import Iterator

from engine.doctor.entry import Entry, Found
from engine.doctor.errors import failing
from engine.doctor.evidence import Evidence
from engine.doctor.mismatch import Party, parties, told


def detect(evidence: Evidence) -> Iterator[Found]:
    """Yield the failing line with the devices of what meets there."""
    error = failing(
        evidence,
        "Expected all tensors to be on the same device",
        "is not on the expected device",
        "weight type .* should be the same",
        r"Tensor on device \w+",
    )
    if error is None or (error.message.startswith("Input type") and not _devices(error.message)):
        return
    line = error.place.line
    everyone = parties(evidence, line, "device")
    message = told(everyone) or error.message.split(" (when")[0]
    program = evidence.program
    yield Found(
        program.line(line), message, tuple(p.place for p in everyone), _mended(evidence, everyone)
    )


def _mended(evidence: Evidence, everyone: list[Party]) -> str:
    """Move what differs to the model, or to the tensor that cannot be moved itself."""
    program = evidence.program
    leading = sorted(everyone, key=lambda p: (not p.is_module, p.kind != "meta"))
    target = next((p for p in leading if p.node is not None), None)
    if target is None or target.node is None:
        return ""
    text = program.source(target.node)
    device = f"next({text}.parameters()).device" if target.is_module else f"{text}.device"
    for party in everyone:
        if party.kind != target.kind and party.node is not None and not party.is_module:
            return program.replaced((party.node, f"{program.source(party.node)}.to({device})"))
    return ""


def _devices(message: str) -> bool:
    return "cuda" in message.lower() and "torch.FloatTensor" in message


ENTRY = Entry(
    "device-mismatch",
    "Tensors on different devices",
    "An op runs where its tensors are, and torch moves nothing by itself. Move the model once and "
    "each batch as it comes, with .to(device).",
    detect,
)
