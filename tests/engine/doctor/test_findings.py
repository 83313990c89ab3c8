"""Each finding is found in its sick programs, at its line, gone once fixed, and else absent."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from gradscribe.engine.doctor.examine import examine, finding_kinds
from gradscribe.engine.run import run
from tests.engine.doctor.programs import HEALTHY, SICK, Program

ROOT = Path(__file__).parents[3]
EXAMPLES = [
    path
    for path in sorted((ROOT / "assets" / "examples").glob("*/*.py"))
    if path.parent.name not in ("broken", "edge")
]


def found(source: str):
    tape = run.record(source)
    return tape, examine(tape, source)


def name_of(program: Program) -> str:
    return f"{program.id} {program.title}".strip()


@pytest.mark.parametrize("program", SICK, ids=name_of)
def test_a_sick_program_is_found_at_its_line_and_healthy_once_fixed(program):
    _, findings = found(program.source)
    own = [finding for finding in findings if finding.id == program.id]
    assert own, [finding.id for finding in findings]
    lines = program.source.split("\n")
    assert own[0].place.line == program.line or program.line is None
    for place in (own[0].place, *own[0].related):
        assert 1 <= place.line <= place.end_line <= len(lines)
        assert 0 <= place.column <= len(lines[place.line - 1])
        assert 0 < place.end_column <= len(lines[place.end_line - 1])
    if own[0].fix:
        tape, left = found(own[0].fix)
        assert (tape.status, [finding.id for finding in left]) == ("ok", [])


@pytest.mark.parametrize("program", HEALTHY, ids=name_of)
def test_on_a_healthy_program_the_doctor_is_silent(program):
    tape, findings = found(program.source)
    assert tape.status == "ok", tape.error
    assert findings == ()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_on_the_examples_the_doctor_is_silent(path):
    assert found(path.read_text(encoding="utf-8"))[1] == ()


def test_every_finding_has_sick_and_healthy_programs():
    for entry in finding_kinds():
        assert len(entry.sick) >= 1, entry.id
        assert len(entry.healthy) >= 2, entry.id


def test_every_finding_is_told_in_whole_sentences_and_named_like_its_file():
    folder = ROOT / "engine" / "doctor" / "findings"
    files = {path.stem.replace("_", "-") for path in folder.glob("*/[a-z]*.py")}
    assert files == {entry.id for entry in finding_kinds()}
    for entry in finding_kinds():
        assert entry.why.endswith("."), entry.id
        assert not entry.title.endswith("."), entry.id
        assert entry.title[0].isupper(), entry.id


@pytest.mark.parametrize(
    "source",
    [
        "",
        "x = (",
        "x = 'é' + param(1.0)",
        "1/0",
        "import torch; x = torch.ones(2, requires_grad=True); (x * 2).sum().backward(); x.grad",
        "while True: pass",
        "class A:\n    def forward(self): return self.forward()\nA().forward()",
    ],
)
def test_the_doctor_stands_any_program(source):
    tape = run.record(source, timeout=0.5)
    assert examine(tape, source) == ()


def test_memory_that_nothing_was_written_to_yet_is_no_nan():
    source = "x = torch.full((2,), float('nan'))"
    tape = run.record(source)
    assert [finding.id for finding in examine(tape, source)] == ["first-nan"]
    # Whether torch.empty() happens to hold NaN is chance; what made the value decides.
    values = tuple(replace(value, maker="empty") for value in tape.values)
    assert examine(replace(tape, values=values), source) == ()


ROUNDED = """torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
opt = optim.{optimizer}(net.parameters(), lr={rate})
x = torch.randn(40, 3)
y = x.sum(1, keepdim=True)
for step in range(12):
    loss = F.mse_loss({prediction}, y) * {scale}
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def ids(source):
    return [finding.id for finding in found(source)[1]]


def test_gradients_of_zero_are_not_blamed_on_the_learning_rate():
    names = {"optimizer": "Adam", "rate": 0.01, "scale": 1}
    assert ids(ROUNDED.format(prediction="torch.round(net(x))", **names)) == [
        "nondifferentiable-op"
    ]


@pytest.mark.parametrize(("optimizer", "largest"), [("SGD", 1.0), ("Adam", 0.1)])
def test_no_larger_rate_is_proposed_than_people_use(optimizer, largest):
    names = {"optimizer": optimizer, "prediction": "net(x)"}
    source = ROUNDED.format(rate=1e-9, scale=1, **names)
    fixes = [f.fix for f in found(source)[1] if f.id == "learning-rate-too-small"]
    (rate,) = (float(fix.split("lr=")[1].split(")")[0]) for fix in fixes)
    assert 1e-9 < rate <= largest
    # With gradients that small no rate of that size helps.
    tape = run.record(
        ROUNDED.format(rate=largest, scale=1e-4 if optimizer == "SGD" else 1, **names)
    )
    assert all(not f.fix for f in tape.findings if f.id == "learning-rate-too-small")


def test_a_nan_without_growth_is_not_blamed_on_the_learning_rate():
    source = """torch.manual_seed(0)
net = nn.Linear(3, 2)
opt = optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(6, 3)
pairs = torch.tensor([[0, 1], [2, 2], [3, 4]])
for step in range(3):
    e = net(x)
    loss = (e[pairs[:, 0]] - e[pairs[:, 1]]).pow(2).sum(1).sqrt().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
    assert ids(source) == ["first-nan"]


def test_data_with_nan_that_comes_after_the_first_nan_is_not_the_first():
    source = """x = param([1.0, -1.0])
y = x.log()
copy = torch.tensor(y.tolist())
y.sum().backward()
"""
    assert [(f.id, f.place.line) for f in found(source)[1] if f.id == "first-nan"] == [
        ("first-nan", 2)
    ]


def test_a_line_that_cuts_a_leaf_off_is_found_once():
    source = (ROOT / "assets/examples/broken/02_two_paths.py").read_text(encoding="utf-8")
    assert [(f.id, f.place.line) for f in found(source)[1]] == [("cut-by-item", 9)]
