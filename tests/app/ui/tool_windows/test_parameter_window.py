"""The window with the program's parameters follows the playback and selects in the graph."""

import pytest
from PySide6.QtCore import Qt

from gradscribe.app.commands import view
from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.run import run

SOURCE = """torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
opt = optim.SGD(net.parameters(), lr=0.1)
loss = net(torch.randn(5, 3)).square().mean()
loss.backward()
opt.step()
"""


@pytest.fixture
def shown(settled, link):
    settled.session.edit_live(SOURCE)
    link.answer(run.execute(Run(7, SOURCE)))
    settled.clock.seek(len(settled.session.result.tape.events))
    view.parameters(settled.context)
    yield settled
    settled.parameters.window.close()


def test_the_window_follows_the_playback(shown):
    table = shown.parameters.window.table
    assert shown.parameters.window.isVisible()
    rows = table.model.rows
    assert [row.name for row in rows][:2] == ["net.0.weight", "net.0.bias"]
    assert all(row.gradient and row.update for row in rows)
    shown.clock.seek(len(shown.session.result.tape.events) - 1)
    assert all(row.gradient and row.update is None for row in table.model.rows)
    shown.clock.seek(0)
    assert table.count.said() == "No parameters yet"


def test_it_is_raised_not_opened_twice_and_keeps_its_filter(shown):
    window = shown.parameters.window
    window.table.filter.setText("1.")
    window.close()
    assert not window.isVisible()
    view.parameters(shown.context)
    assert shown.parameters.window is window
    assert window.isVisible()
    assert window.table.shown_names() == ["net.1.weight", "net.1.bias"]


def test_a_click_selects_the_parameter(shown, qtbot):
    table = shown.parameters.window.table
    at = table.shown_names().index("net.1.bias")
    point = table.view.visualRect(table.sorted.index(at, 0)).center()
    qtbot.mouseClick(table.view.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert shown.presenter.selected_card().name == "net.1.bias"
