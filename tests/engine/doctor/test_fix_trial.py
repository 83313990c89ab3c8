"""A fix is run before it is offered: it has to remove the mistake and make nothing worse."""

import math

import pytest
import torch

from gradscribe.engine.doctor.fix_trial import LineMap, judge, outcome_of, rises, tried, try_fix
from gradscribe.engine.protocol.outcome import LineLosses, Outcome
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Finding, Place, Problem
from gradscribe.engine.run import run
from tests.engine.doctor.programs import load

LOOP = """torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16, 1)
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.05)
for step in range(12):
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
"""
GAN = """torch.manual_seed(3)
gen, disc = nn.Linear(4, 6), nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
opt_g = optim.Adam(gen.parameters(), lr=1e-3)
opt_d = optim.Adam(disc.parameters(), lr=1e-3)
for it in range(3):
    fake = disc(gen(torch.randn(8, 4)))
    d_loss = F.softplus(fake).mean() + F.softplus(-disc(torch.ones(8, 6))).mean()
    opt_d.zero_grad()
    d_loss.backward(retain_graph=True)
    opt_d.step()
    g_loss = F.softplus(-fake).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
"""


def outcome(source: str) -> Outcome:
    return outcome_of(run.record(source), source)


def trial(source: str, fix: str, finding: str = ""):
    before = outcome(source)
    own = next(f for f in before.findings if finding in ("", f.id))
    return try_fix(replace(own, fix=fix), source, before, outcome)


def test_a_fix_that_removes_the_mistake_works():
    fix = LOOP.replace("    loss.backward()", "    opt.zero_grad()\n    loss.backward()")
    assert trial(LOOP, fix) == (fix, "", "whole", "")


def test_a_change_that_leaves_the_mistake_is_refused_and_the_line_named():
    result = trial(LOOP, "# nothing else\n" + LOOP)
    assert (result.fix, result.reason) == ("", "the same is found on line 7")


def test_a_change_that_raises_is_refused_with_the_error():
    fix = LOOP.replace("    loss.backward()", "    opt.zero_gard()\n    loss.backward()")
    assert trial(LOOP, fix).reason.startswith("it stops with AttributeError")


def test_a_change_that_brings_another_mistake_is_refused():
    fix = LOOP.replace("    loss.backward()", "    opt.zero_grad()\n    loss.backward()").replace(
        "net(x), y)", "net(x), y[:, 0])"
    )
    assert "something else is found on line 6" in trial(LOOP, fix).reason


def test_a_change_that_makes_the_loss_grow_is_refused():
    fix = LOOP.replace("    loss.backward()", "    opt.zero_grad()\n    (-loss).backward()")
    assert not trial(LOOP, fix).fix


def test_a_change_that_makes_the_loss_nan_is_refused():
    bad = "    loss = loss * (float('nan') if step > 5 else 1)\n    opt.zero_grad()\n"
    assert not trial(LOOP, LOOP.replace("    loss.backward()", bad + "    loss.backward()")).fix


def test_a_change_that_stops_a_parameter_from_learning_is_refused():
    fix = LOOP.replace("net.parameters()", "[net.weight]").replace(
        "    loss.backward()", "    net.zero_grad()\n    loss.backward()"
    )
    before = outcome(LOOP)
    after = replace(outcome(fix), findings=())
    reason = judge(before.findings[0], before, after, LineMap(LOOP, fix))
    assert reason == "net.bias does not learn any more"


def test_a_step_that_also_gets_the_gradients_of_another_loss_is_refused():
    step = "    opt_d.step()\n"
    fix = GAN.replace(step, "").replace("    g_loss.backward()\n", "    g_loss.backward()\n" + step)
    assert trial(GAN, fix, "inplace-on-saved").reason == (
        "the step on line 10 also uses gradients of the backward on line 13, "
        "which are for the step on line 14"
    )


def test_the_same_mistake_on_the_next_line_is_fixed_along_with_it():
    source = (
        "p = param([0.0, 0.5, 1.0])\n"
        "first = p.log() * torch.tensor([0.0, 1.0, 1.0])\n"
        "second = (1 - p).log() * torch.tensor([1.0, 1.0, 0.0])\n"
        "(first + second).sum().backward()\n"
    )
    before = outcome(source)
    result = try_fix(before.findings[0], source, before, outcome)
    assert result.fix.count("clamp_min") == 2
    after = run.record(result.fix)
    assert after.findings == ()
    assert all(math.isfinite(x) for x in after.snapshots[after.leaves[0].grad].array())


def test_an_error_that_was_there_before_and_is_of_something_else_does_not_count():
    source = "x = param([1.0, 2.0])\ny = x**2\ny.sum().backward()\nprint(y.grad)\n1 / 0\n"
    before = outcome(source)
    assert before.error is not None
    assert try_fix(before.findings[0], source, before, outcome).fix == before.findings[0].fix


def test_a_run_that_was_cut_proves_only_what_it_got_to():
    source = LOOP + "print(loss)\n"
    fix = source.replace("    loss.backward()", "    opt.zero_grad()\n    loss.backward()")
    before, after = outcome(source), outcome(fix)
    own, lines = before.findings[0], LineMap(source, fix)
    cut = replace(after, is_cut=True, status="timeout", passes=11)
    assert judge(own, before, cut, lines) == ""
    assert judge(own, before, replace(cut, passes=3), lines) == "it takes longer than a trial may"
    end = replace(own, place=Place(9, 0, 9, 5))
    early = replace(cut, reached=tuple(range(1, 9)))
    assert judge(end, before, early, lines) == "it does not get to this line in the time of a trial"


@pytest.mark.parametrize(
    ("before", "after", "worse"),
    [
        ([1.0, 0.9, 0.8], [5.0, 4.5, 4.0], False),  # another scale
        ([1.0] * 8, [1.0, 1.2, 0.9, 1.1, 0.8, 1.2, 1.0, 1.1], False),  # batches vary
        ([1.0] * 8, [1.0, 1.1, 1.3, 1.2, 1.6, 1.8, 2.2, 2.1], True),
        ([1.0, 0.9, 0.8, 0.7], [1.0, 1.1, 1.2, 1.3], True),  # with every step
        ([1.0, 1.1, 1.2, 1.3], [1.0, 1.2, 1.4, 1.6], False),  # as it did before
        ([1.0, 0.9, 0.8], [1.0, 4.0, 20.0], True),
        ([1.0, 4.0, 20.0], [1.0, 4.0, 20.0], False),
        ([], [1.0, 2.0, 3.0], False),
        ([-1.0, -2.0, -3.0, -4.0], [4.0, 3.0, 2.0, 1.0], False),  # a sign was wrong
        ([4.0, 3.0, 2.0, 1.0], [-4.0, -3.0, -2.0, -1.0], True),
        ([1.0, 1.0, 1.0], [0.0, 0.0, 0.0], False),
    ],
)
def test_a_loss_is_compared_with_its_own_start(before, after, worse):
    assert rises(before, after) is worse


def test_of_losses_that_work_against_each_other_any_may_rise():
    rising = [1.0 + 0.2 * i for i in range(12)]
    assert rises([1.0] * 12, rising)
    assert not rises([1.0] * 12, rising, is_alone=False)


@pytest.mark.parametrize("after", [[1.0, 2.0, math.nan], [math.inf]])
def test_a_loss_that_was_finite_has_to_stay_finite(after):
    own = Finding("a", "A", Place(1, 0, 1, 1), "m", "w.", fix="x")
    before = Outcome(findings=(own,), curves=(LineLosses(2, (1.0, 2.0, 3.0)),))
    lines = LineMap("a\nb", "a\nb")
    bad = Outcome(curves=(LineLosses(2, tuple(after)),))
    assert judge(own, before, bad, lines).startswith("the loss on line 2 becomes ")
    # If it was not finite before, this fix need not change that.
    assert judge(own, replace(before, curves=bad.curves), bad, lines) == ""


def test_lines_are_followed_to_where_they_went():
    lines = LineMap("a\nb\nc\nd\ne", "a\nnew\nb\nd\nc\nother")
    assert [lines[n] for n in range(7)] == [0, 1, 3, 5, 4, 6, 0]
    assert LineMap("a\nb", "a")[2] == 0


def test_a_finding_gets_the_program_that_works_or_the_reason():
    before = outcome(LOOP)
    own = before.findings[0]
    result = try_fix(own, LOOP, before, outcome)
    assert (tried(own, result).fix, tried(own, result).tried) == (result.fix, "whole")
    failed = tried(own, trial(LOOP, "# nothing else\n" + LOOP))
    assert (failed.fix, failed.tried) == ("", "whole")
    assert failed.why_no_fix == "With the change that usually helps, the same is found on line 7"


def test_python_that_ends_is_no_fix():
    own = Finding("a", "A", Place(1, 0, 1, 1), "m", "w.", fix="x")
    dead = Outcome("died", Problem("Crash", "Python crashed"), is_cut=True)
    assert (
        judge(own, Outcome(findings=(own,)), dead, LineMap("a", "x")) == "Python ends when it runs"
    )


def test_a_kind_that_follows_is_gone_once_its_cause_is_fixed():
    found = 0
    for program in load("grouped.txt"):
        before = outcome(program.source)
        by_id = {f.id: f for f in before.findings}
        for follower in before.findings:
            if follower.follows:
                found += 1
                fixed = outcome(by_id[follower.follows].fix)
                assert follower.id not in {f.id for f in fixed.findings}, program.title
    assert found == 3


def gradient(of):
    """Return what plain torch gives for the derivative of a function at a point."""
    function, *point = of
    w = torch.tensor(point if len(point) > 1 else point[0], requires_grad=True)
    function(w).backward()
    return w.grad


@pytest.mark.parametrize(
    ("line", "cut", "whole"),
    [
        ("w * w.data * w.data", lambda w: 4 * w, lambda w: w**3),
        ("w * (w**2).item()", lambda w: 4 * w, lambda w: w**3),
        ("w**2 * float(w)", lambda w: 2 * w**2, lambda w: w**3),
    ],
)
def test_the_trial_measures_the_share_that_a_cut_loses(line, cut, whole):
    source = f"w = param(2.0)\nloss = {line}\nloss.backward()\n"
    before = outcome(source)
    finding = before.findings[0]
    assert finding.id == "partial-cut"
    result = tried(finding, try_fix(finding, source, before, outcome))
    true, wrong = gradient((whole, 2.0)).item(), gradient((cut, 2.0)).item()
    share = f"{1 - wrong / true:.0%}"
    words = f"Without the cut w gets {true:g}, and not {wrong:g}: {share} of it is lost here"
    assert result.message == f"{finding.message}. {words}"


def test_the_share_of_a_tensor_is_that_of_its_norm():
    source = (
        "w = param([1.0, 2.0])\ny = w**2\nm = torch.tensor(y.tolist())\n"
        "loss = (w * m).sum()\nloss.backward()\n"
    )
    before = outcome(source)
    result = try_fix(before.findings[0], source, before, outcome)
    whole = gradient((lambda w: (w**3).sum(), 1.0, 2.0))
    cut = torch.tensor([1.0, 4.0])
    lost = (whole - cut).norm() / whole.norm()
    assert result.measured == (
        f"Without the cut the gradient of w has the norm {whole.norm():.6g}, and not "
        f"{cut.norm():.6g}: {lost:.0%} of it is lost here"
    )
