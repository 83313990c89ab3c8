"""Costs of the program in the window: no_grad next to grad, reverse next to forward mode."""

import pytest

from gradscribe.app.ui.tool_windows import cost_window

NET = """
net = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 1))
x, t = torch.randn(128, 32), torch.randn(128, 1)
loss = F.mse_loss(net(x), t)
loss.backward()
"""


@pytest.fixture(scope="module", autouse=True)
def costs(shared_desk):
    """The window with costs, which stays for all tests of the file."""
    shared_desk.run(NET)
    window, _ = measured(shared_desk, "run.modes")
    window.close()


def measured(desk, command):
    desk.window.menus.perform_by(command)
    costs = desk.window.costs
    desk.bot.waitUntil(lambda: costs.window.again.isEnabled(), timeout=60_000)
    table = costs.window.table
    rows = [table.topLevelItem(n) for n in range(table.topLevelItemCount())]
    return costs.window, [[row.text(c) for c in range(table.columnCount())] for row in rows]


@pytest.mark.checklist(104)
def test_no_grad_stands_next_to_grad_with_time_and_memory(desk):
    desk.run(NET)
    window, rows = measured(desk, "run.no_grad")
    assert [row[0] for row in rows] == ["Forward, recorded for backward", "Forward under no_grad"]
    for row in range(2):
        box = window.table.visualItemRect(window.table.topLevelItem(row))
        assert box.height() > 10
        assert window.table.viewport().rect().contains(box.topLeft())
    assert all(row[1].endswith(("µs", "ms", "s")) for row in rows)
    # Held for backward: the results of tanh and of the last layer, the loss; sizes in bytes.
    assert rows[0][5] != rows[1][5]
    assert "Inputs and parameters aside" in window.words.said()
    window.close()


@pytest.mark.checklist(182)
def test_the_cost_of_both_modes_is_measured_on_this_program(desk):
    desk.run(NET)
    window, rows = measured(desk, "run.modes")
    assert [row[0] for row in rows][1:] == [
        "Reverse mode: forward and backward",
        "Forward mode: one direction",
        "Forward mode: every direction",
    ]
    numbers = 32 * 64 + 64 + 64 + 1
    assert f"{numbers:,} numbers" in window.words.said()
    assert window.table.isColumnHidden(4)
    window.close()


def test_a_changed_text_is_not_measured(desk):
    desk.run(NET)
    window, _ = measured(desk, "run.modes")
    desk.run("x = torch.ones(2, requires_grad=True)\nx.sum().backward()\n")
    assert window.words.said() == cost_window.NEWER
    assert not window.table.isVisible()
    window, rows = measured(desk, "run.modes")
    assert len(rows) == 4
    window.close()


def test_a_program_without_backward_has_nothing_to_measure(desk):
    desk.run("x = torch.ones(2)\n")
    assert not desk.window.costs.can_show()
