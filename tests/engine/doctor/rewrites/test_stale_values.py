"""Values that a step has made stale: the fixed program trains exactly as the right one."""

import pytest
import torch

from gradscribe.engine.run import run

GAN = """torch.manual_seed(0)
gen = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4))
disc = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt_g = optim.Adam(gen.parameters(), lr=0.01)
opt_d = optim.Adam(disc.parameters(), lr=0.01)
ones, zeros = torch.ones(8, 1), torch.zeros(8, 1)
bce = nn.BCEWithLogitsLoss()
for it in range(4):
    fake = gen(torch.randn(8, 3))
    real = torch.randn(8, 4) + 2
"""
DISCRIMINATOR_FIRST = (
    GAN
    + """    score = disc(fake)
    d_loss = bce(disc(real), ones) + bce(score, zeros)
    opt_d.zero_grad()
    d_loss.backward(retain_graph=True)
    opt_d.step()
    g_loss = bce(score, ones)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
""",
    GAN
    + """    d_loss = bce(disc(real), ones) + bce(disc(fake.detach()), zeros)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = bce(disc(fake), ones)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
""",
)
BOTH_LOSSES_BEFORE = (
    DISCRIMINATOR_FIRST[0]
    .replace("    g_loss = bce(score, ones)\n", "")
    .replace("    opt_d.zero_grad()\n", "    g_loss = bce(score, ones)\n    opt_d.zero_grad()\n"),
    DISCRIMINATOR_FIRST[1],
)
GENERATOR_FIRST = (
    GAN
    + """    g_loss = bce(disc(fake), ones)
    opt_g.zero_grad()
    g_loss.backward(retain_graph=True)
    opt_g.step()
    d_loss = bce(disc(real), ones) + bce(disc(fake), zeros)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
""",
    GAN
    + """    g_loss = bce(disc(fake), ones)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    d_loss = bce(disc(real), ones) + bce(disc(fake.detach()), zeros)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
""",
)
ACTOR_CRITIC = """torch.manual_seed(0)
gen = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
disc = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt_a, opt_c = optim.Adam(gen.parameters(), lr=0.01), optim.Adam(disc.parameters(), lr=0.01)
for it in range(4):
    s, ret = torch.randn(16, 4), torch.randn(16)
    values = disc(s).squeeze(1)
    logp = torch.log_softmax(gen(s), 1)[:, 0]
    advantage = ret - values
    opt_c.zero_grad()
    advantage.pow(2).mean().backward(retain_graph=True)
    opt_c.step()
    opt_a.zero_grad()
    loss = -(logp * advantage).mean()
    loss.backward()
    opt_a.step()
"""
IN_A_FUNCTION = """torch.manual_seed(0)
gen = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4))
disc = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt_g = optim.Adam(gen.parameters(), lr=0.01)
opt_d = optim.Adam(disc.parameters(), lr=0.01)
def train_step():
    fake = gen(torch.randn(8, 3))
    score = disc(fake)
    d_loss = F.softplus(score).mean()
    opt_d.zero_grad()
    d_loss.backward(retain_graph=True)
    opt_d.step()
    g_loss = F.softplus(-score).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
for it in range(3):
    train_step()
"""


def weights(source):
    tape = run.record(source)
    assert tape.status == "ok", tape.error
    names = run.last_run.names
    return [p.detach().clone() for m in ("gen", "disc") for p in names[m].parameters()]


def fix_of(source):
    (finding,) = run.record(source).findings
    assert finding.id == "inplace-on-saved"
    return finding.fix


@pytest.mark.parametrize(
    ("sick", "right"),
    [
        DISCRIMINATOR_FIRST,
        BOTH_LOSSES_BEFORE,
        GENERATOR_FIRST,
        (ACTOR_CRITIC, ACTOR_CRITIC.replace("logp * advantage", "logp * advantage.detach()")),
        (
            IN_A_FUNCTION,
            IN_A_FUNCTION.replace("score = disc(fake)", "score = disc(fake.detach())").replace(
                "F.softplus(-score)", "F.softplus(-disc(fake))"
            ),
        ),
    ],
    ids=["discriminator first", "both losses before", "generator first", "critic", "function"],
)
def test_the_fixed_program_has_the_weights_of_the_right_one(sick, right):
    fixed = fix_of(sick)
    assert run.record(fixed).findings == ()
    assert all(torch.equal(a, b) for a, b in zip(weights(fixed), weights(right), strict=True))


def test_with_one_optimizer_the_step_moves_behind_both_losses():
    source = """torch.manual_seed(0)
a, b = nn.Linear(3, 3), nn.Linear(3, 1)
opt = optim.SGD([*a.parameters(), *b.parameters()], lr=0.1)
q = b(torch.tanh(a(torch.randn(5, 3))))
first, second = q.mean(), (q**2).mean()
opt.zero_grad()
first.backward(retain_graph=True)
opt.step()
second.backward()
"""
    assert fix_of(source).endswith("second.backward()\nopt.step()\n")


def test_what_is_not_computed_by_a_plain_assignment_has_no_fix():
    source = IN_A_FUNCTION.replace(
        "    score = disc(fake)\n", "    for layer in [disc]:\n        score = layer(fake)\n"
    )
    assert fix_of(source) == ""
