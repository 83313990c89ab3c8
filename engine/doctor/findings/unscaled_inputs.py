"""Data whose columns are large, or of very different size."""

from collections.abc import Iterator

from gradscribe.engine.doctor import training
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.snapshot_stats import format_number, shape

LARGE, TROUBLED, APART = 100.0, 10.0, 100.0


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield unscaled data of trained layers; the limit is lower if the loss diverged."""
    blown = any(training.diverged(curve) for curve in training.loss_curves(evidence))
    for scale in training.data_scales(evidence):
        apart = scale.largest > APART * scale.smallest and scale.largest > TROUBLED
        if scale.largest < (TROUBLED if blown else LARGE) and not apart:
            continue
        value = evidence.values[scale.value]
        name = value.name or "The data"
        sizes = f"numbers of about {format_number(scale.largest)}"
        if scale.largest > 3 * scale.smallest:
            smallest, largest = format_number(scale.smallest), format_number(scale.largest)
            sizes = f"columns of sizes from {smallest} to {largest}"
        after = ", and the loss blew up" if blown else ""
        message = f"{name} {shape(value.shape)} has {sizes}{after}"
        yield FoundCase(evidence.place_of(value.id), message, (), _fix(evidence, value.name))
        return


def _fix(evidence: Evidence, name: str) -> str:
    """Normalise column by column, right after the data is created."""
    rows = evidence.program.bindings.get(name, [])
    if not name.isidentifier() or not rows:
        return ""
    line = f"{name} = ({name} - {name}.mean(dim=0)) / {name}.std(dim=0)"
    return evidence.program.inserted(rows[-1][0], line, after=True)


ENTRY = FindingKind(
    "unscaled-inputs",
    "Inputs are not scaled",
    "The gradient of a weight is proportional to its input. Large or very unequal columns make the "
    "loss a narrow ravine: no learning rate fits all weights. Subtract the mean and divide by the "
    "standard deviation, column by column.",
    detect,
    "hint",
)
