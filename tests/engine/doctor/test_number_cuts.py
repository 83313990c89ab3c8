"""Numbers that leave torch and come back: found where they enter, and nowhere else."""

import pytest

from gradscribe.engine.run.run import record


def cuts(source):
    """Return (way, line, name of the tensor, what it enters) of the cuts of a program."""
    tape = record(source)
    names = {value.id: value.name for value in tape.values}
    makers = {v.id: tape.ops[v.op].op for v in tape.values if v.op is not None}
    return [
        (
            cut.way,
            cut.place.line,
            names[cut.value] or makers[cut.value],
            names[cut.leaf] if cut.leaf is not None else tape.ops[cut.op].op,
        )
        for cut in tape.number_cuts
    ]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("z = y * y.item()", ("item()", 3, "y", "mul")),
        ("z = y.item() * y", ("item()", 3, "y", "mul")),
        ("z = y * float(y)", ("float()", 3, "y", "mul")),
        ("z = w + math.exp(y)", ("math.exp()", 3, "y", "add")),
        ("z = 1.0 * w\nz *= y.item()", ("item()", 4, "y", "mul_")),
        ("k = y.item()\nm = 2 * k + 1\nz = w * m", ("item()", 3, "y", "mul")),
        ("z = torch.clamp(w, max=y.item())", ("item()", 3, "y", "clamp")),
        ("z = w.pow(y.item())", ("item()", 3, "y", "pow")),
        ("z = torch.tensor([y.item(), 1.0])", ("item()", 3, "y", "z")),
        ("k = y.tolist()\nz = torch.tensor(k)", ("tolist()", 3, "y", "z")),
        ("z = torch.from_numpy(y.detach().numpy())", ("numpy()", 3, "y", "z")),
        ("def f(t):\n    return t.item()\nz = w * f(y)", ("item()", 4, "y", "mul")),
        ("z = w * w.exp().item()", ("item()", 3, "exp", "mul")),
    ],
)
def test_a_number_is_followed_to_where_it_enters(line, wanted):
    assert cuts(f"w = param(2.0)\ny = w**2\n{line}\n") == [wanted]


@pytest.mark.parametrize(
    "line",
    [
        "print(y.item())",
        "history = []\nhistory.append(y.item())\nz = w * 3",
        "k = y.item()\nk = 3.0\nz = w * k",
        "def f():\n    k = y.item()\n    return k\nk = 2.0\nz = w * k",
        "z = torch.zeros(2) * y.detach()",
        "n = torch.tensor(4.0).item()\nz = w * n",
        "z = w * len([y.item()])",
        "if y.item() > 3:\n    z = w * 2",
        "z = w.sum() / float(3)",
    ],
)
def test_what_does_not_enter_a_computation_is_no_cut(line):
    assert cuts(f"w = param(2.0)\ny = w**2\n{line}\n") == []


def test_in_a_loop_the_number_is_that_of_the_round():
    tape = record("w = param(2.0)\nfor n in range(3):\n    y = w * n\n    z = y * y.item()\n")
    made = [v.id for v in tape.values if v.name == "y"]
    assert [cut.value for cut in tape.number_cuts] == made
    muls = [n for n, op in enumerate(tape.ops) if op.place.line == 4]
    assert [cut.op for cut in tape.number_cuts] == muls
