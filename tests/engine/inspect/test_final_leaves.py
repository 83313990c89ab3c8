"""The end of a tape alone."""

from gradscribe.app.cli import report
from gradscribe.engine.inspect.final_leaves import leaves_alone
from gradscribe.engine.protocol import check_tape
from gradscribe.engine.run import run

PROGRAM = """
net = nn.Linear(2, 3)
opt = optim.SGD(net.parameters(), lr=0.1)
unused = param(2.0)
for step in range(5):
    opt.zero_grad()
    net(torch.ones(4, 2)).pow(2).mean().backward()
    opt.step()
    print(step)
"""


def test_the_leaves_are_those_of_the_whole_tape():
    tape = run.record(PROGRAM)
    end = leaves_alone(tape)
    assert len(end.leaves) == 3
    assert report.leaf_table(end) == report.leaf_table(tape)
    assert report.counts_line(end) == report.counts_line(tape)
    assert (end.stdout, end.findings) == ("0\n1\n2\n3\n4\n", tape.findings)
    assert not any(check_tape.find_flaws(end))
    assert (end.events, end.ops, len(end.values)) == ((), (), 3)


def test_an_error_is_kept():
    tape = run.record("w = param(1.0)\n1 / 0")
    end = leaves_alone(tape)
    assert (end.status, end.error) == ("error", tape.error)
    assert not any(check_tape.find_flaws(end))
