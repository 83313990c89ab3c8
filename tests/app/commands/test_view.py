"""View: layers, panes, text and theme."""

import pytest

from app.commands import view


@pytest.mark.parametrize("name", ["values", "gradients", "shapes"])
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
    usual = settled.editor.text_size()
    view.bigger(settled)
    view.bigger(settled)
    settled.look.finish()
    assert settled.editor.text_size() > usual
    view.normal(settled)
    settled.look.finish()
    assert settled.editor.text_size() == usual
    for _ in range(20):
        view.smaller(settled)
    assert settled.settings.number("text") == 0.7
    view.normal(settled)


def test_a_theme_is_chosen(settled):
    next(c for c in view.themes(settled) if c.title == "Dark").run(settled)
    assert settled.look.theme().name == "dark"
    assert [c.title for c in view.themes(settled) if c.checked] == ["Dark"]


def test_modules_open_and_fold(settled, link, record):
    settled.session.nudge("net")
    link.answer(record("net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())\nnet(torch.ones(1, 2))"))
    view.collapse(settled)
    assert {card.kind for card in settled.showing.picture.cards} >= {"module"}
    assert settled.showing.picture.frames == ()
    view.expand(settled)
    assert settled.showing.picture.frames


def test_zoom_and_fit_do_what_they_say(settled):
    settled.show()
    view.fit(settled)
    before = settled.graph.camera().zoom
    view.zoom_in(settled)
    assert settled.graph.camera().zoom > before
    view.zoom_out(settled)
    assert settled.graph.camera().zoom == pytest.approx(before)


def test_cards_are_coloured_by_something_else_and_by_what_they_are_again(settled, link, record):
    settled.session.nudge("a = param(2.0)\n(a * 3).backward()")
    link.answer(record("a = param(2.0)\n(a * 3).backward()"))
    settled.show()
    next(c for c in view.colorings(settled) if c.title == "Gradient norm").run(settled)
    assert settled.settings.text("coloring") == "gradient"
    assert settled.graph.color_key().title == "Gradient norm"
    assert settled.over.key.isVisible()
    assert [c.title for c in view.colorings(settled) if c.checked] == ["Gradient norm"]
    settled.session.nudge("a = param(2.0)\n(a * 4).backward()")
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
    assert len(opened.actions()) == len(view.colorings(settled))
    opened.close()
