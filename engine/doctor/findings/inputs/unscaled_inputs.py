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
    sick=(
        """torch.manual_seed(0)
x = torch.tensor([[1400.0, 3.0], [1600.0, 3.0], [1700.0, 2.0], [1875.0, 4.0]])  # !
y = torch.tensor([[245.0], [312.0], [279.0], [308.0]])
model = nn.Linear(2, 1)
opt = optim.SGD(model.parameters(), lr=0.01)
for step in range(5):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    healthy=(
        """# house prices, normalised column by column
torch.manual_seed(0)
x = torch.tensor([
    [1400.0, 3.0, 20.0], [1600.0, 3.0, 15.0], [1700.0, 2.0, 18.0], [1875.0, 4.0, 12.0]
])
y = torch.tensor([[245.0], [312.0], [279.0], [308.0]])
x = (x - x.mean(dim=0)) / x.std(dim=0)
y = (y - y.mean()) / y.std()
model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1))
opt = optim.Adam(model.parameters(), lr=0.01)
for step in range(15):
    loss = nn.MSELoss()(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# small whole numbers and a straight line
x = torch.tensor([[1.0], [2.0], [3.0], [4.0]])
y = 2 * x
model = nn.Linear(1, 1)
opt = optim.SGD(model.parameters(), lr=0.01)
for epoch in range(20):
    loss = nn.MSELoss()(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
)
