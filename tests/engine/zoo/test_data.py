"""Each data set is what its definition says, drawn from the generator it is given alone."""

import math
from collections import Counter
from pathlib import Path

import pytest
import torch

from gradscribe.engine.protocol.setup import Part, Setup, SetupError
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.train.source.program import TrainingProgram
from gradscribe.engine.zoo import data
from gradscribe.engine.zoo.data.own import csv, formula
from gradscribe.engine.zoo.data.pictures import digits
from gradscribe.engine.zoo.entry import Data

NAMES = [name for name in catalogue.zoo_entries("data") if name != "csv"]


def made(name, seed=0, **options):
    piece, values = catalogue.find("data", Part(name, options), Data)
    x, y, *_ = piece.make(**values, rng=torch.Generator().manual_seed(seed))
    return piece, x, y


def test_a_data_set_stands_in_the_folder_of_its_group_under_a_name_of_its_own():
    files = [file for file in Path(data.__path__[0]).rglob("*.py") if file.name != "__init__.py"]
    folders = {file.stem: file.parent.name for file in files}
    assert max(Counter(file.stem for file in files).values()) == 1
    entries = catalogue.zoo_entries("data")
    groups = {name: entry.group.lower().removeprefix("your ") for name, entry in entries.items()}
    assert groups == folders


@pytest.mark.parametrize("name", NAMES)
def test_a_data_set_has_the_shape_that_it_names(name):
    piece, x, y = made(name)
    assert len(x) == len(y) > 0
    assert torch.isfinite(x.float()).all()
    assert torch.isfinite(y.float()).all()
    kinds = {"regression": (True, 2), "binary": (False, 1), "classes": (False, 1)}
    floats, dims = kinds.get(piece.task, (False, 2))
    assert (y.is_floating_point(), y.dim()) == (floats, dims)
    inputs = {"1": (1,), "2": (2,), "image": (1, 8, 8)}.get(piece.inputs)
    assert inputs is None or tuple(x.shape[1:]) == inputs
    if piece.names:
        assert x.shape[1] == len(piece.names)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_data_whatever_torch_drew_before(name):
    _, x, y = made(name)
    torch.rand(7)
    before = torch.get_rng_state()
    _, again, targets = made(name)
    assert torch.equal(x, again)
    assert torch.equal(y, targets)
    assert torch.equal(torch.get_rng_state(), before)
    if name not in ("xor_corners", "points", "points_line", "spiral"):
        _, other, _ = made(name, seed=1)
        assert not torch.equal(x, other)


@pytest.mark.parametrize("name", [n for n in NAMES if "n" in
    {o.name for o in catalogue.zoo_entries("data")[n].options}])  # fmt: skip
@pytest.mark.parametrize("count", [10, 37])
def test_a_data_set_has_as_many_examples_as_were_asked_for(name, count):
    _, x, _ = made(name, n=count)
    assert len(x) == count


def test_the_playgrounds_circle_is_a_disc_in_a_ring():
    _, x, y = made("circle", n=2000)
    radius = x.norm(dim=1)
    assert torch.equal(y == 1, radius < 2.5)
    assert radius[y == 0].min() >= 3.5 - 1e-5
    assert radius.max() <= 5 + 1e-5
    assert int(y.sum()) == 1000


def test_noise_moves_the_label_of_the_circle_and_not_the_point():
    _, x, y = made("circle", n=2000, noise=0.5)
    radius = x.norm(dim=1)
    assert not bool(((radius > 2.5) & (radius < 3.5 - 1e-5)).any())
    assert 0 < int((y != (radius < 2.5).long()).sum()) < 2000


def test_the_playgrounds_xor_keeps_off_the_axes():
    _, x, y = made("xor", n=2000)
    assert x.abs().min() >= 0.3 - 1e-6
    assert x.abs().max() <= 5.3 + 1e-6
    assert torch.equal(y == 1, x[:, 0] * x[:, 1] >= 0)


@pytest.mark.parametrize(("noise", "variance"), [(0.0, 0.5), (0.5, 4.0)])
def test_the_playgrounds_gaussians_widen_with_noise(noise, variance):
    _, x, y = made("gauss", n=20_000, noise=noise)
    for label, center in ((1, 2.0), (0, -2.0)):
        cloud = x[y == label]
        assert cloud.mean(dim=0).tolist() == pytest.approx([center] * 2, abs=0.1)
        assert cloud.var(dim=0).tolist() == pytest.approx([variance] * 2, rel=0.1)


def test_the_playgrounds_spiral_makes_one_turn_and_three_quarters():
    _, x, y = made("spiral", n=200)
    arm = x[y == 1]
    for i in (0, 13, 50, 99):
        r, t = i / 100 * 5, 1.75 * i / 100 * 2 * math.pi
        expected = [r * math.sin(t), r * math.cos(t)]
        assert arm[i].tolist() == pytest.approx(expected, abs=1e-4)
    assert torch.allclose(x[y == 0], -arm, atol=1e-4)


def test_the_playgrounds_plane_is_a_tenth_of_the_sum():
    _, x, y = made("plane")
    assert len(x) == 1200
    assert torch.allclose(y[:, 0], (x[:, 0] + x[:, 1]) / 10)
    assert x.abs().max() <= 6


def test_the_playgrounds_bumps_alternate_and_end_two_away():
    _, x, y = made("multi_gauss", n=5000)
    centers = {(-4, 2.5): 1, (0, 2.5): -1, (4, 2.5): 1, (-4, -2.5): -1, (0, -2.5): 1, (4, -2.5): -1}
    for point, height in zip(x.tolist(), y[:, 0].tolist(), strict=True):
        near = {c: math.dist(point, c) for c in centers}
        center = min(near, key=near.get)
        expected = centers[center] * max(0.0, 1 - near[center] / 2)
        assert height == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
def test_spirals_and_gaussians_have_as_many_classes_as_wanted(classes):
    for name in ("spirals", "gaussians"):
        _, _, y = made(name, classes=classes, n=100)
        assert sorted(set(y.tolist())) == list(range(classes))


def test_tokens_are_copied_or_sorted_after_they_have_been_read():
    _, x, y = made("copy_tokens", length=3, vocabulary=5)
    assert torch.equal(y[:, 3:], x[:, :3])
    assert int(x[:, 3:].abs().sum()) == int(y[:, :3].abs().sum()) == 0
    assert set(x[:, :3].unique().tolist()) <= {1, 2, 3, 4}
    _, x, y = made("sort_tokens", length=6)
    assert [sorted(row) for row in x[:, :6].tolist()] == y[:, 6:].tolist()


def test_digits_can_be_told_apart_by_their_nearest_mean():
    """They are drawn, but they are digits: a template per class gets most of the others right."""
    x, y = digits.digits(400, 0.05, torch.Generator().manual_seed(0))
    assert 0 <= float(x.min()) <= float(x.max()) <= 1
    means = torch.stack([x[:200][y[:200] == k].mean(dim=0).flatten() for k in range(10)])
    nearest = torch.cdist(x[200:].flatten(1), means).argmin(dim=1)
    assert (nearest == y[200:]).float().mean() > 0.7


FORMULAS = [
    ("sin(2*x) + x/2", lambda x: torch.sin(2 * x) + x / 2),
    ("x^3 - x", lambda x: x**3 - x),
    ("3", lambda x: torch.full_like(x, 3.0)),
    ("exp(-x**2) * pi", lambda x: torch.exp(-(x**2)) * math.pi),
    ("sqrt(abs(x)) % 2", lambda x: x.abs().sqrt() % 2),
]


@pytest.mark.parametrize(("text", "expected"), FORMULAS)
def test_a_formula_is_what_torch_computes(text, expected):
    assert formula.allowed(text) == ""
    _, x, y = made("formula", formula=text, noise=0.0)
    assert x.shape == y.shape
    assert torch.equal(y, expected(x))


def test_a_formula_of_two_inputs_is_a_surface():
    _, x, y = made("formula", formula="x1 * sin(x2)", noise=0.0)
    assert torch.equal(y[:, 0], x[:, 0] * torch.sin(x[:, 1]))


HOSTILE = [
    "__import__('os')", "x.__class__", "().__class__", "lambda: 1", "[x for x in x]", "open('f')",
    "9**9**9**9", "99**99", "x if x else 1", "f'{x}'", "'a'", "exec", "sin(x, out=x)", "sin",
    "sin()", "x; y", "", "x[0]", "x := 3", "(" * 300, "x" * 600, "1e999", "True", "nosuch(x)",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_a_formula_that_is_more_than_one_is_refused(text):
    if formula.allowed(text) == "":
        with pytest.raises((TypeError, SyntaxError)):
            made("formula", formula=text)


def test_a_hostile_formula_never_gets_to_run():
    for text in HOSTILE[:10]:
        assert formula.allowed(text)
        with pytest.raises(SetupError):
            catalogue.zoo_entries("data")["formula"].note({"formula": text})


def table(file, text, **more):
    file.write_text(text, encoding="utf-8")
    options = {"inputs": ["a"], "target": "b", "classes": False, "limit": 1000}
    options = {**options, "missing": "refuse", **more}
    x, y, _names = csv.table(str(file), **options, rng=torch.Generator())
    return x, y


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_a_table_is_read_whatever_divides_its_cells(tmp_path, sign):
    text = "\ufeffa, b\n1,2\n\n3,4.5\n".replace(",", sign)
    x, y = table(tmp_path / "t.csv", text)
    assert (x.tolist(), y.tolist()) == ([[1.0], [3.0]], [[2.0], [4.5]])


def test_names_of_classes_are_numbered_in_order(tmp_path):
    x, y = table(tmp_path / "t.csv", "a,b\n1,red\n2,blue\n3,red\n", classes=True)
    assert (x.shape, y.tolist()) == ((3, 1), [1, 0, 1])


def test_of_a_long_table_every_so_many_rows_are_taken(tmp_path):
    text = "a,b\n" + "".join(f"{i},{2 * i}\n" for i in range(100))
    x, y = table(tmp_path / "t.csv", text, limit=25)
    assert x[:, 0].tolist() == list(range(0, 100, 4))
    assert torch.equal(y, 2 * x)


BAD = [
    ("a,b\n1,2\nx,3\n", "row 3, column 'a': 'x' is no number"),
    ("a,b\n1,2\n3\n", "row 3, column 'b': nothing there"),
    ("a,b\n1,inf\n", "row 2, column 'b': inf is not finite"),
    ("a,c\n1,2\n", "no column 'b'"),
    ("a,b\n", "no rows"),
    ("", "t.csv is empty"),
]


@pytest.mark.parametrize(("text", "words"), BAD)
def test_an_error_in_a_table_names_its_row(tmp_path, text, words):
    with pytest.raises(ValueError, match=r"row|column|empty") as caught:
        table(tmp_path / "t.csv", text)
    assert words in str(caught.value)


@pytest.mark.parametrize("text", ["1/0", "log(x)", "1/(x - x)", "sqrt(x) + x"])
def test_what_a_formula_cannot_give_is_told_beside_it(text):
    with pytest.raises(SetupError) as caught:
        TrainingProgram(Setup(Part("formula", {"formula": text}), Part("linear")))
    assert caught.value.place == "data.formula"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sinn(x)", "unknown name 'sinn'; did you mean 'sin'?"),
        ("2 * qqq(x)", "unknown name 'qqq'; there are x, x1"),
        ("sin(x, 2)", "a function is given one value"),
        ("(x + 1)(2)", "a function is given one value"),
    ],
)
def test_a_misspelt_function_is_told_from_a_wrong_call(text, words):
    assert words in formula.allowed(text)


@pytest.mark.parametrize("kind", [-1, 1.5, 1000, 1e18])
def test_a_class_of_drawn_points_that_cannot_be_is_told_with_its_row(kind):
    rows = [[0.0, 0.0, 0], [1.0, 1.0, kind]]
    with pytest.raises(SetupError, match="row 2 is of class") as caught:
        TrainingProgram(Setup(data=Part("points", {"points": rows})))
    assert caught.value.place == "data.points"


def test_drawn_points_may_be_of_any_whole_class():
    rows = [[0.0, 0.0, 0], [1.0, 1.0, 2.0], [1.0, 0.0, 999]]
    made = TrainingProgram(Setup(data=Part("points", {"points": rows}), model=Part("linear")))
    assert made.y.tolist() == [0, 2, 999]
