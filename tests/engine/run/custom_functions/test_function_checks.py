"""A custom Function's backward is compared with differences, apart from the program."""

import time

import pytest

from gradscribe.engine.run import run

_HEAD = """
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, {arguments}):
        {forward}
    @staticmethod
    def backward(ctx, g):
        {backward}
torch.manual_seed(0)
x = torch.randn({shape}, requires_grad=True)
k = torch.randn({shape})
"""


def checks(forward, backward, call, arguments="x", shape="6"):
    """Return the checks of a program with one Function; lines are separated by semicolons."""
    body = [text.replace("; ", "\n        ") for text in (forward, backward)]
    source = _HEAD.format(arguments=arguments, forward=body[0], backward=body[1], shape=shape)
    tape = run.record(source + call)
    assert tape.error is None, tape.error
    return tape.function_checks


@pytest.mark.parametrize(
    ("forward", "backward", "factor"),
    [
        ("ctx.x = x; return x ** 2", "return ctx.x * g", 1 / 2),
        ("ctx.x = x; return torch.sin(3 * x)", "return torch.cos(3 * ctx.x) * g", 1 / 3),
        ("ctx.x = x; return x.cos()", "return ctx.x.sin() * g", -1.0),
        ("return 4 * x", "return g", 1 / 4),
    ],
)
def test_a_factor_is_found_by_mathematics(forward, backward, factor):
    (check,) = checks(forward, backward, "(Own.apply(x) * 3).sum().backward()")
    assert check.factor == pytest.approx(factor, rel=1e-3)
    assert check.sent == pytest.approx(factor * check.expected, rel=1e-3)
    assert not check.ignores


def test_a_backward_without_the_arriving_gradient_is_told_apart():
    (check,) = checks(
        "ctx.x = x; return x ** 2", "return 2 * ctx.x", "(Own.apply(x) * 5).sum().backward()"
    )
    assert check.ignores
    assert check.needs_product
    assert check.factor == pytest.approx(1 / 5, rel=1e-3)


def test_large_inputs_are_sampled():
    call = "Own.apply(x).sum().backward()"
    assert checks("ctx.x = x; return x ** 2", "return ctx.x * g", call, shape="90, 90")
    assert not checks("ctx.x = x; return x ** 2", "return 2 * ctx.x * g", call, shape="90, 90")


@pytest.mark.parametrize(
    ("forward", "backward", "call"),
    [
        ("ctx.x = x; return x ** 2", "return 2 * ctx.x * g", "(Own.apply(x) * 3).sum().backward()"),
        ("return x.sign()", "return g", "Own.apply(x).sum().backward()"),
        ("return x.clamp(-0.1, 0.1)", "return g", "Own.apply(x).sum().backward()"),
        ("ctx.x = x; return (x > 0).to(x.dtype)", "return g / (1 + ctx.x ** 2)", None),
        ("return x.clone()", "return -g", None),
        ("return x.view_as(x)", "return g.clamp(-0.01, 0.01)", None),
        ("ctx.x = x; return x.relu()", "return g * (ctx.x > 0) * (g > 0)", "k_times"),
        ("return (x / 0.1).round() * 0.1", "return g", None),
        ("m = (torch.rand_like(x) > 0.5) * 2.0; ctx.m = m; return x * m", "return g * ctx.m", None),
        ("ctx.x = x; return x.abs()", "return g * ctx.x.sign()", "at_zero"),
    ],
)
def test_what_is_right_or_different_on_purpose_is_left_alone(forward, backward, call):
    usual = "(Own.apply(2 * x) * k).sum().backward()"
    calls = {"k_times": usual, "at_zero": "Own.apply(x * (k > 0)).sum().backward()", None: usual}
    assert checks(forward, backward, calls.get(call, call)) == ()


def test_a_step_size_that_is_learned_with_rounding_is_left_alone():
    found = checks(
        "ctx.save_for_backward(x, s); return (x / s).round() * s",
        "x, s = ctx.saved_tensors; q = (x / s).round(); return g, (g * (q - x / s)).sum()",
        "s = torch.tensor(0.1, requires_grad=True)\nOwn.apply(x, s).pow(2).sum().backward()",
        arguments="x, s",
    )
    assert found == ()


@pytest.mark.parametrize(
    "effect",
    [
        "open({path!r}, 'w').close()",
        "torch.save(x, {path!r})",
        "x.numpy().tofile({path!r})",
        "np.save({path!r}, x.numpy())",
        "__import__('pathlib').Path({path!r}).touch()",
        "x.__class__.__init__.__globals__",
        "torch.serialization.os.mkdir({path!r})",
    ],
)
def test_a_function_with_effects_is_not_called_again(tmp_path, effect):
    path = str(tmp_path / "made")
    # The program itself never gets there: only a call of its own could.
    forward = f"if x.sum() > 1e9: {effect.format(path=path)}\n        ctx.x = x; return x ** 2"
    found = checks(forward, "return ctx.x * g", "Own.apply(x).sum().backward()")
    assert found == ()


def test_the_program_sees_nothing_of_a_check():
    counting = """
calls = 0
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        global calls
        calls += 1
        print("forward")
        ctx.x = x
        return x ** 2
    @staticmethod
    def backward(ctx, g):
        return ctx.x * g
x = torch.randn(3, requires_grad=True)
Own.apply(x).sum().backward()
"""
    tape = run.record(counting)
    assert run.last_run.names["calls"] == 1
    assert tape.stdout == "forward\n"
    assert tape.function_checks == ()


def test_a_check_prints_nothing_and_leaves_random_numbers_alone(capsys):
    import torch

    source = """
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print("forward")
        ctx.x = x
        return x ** 2 + 0 * torch.rand_like(x)
    @staticmethod
    def backward(ctx, g):
        return ctx.x * g
x = torch.randn(3, requires_grad=True)
Own.apply(x).sum().backward()
"""
    tape = run.record(source)
    after = torch.get_rng_state()
    plain = run.record(source.replace("ctx.x * g", "2 * ctx.x * g"))
    assert torch.equal(torch.get_rng_state(), after)
    assert (tape.stdout, len(tape.function_checks)) == ("forward\n", 1)
    assert (plain.stdout, plain.function_checks) == ("forward\n", ())
    assert capsys.readouterr() == ("", "")


def test_a_check_that_never_ends_is_stopped():
    source = """
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        if x.dtype == torch.float64:
            while True:
                x = x + 1
        ctx.x = x
        return x ** 2
    @staticmethod
    def backward(ctx, g):
        return ctx.x * g
x = torch.randn(3, requires_grad=True)
Own.apply(x).sum().backward()
"""
    endless = source.replace("while True:", "for i in range(10 ** 12):")
    for text in (source, endless):
        begun = time.monotonic()
        tape = run.record(text)
        assert time.monotonic() - begun < 20
        assert (tape.status, tape.function_checks) == ("ok", ())
