"""Findings travel on the tape, in order, and a detector's own fault costs nothing else."""

import pytest

from gradscribe.engine.doctor import examine as doctor
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.inspect.export import to_json
from gradscribe.engine.protocol.tape import Place, Tape
from gradscribe.engine.run import run

TWO = """
x = param([1.0, 2.0])
y = x**2
z = y.sum()
z.backward()
print(y.grad)
model = nn.Linear(2, 1)
model.forward(x.detach())
"""


def test_findings_are_on_the_tape_and_in_the_json():
    tape = run.record(TWO)
    assert [f.id for f in tape.findings] == ["grad-of-non-leaf", "forward-called-directly"]
    rows = to_json(tape)["findings"]
    assert [(row["id"], row["line"], row["related_lines"]) for row in rows] == [
        ("grad-of-non-leaf", 6, [3]),
        ("forward-called-directly", 8, []),
    ]
    assert all(row["message"] and row["why"] and row["severity"] == "sure" for row in rows)
    assert "y.retain_grad()" in rows[0]["fix"]


def test_what_is_sure_comes_before_what_is_a_hint(monkeypatch):
    def at(line):
        return lambda evidence: [FoundCase(Place(line, 0, line, 1), "m")]

    made = (FindingKind("a", "A", "w.", at(1), "hint"), FindingKind("b", "B", "w.", at(2)))
    monkeypatch.setattr(doctor, "finding_kinds", lambda: made)
    assert [f.id for f in doctor.examine(Tape(), "x\ny")] == ["b", "a"]


def test_what_follows_from_another_finding_comes_right_after_it_without_a_fix(monkeypatch):
    def kind(id_, line, severity="sure", **more):
        case = FoundCase(Place(line, 0, line, 1), "m", (), "x = 2")
        return FindingKind(id_, id_.upper(), "w.", lambda e: [case], severity, **more)

    made = (
        kind("harmless", 1, spoils_training=False),
        kind("cause", 5),
        kind("named", 2, follows=("cause",)),
        kind("symptom", 1, "hint", follows=doctor.SPOILED),
        kind("hint", 3, "hint"),
    )
    monkeypatch.setattr(doctor, "finding_kinds", lambda: made)
    found = doctor.examine(Tape(), "x = 1")
    assert [(f.id, f.follows, f.fix) for f in found] == [
        ("harmless", "", "x = 2"),
        ("cause", "", "x = 2"),
        ("named", "cause", ""),
        ("symptom", "cause", ""),
        ("hint", "", "x = 2"),
    ]
    assert found[2].why_no_fix == "Fix line 5 first: this follows from it"
    # Alone, each stands for itself.
    monkeypatch.setattr(doctor, "finding_kinds", lambda: (made[0], made[2], made[3], made[4]))
    assert [(f.id, f.follows) for f in doctor.examine(Tape(), "x = 1")] == [
        ("harmless", ""),
        ("named", ""),
        ("symptom", "named"),
        ("hint", ""),
    ]


def test_findings_that_follow_from_each_other_are_all_reported(monkeypatch):
    def kind(id_, *follows):
        case = FoundCase(Place(1, 0, 1, 1), "m")
        return FindingKind(id_, id_.upper(), "w.", lambda e: [case], follows=follows)

    made = (kind("a", "b"), kind("b", "a"), kind("c", "b"))
    monkeypatch.setattr(doctor, "finding_kinds", lambda: made)
    assert sorted(f.id for f in doctor.examine(Tape(), "x = 1")) == ["a", "b", "c"]


def test_a_detector_that_fails_leaves_the_others_and_the_run_alone(monkeypatch):
    def broken(evidence):
        raise KeyError("a tape like no other")

    whole = FindingKind("b", "B", "w.", lambda evidence: [FoundCase(Place(1, 0, 1, 1), "m")])
    monkeypatch.setattr(
        doctor, "finding_kinds", lambda: (FindingKind("a", "A", "w.", broken), whole)
    )
    with pytest.raises(KeyError):
        doctor.examine(Tape(), "x")
    assert [f.id for f in doctor.examine_safely(Tape(), "x")] == ["b"]


def test_at_most_three_cases_of_one_mistake_are_told():
    many = FindingKind(
        "a", "A", "w.", lambda e: [FoundCase(Place(n, 0, n, 1), "m") for n in range(1, 9)]
    )
    assert len(doctor.run_detector(many, Evidence(Tape(), "x"))) == doctor.MOST_CASES


def test_a_fix_that_changes_nothing_is_no_fix():
    same = FindingKind("a", "A", "w.", lambda e: [FoundCase(Place(1, 0, 1, 1), "m", (), "x")])
    assert doctor.run_detector(same, Evidence(Tape(), "x"))[0].fix == ""


def test_entries_are_plain_and_their_ids_differ():
    ids = [entry.id for entry in doctor.finding_kinds()]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("source", ["x = torch.arange(3)\nx /= 2", "torch.arange(3).mean()"])
def test_an_error_of_arithmetic_is_no_target_that_does_not_fit_its_loss(source):
    tape = run.record(source)
    assert tape.status == "error"
    assert "wrong-target" not in {finding.id for finding in tape.findings}


def test_a_batch_that_raises_in_training_is_no_evaluation():
    tape = run.record(
        "net = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))\n"
        "opt = optim.SGD(net.parameters(), lr=0.1)\n"
        "for x in torch.randn(9, 3).split(4):\n"
        "    loss = net(x).pow(2).mean()\n"
        "    opt.zero_grad()\n"
        "    loss.backward()\n"
        "    opt.step()\n"
    )
    assert tape.error is not None
    assert "train-in-evaluation" not in {finding.id for finding in tape.findings}


def test_losses_without_an_update_in_between_are_no_curve():
    tape = run.record(
        "w = torch.zeros(1, requires_grad=True)\n"
        "for x in range(4):\n"
        "    loss = ((w * x - 3 * x) ** 2).sum()\n"
        "    loss.backward()\n"
        "with torch.no_grad():\n"
        "    w -= 0.01 * w.grad\n"
    )
    assert tape.findings == ()
