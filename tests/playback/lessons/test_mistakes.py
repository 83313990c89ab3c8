"""Wrong answers: the mistake behind each is computed from the tape, and replied to."""

import pytest

from gradscribe.engine.run.run import record
from gradscribe.playback.lessons.lesson import Question, WrongAnswer
from gradscribe.playback.lessons.mistakes import explain_mistake, find_mistakes, quoted
from gradscribe.playback.tape.index import index_of
from tests.playback.lessons.plain_torch import run_plainly

TWO_USES = "x = param(2.0)\ny = param(3.0)\nz = x * y\nw = z + x\nloss = w**2\nloss.backward()\n"
MEAN = "x = param([[1.0, 2.0], [3.0, 5.0]])\nloss = ((3 * x) ** 2).mean()\nloss.backward()\n"


def ask(answer, kind="number", **more):
    return Question("?", kind, answer, **more)


def explained(program, answer, given, kind="number", **more):
    return explain_mistake(ask(answer, kind, **more), given, index_of(record(program)))


def wrong(program, answer, kind, question="number"):
    """Return the wrong answers of a kind of mistake, as lists or numbers."""
    found = find_mistakes(ask(answer, question), index_of(record(program)))
    numbers = [mistake.wrong for mistake in found if mistake.kind == kind]
    return [getattr(number, "tolist", lambda number=number: number)() for number in numbers]


def test_a_share_is_called_so_and_the_other_user_is_asked_for():
    reply = explained(TWO_USES, "grad(x)", "48")
    assert reply == "48 is the share through `z`. Who else uses `x`?"
    assert explained(TWO_USES, "grad(x)", "16").startswith("16 is the share through `w`")


@pytest.mark.parametrize(
    ("program", "answer", "kind", "old", "new", "asked"),
    [
        # What the mistake makes of the program, and what plain PyTorch then says.
        (TWO_USES, "grad(x)", "share", "z + x", "z + x.detach()", "x.grad"),
        (TWO_USES, "grad(x)", "share", "x * y", "x.detach() * y", "x.grad"),
        (TWO_USES, "grad(x)", "local", "loss = w**2", "loss = w", "x.grad"),
        (TWO_USES, "grad(x)", "value", "", "", "x"),
        (TWO_USES, "grad(x)", "sign", "loss = w**2", "loss = -(w**2)", "x.grad"),
        (
            TWO_USES,
            "grad(x)",
            "twice",
            "loss.backward()",
            TWICE := "loss.backward(retain_graph=True)\nloss.backward()",
            "x.grad",
        ),
        (TWO_USES, "grad(y)", "upstream", "z = x * y", "z = y + 3", "y.grad * 16 / (2 * (6 + 2))"),
        (MEAN, "grad(x)", "sum", ".mean()", ".sum()", "x.grad"),
        (MEAN, "grad(x)", "twice", "loss.backward()", TWICE, "x.grad"),
        (MEAN, "grad(x)", "transposed", "", "", "x.grad.T"),
        (MEAN, "grad(x)", "total", "", "", "x.grad.sum()"),
        (MEAN, "value(loss)", "sum", ".mean()", ".sum()", "loss"),
        (MEAN.replace("mean", "sum"), "grad(x)", "mean", "sum", "mean", "x.grad"),
        (MEAN.replace("mean", "sum"), "value(loss)", "mean", "sum", "mean", "loss"),
    ],
)
def test_a_classic_mistake_is_what_plain_torch_makes_of_it(program, answer, kind, old, new, asked):
    plain = run_plainly(program.replace(old, new) if old else program)
    expected = eval(asked, dict(plain))
    right = index_of(record(program))
    assert expected.tolist() in wrong(program, answer, kind)
    assert explain_mistake(ask(answer), str(expected.tolist()), right)


def test_the_gradient_for_the_value_and_the_value_for_the_gradient_are_told_apart():
    assert "gradient of `w`" in explained(TWO_USES, "value(w)", "16")
    assert "value of `w`" in explained(TWO_USES, "grad(w)", "8")


def test_passes_without_zero_grad_are_recognised():
    program = "x = param(3.0)\n(x**3).backward()\n(x * 5).backward()\n"
    plain = run_plainly("x = param(3.0)\n(x * 5).backward()\n")
    assert wrong(program, "grad(x)", "last pass") == [plain["x"].grad.item()]
    assert "last pass" in explained(program, "grad(x)", "5")


def test_a_step_uphill_and_one_that_was_not_made():
    program = (
        "w = param([1.0, 4.0])\nopt = optim.SGD([w], lr=0.5)\n(w**2).sum().backward()\nopt.step()\n"
    )
    before = run_plainly(program.replace("opt.step()\n", ""))["w"]
    uphill = run_plainly(program.replace("lr=0.5", "lr=0.5, maximize=True"))["w"]
    after = run_plainly(program)["w"]
    assert wrong(program, "value(w)", "before") == [before.tolist()]
    assert wrong(program, "value(w)", "uphill") == [uphill.tolist()]
    assert wrong(program, "value(w)", "change") == [(after - before).tolist()]


def test_a_layer_without_its_biases_and_the_biases_alone():
    program = "net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))\nnet(torch.ones(1, 3))\n"
    net = run_plainly(program)["net"]
    bare = run_plainly(
        program.replace("3, 4)", "3, 4, bias=False)").replace("4, 2)", "4, 2, bias=False)")
    )
    weights = sum(p.numel() for p in bare["net"].parameters())
    every = sum(p.numel() for p in net.parameters())
    assert wrong(program, "parameters()", "weights") == [weights]
    assert wrong(program, "parameters()", "biases") == [every - weights]
    assert wrong(program, "parameters()", "tensors") == [len(list(net.parameters()))]


def test_shapes_the_other_way_round_and_of_what_goes_in():
    program = "a = torch.ones(3, 2)\nb = torch.ones(2, 5)\nc = a @ b\n"
    plain = run_plainly(program)
    assert list(plain["c"].T.shape) in wrong(program, "shape(c)", "reversed", "shape")
    inputs = wrong(program, "shape(c)", "operand", "shape")
    assert inputs == [list(plain["a"].shape), list(plain["b"].shape)]
    assert explained(program, "shape(c)", "(2, 5)", "shape").startswith(
        "(2, 5) is the shape of `b`"
    )


def test_no_mistake_is_the_right_answer_and_none_comes_twice():
    # The value, the gradient and its share are all 4 here.
    program = "x = param(4.0)\ny = x * 4\ny.backward()\n"
    found = find_mistakes(ask("grad(x)"), index_of(record(program)))
    numbers = [mistake.wrong for mistake in found]
    assert 4.0 not in numbers
    assert len(numbers) == len(set(numbers))


def test_the_lessons_own_replies_come_first():
    mistakes = (WrongAnswer("shares(x)[1]", "Look at `w` again"),)
    assert explained(TWO_USES, "grad(x)", "48", mistakes=mistakes) == "Look at `w` again"


def test_a_mistake_that_this_program_does_not_have_is_passed_over():
    mistakes = (WrongAnswer("value(gone)", "No"), WrongAnswer("1 +", "No"))
    assert explained(TWO_USES, "grad(x)", "48", mistakes=mistakes).startswith("48 is the share")


def test_the_mistakes_follow_what_the_learner_changes():
    changed = TWO_USES.replace("param(2.0)", "param(5.0)")
    shares = run_plainly(changed.replace("z + x", "z + x.detach()"))["x"].grad.item()
    assert explained(changed, "grad(x)", f"{shares:g}").startswith(f"{shares:g} is the share")
    assert "share" not in explained(changed, "grad(x)", "48")


@pytest.mark.parametrize(
    ("answer", "given", "part"),
    [
        ("grad(x)", "nan", "NaN"),
        ("grad(x)", "inf", "divided by 0"),
        ("grad(x)", "None", "Something has reached it"),
        ("grad(x)", "[[4.5, 9], [13.5, 7]]", "Some of these"),
        ("grad(x)", "[4.5, 9, 13.5, 22.5]", "brackets"),
        ("grad(x)", "[[22.5, 9], [13.5, 4.5]]", "another order"),
        ("grad(x)", "[1, 2, 3]", "too few"),
        ("grad(x)", "[1, 2, 3, 4, 5, 6]", "too many"),
        ("grad(x)", "7", "shape"),
        ("grad(x)", "[[1, 2], [3]]", "each row"),
        ("grad(x)", "[1, 2, 3, 4]", "brackets"),
        ("value(loss)", "[1, 2]", "single number"),
        ("value(loss)", "85", "Close"),
        ("value(loss)", "1000", ""),
        ("grad(y)", "3", "reached it at all"),
    ],
)
def test_a_wrong_answer_of_a_wrong_form_is_replied_to_in_words(answer, given, part):
    program = MEAN + "y = torch.ones(2)\n"
    reply = explained(program, answer, given)
    assert part in reply
    assert bool(reply) == bool(part)


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ("(7, 9)", "lengths"),
        ("(3, 1, 2)", "another order"),
        ("(2, 3, 1)", "the other way round"),
        ("(3, 2)", "first length"),
        ("(1, 3, 7)", "Some of the lengths"),
        ("(6, 1, 1)", "laid out"),
        ("2, 3", ""),
    ],
)
def test_a_wrong_shape_is_replied_to_in_words(given, part):
    assert part in explained("t = torch.ones(1, 3, 2)\n", "shape(t)", given, "shape")


def test_only_a_short_answer_is_repeated():
    assert quoted("That is it", "48") == "48 is it"
    assert quoted("That is it", "4" * 30) == "That is it"
    assert quoted("That is it", "`48`") == "That is it"
    assert quoted("Think again", "48") == "Think again"


def test_a_question_whose_answer_the_tape_lacks_has_no_mistakes():
    assert explained("x = param(1.0)\n", "grad(q)", "3") == ""
    choice = Question("?", "choice", choices=(("a", "1 == 1"), ("b", "1 == 2")))
    assert explain_mistake(choice, "1", index_of(record("x = 1\n"))) == ""
