"""View: layers, panes, text and theme."""

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtTest import QTest

from gradscribe.app.commands import view
from gradscribe.widgets.graph.camera import Camera


@pytest.mark.parametrize("name", ["values", "gradients", "shapes", "order"])
def test_a_layer_is_switched_and_remembered(settled, name):
    before = getattr(settled.session.view, name)
    getattr(view, name)(settled)
    assert getattr(settled.session.view, name) is not before
    assert settled.settings.flag(name) is not before


@pytest.mark.parametrize(("name", "pane"), [("left", "editor"), ("right", "inspector")])
def test_a_pane_is_hidden_and_shown(settled, name, pane):
    settled.show()
    getattr(view, name)(settled)
    assert not getattr(settled, pane).isVisible()
    getattr(view, name)(settled)
    assert getattr(settled, pane).isVisible()


def test_text_grows_shrinks_and_goes_back(settled):
    usual = settled.editor.look.px
    view.bigger(settled.context)
    view.bigger(settled.context)
    settled.look.finish()
    assert settled.editor.look.px > usual
    view.normal(settled.context)
    settled.look.finish()
    assert settled.editor.look.px == usual
    for _ in range(20):
        view.smaller(settled.context)
    assert settled.settings.number("text") == 0.7
    view.normal(settled.context)


def test_a_theme_is_chosen(settled):
    next(c for c in view.themes(settled.context) if c.title == "Dark").run(settled.context)
    assert settled.look.theme().name == "dark"
    assert [c.title for c in view.themes(settled.context) if c.checked] == ["Dark"]


@pytest.mark.checklist(105)
def test_modules_open_and_fold(settled, link, record):
    settled.session.edit_live("net")
    link.answer(record("net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())\nnet(torch.ones(1, 2))"))
    view.collapse(settled.context)
    assert {card.kind for card in settled.presenter.picture.cards} >= {"module"}
    assert settled.presenter.picture.frames == ()
    view.expand(settled.context)
    assert settled.presenter.picture.frames


def test_what_is_left_of_folded_modules_is_in_view_whole(settled, link, record, qtbot):
    settled.resize(1000, 640)
    settled.show()
    settled.session.edit_live("net")
    link.answer(record("net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())\nnet(torch.ones(1, 2))"))
    view.expand(settled.context)
    graph = settled.graph
    # Far down and close up, as after a look at the loss.
    graph.set_camera(Camera(3.0, -400.0, -2000.0))
    view.collapse(settled.context)
    graph.finish_motion()
    shown = graph.camera().box_to_view(graph.stage().bounds)
    assert QRectF(graph.rect()).contains(shown)
    graph.set_camera(Camera(3.0, -400.0, -2000.0))
    view.collapse(settled.context)
    graph.finish_motion()
    assert QRectF(graph.rect()).contains(graph.camera().box_to_view(graph.stage().bounds))


def test_what_is_selected_fills_the_view_with_its_neighbours(settled):
    settled.show()
    card = next(c for c in settled.presenter.picture.cards if c.kind == "op")
    settled.session.select(card.key)
    view.zoom_selection(settled.context)
    settled.graph.finish_motion()
    stage, camera = settled.graph.stage(), settled.graph.camera()
    wires = [*stage.into[card.key], *stage.out_of[card.key]]
    near = {stage.wires[w].source for w in wires} | {stage.wires[w].target for w in wires}
    assert len(near) > 1
    seen = settled.graph.rect()
    assert all(seen.contains(camera.box_to_view(stage.boxes[k]).toRect()) for k in near)


NESTED = """\
inner = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2), nn.Tanh()))
net = nn.Sequential(inner, nn.ReLU())
net(torch.ones(1, 2))
"""


@pytest.mark.checklist(107)
def test_modules_open_to_a_depth(settled, link, record):
    settled.session.edit_live("net")
    link.answer(record(NESTED))
    offered = view.depths(settled.context)
    assert [choice.title for choice in offered] == ["1 level", "2 levels", "3 levels", "4 levels"]

    def deepest():
        frames = {f.key: f for f in settled.presenter.picture.frames}

        def depth(key):
            return 1 + depth(frames[key].parent) if key else 0

        return max(depth(key) for key in frames)

    for number, choice in enumerate(offered[:3], 1):
        choice.run(settled.context)
        assert deepest() == number
    offered[0].run(settled.context)
    assert deepest() == 1


def test_zoom_and_fit_do_what_they_say(settled):
    settled.show()
    view.fit(settled.context)
    before = settled.graph.camera().zoom
    view.zoom_in(settled.context)
    assert settled.graph.camera().zoom > before
    view.zoom_out(settled.context)
    assert settled.graph.camera().zoom == pytest.approx(before)


def test_cards_are_coloured_by_something_else_and_by_what_they_are_again(settled, link, record):
    settled.session.edit_live("a = param(2.0)\n(a * 3).backward()")
    link.answer(record("a = param(2.0)\n(a * 3).backward()"))
    settled.show()
    next(c for c in view.colorings(settled.context) if c.title == "Gradient norm").run(
        settled.context
    )
    assert settled.settings.text("coloring") == "gradient"
    assert settled.graph.color_key().title == "Gradient norm"
    assert settled.over.key.isVisible()
    assert [c.title for c in view.colorings(settled.context) if c.checked] == ["Gradient norm"]
    settled.session.edit_live("a = param(2.0)\n(a * 4).backward()")
    link.answer(record("a = param(2.0)\n(a * 4).backward()"))
    assert settled.graph.color_key().title == "Gradient norm"
    settled.over.key.end_button.click()
    assert settled.graph.color_key() is None
    assert settled.over.key.isHidden()


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_colour_button_opens_the_choice(settled):
    settled.show()
    settled.over.tools.color_button.click()
    opened = settled.menus._actions["view.coloring"].menu()
    assert opened.isVisible()
    assert len(opened.actions()) == len(view.colorings(settled.context))
    opened.close()


@pytest.mark.parametrize("layer", ["values", "gradients"])
def test_a_layer_is_off_at_the_lines_of_the_code_too(settled, layer, qtbot):
    settled.resize(1440, 900)
    with qtbot.waitActive(settled):
        settled.show()

    def texts():
        settled.editor.viewport().repaint()
        placed = [mark for mark in settled.editor._placed if mark.value or mark.gradient]
        return {mark.value_text for mark in placed} - {""}, {m.gradient_text for m in placed} - {""}

    before = texts()
    assert {"−12.0000", "3.0000", "−2.0000"} <= before[0]
    assert {"−4.0000", "3.0000", "1.0000"} <= before[1]
    off = (set(), before[1]) if layer == "values" else (before[0], set())
    button = settled.top.layers[layer]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert texts() == off
    settled.clock.step()
    settled.clock.to_end()
    assert texts() == off, "playing on does not bring it back"
    key = Qt.Key.Key_1 if layer == "values" else Qt.Key.Key_2
    QTest.keyClick(settled.windowHandle(), key, Qt.KeyboardModifier.ControlModifier)
    assert texts() == before
    assert button.isChecked()
