"""Search in the graph, in the real window: matches are revealed wherever they hide."""

import pytest
from PySide6.QtCore import Qt

from tests.programs import TOWER


@pytest.fixture(scope="module")
def tower(record):
    return record(TOWER)


@pytest.fixture
def high(window, link, tower):
    """A window that shows a tower of twelve blocks, folded."""
    link.greet()
    window.open_first()
    window.show()
    link.answer(tower)
    window.session.open_calls(frozenset())
    return window


def selected(window):
    key = window.session.view.selection
    return next((c for c in window.presenter.picture.cards if c.key == key), None)


def test_a_match_inside_folded_modules_is_opened_selected_and_seen(high):
    high.finder.search("gelu")
    assert high.over.tools.count.text() == "1 of 12"
    card = selected(high)
    assert (card.title, card.kind) == ("gelu", "op")
    box = high.graph.stage().boxes[card.key]
    high.graph.finish_motion()
    assert high.graph.rect().contains(high.graph.camera().box_to_view(box).toRect())


def test_enter_walks_through_the_matches_and_round(high, qtbot):
    tools = high.over.tools
    tools.open()
    qtbot.keyClicks(tools.query, "gelu")
    seen = []
    for _ in range(12):
        seen.append(selected(high).op)
        qtbot.keyClick(tools.query, Qt.Key.Key_Return)
    assert seen == sorted(set(seen))
    assert selected(high).op == seen[0]
    qtbot.keyClick(tools.query, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert selected(high).op == seen[-1]
    assert tools.count.text() == "12 of 12"


def test_a_parameter_in_one_of_folded_equal_blocks_is_shown_itself(high):
    tape = high.session.result.tape
    named = [value for value in tape.values if value.role == "parameter"]
    wanted = named[-1]
    folded = high.presenter.picture.value_cards[wanted.id]
    high.values.picked.emit(wanted.id)
    card = selected(high)
    assert card.key != folded
    assert (card.kind, card.value) == ("parameter", wanted.id)


def test_what_is_not_there_is_counted_as_none(high):
    high.finder.search("no such thing")
    assert high.over.tools.count.text() == "None found"
    high.finder.step()
    high.finder.search("")
    assert high.over.tools.count.text() == ""


def test_a_shape_or_a_bad_number_is_found(window, link, record):
    link.greet()
    window.open_first()
    link.answer(record("x = param(0.0)\ny = 1 / x\nz = torch.ones(3, 2) * y\nz.sum().backward()"))
    window.finder.search("3x2")
    assert {len(window.finder.matches)} == {2}
    window.finder.search("inf")
    assert window.finder.matches


def test_the_path_follows_the_selection_and_leads_to_a_module(high, qtbot):
    high.finder.search("gelu")
    path = high.over.crumbs.path
    assert path[0].title == "net"
    assert path[-1].title == "gelu"
    high.over.crumbs.picked.emit(path[0].key)
    assert high.session.view.selection == path[0].key
    high.graph.finish_motion()
    frame = high.graph.stage().frame_boxes[path[0].key]
    assert high.graph.camera().box_to_view(frame).height() <= high.graph.height() + 1


def test_the_path_follows_what_plays_where_nothing_is_selected(high, tower):
    high.session.select("")
    high.session.open_calls(None)
    at = [e.kind for e in tower.events].index("op") + 1
    high.session.move(at)
    assert high.over.crumbs.path[0].title == "net"


def test_control_f_searches_where_the_keyboard_is(high, qtbot):
    high.activateWindow()
    high.graph.setFocus()
    qtbot.waitUntil(high.graph.hasFocus)
    high.context.open_find()
    assert high.over.tools.is_open()
    high.over.tools.leave()
    high.editor.setFocus()
    qtbot.waitUntil(high.editor.hasFocus)
    high.context.open_find()
    assert not high.over.tools.is_open()
    assert high.find_bar.isVisible()
    high.menus.perform_by("edit.find_graph")
    assert high.over.tools.is_open()


def test_the_buttons_fold_open_and_fit(high):
    tools = high.over.tools
    tools.expand_pressed.emit()
    assert len(high.presenter.picture.frames) > 12
    tools.collapse_pressed.emit()
    assert not high.presenter.picture.frames
    high.graph.zoom_by(3)
    tools.fit_pressed.emit()
    high.graph.finish_motion()
    assert high.graph.camera().zoom < 3


def test_the_same_search_holds_for_the_next_run(high, link, tower):
    high.finder.search("gelu")
    high.session.run_now()
    link.answer(tower)
    assert len(high.finder.matches) == 12


LOOP = """\
w = param(1.0)
for step in range(4):
    block = w * 2
    if step == 2:
        extra = block.log()
        block = block + extra
    loss = block ** 2
    loss.backward()
"""


@pytest.fixture
def looping(window, link, record):
    link.greet()
    window.open_first()
    window.show()
    link.answer(record(LOOP))
    window.session.move(0)
    return window


def test_what_happened_in_another_step_is_found_and_gone_to(looping):
    assert len(looping.presenter.scenes) == 4
    looping.finder.search("extra")
    assert looping.over.tools.count.text().endswith("· Step 3 of 4")
    assert looping.presenter.scene_number == 2
    card = selected(looping)
    assert card.name == "extra"
    looping.graph.finish_motion()
    box = looping.graph.stage().boxes[card.key]
    assert looping.graph.rect().contains(looping.graph.camera().box_to_view(box).toRect())


def test_the_search_begins_in_the_step_that_is_shown(looping):
    looping.session.move(looping.presenter.scenes[1].stop)
    looping.finder.search("loss")
    assert looping.over.tools.count.text() == "2 of 4 · Step 2 of 4"
    for number in (2, 3, 0):
        looping.finder.step()
        assert looping.presenter.scene_number == number
    looping.finder.step(back=True)
    assert looping.presenter.scene_number == 3


def test_a_leaf_that_every_step_uses_is_found_where_one_looks(looping):
    looping.session.move(looping.presenter.scenes[2].stop)
    looping.finder.search("w")
    assert [number for number, match in looping.finder.matches if match.value is not None] == [2]


def test_opening_what_hides_a_match_works_in_another_step_too(looping, link, record):
    source = (
        "net = nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.Tanh()))\n"
        "for _ in range(3):\n    net(torch.ones(1, 2)).sum().backward()\n"
    )
    looping.session.edit_live(source)
    link.answer(record(source))
    looping.session.open_calls(frozenset())
    looping.session.move(0)
    looping.finder.search("tanh")  # the module and its op, in each step
    for number in (0, 1, 1, 2):
        looping.finder.step()
        assert looping.presenter.scene_number == number
        assert selected(looping).title == "tanh"


STEPS = """\
w = param(1.0)
for step in range(3):
    lo = w * 2
    l = lo + 1
    if step == 2:
        losses = l * 1
    loss = l ** 2
    loss.backward()
"""


def test_each_key_selects_the_best_match_in_the_step_that_is_shown(window, link, record, qtbot):
    link.greet()
    window.open_first()
    window.show()
    link.answer(record(STEPS))
    middle = window.presenter.scenes[1]
    position = middle.stop - 1
    window.session.move(position)
    tools = window.over.tools
    tools.open()
    seen = []
    for key in "losses":
        qtbot.keyClicks(tools.query, key)
        seen.append((selected(window).name, window.presenter.scene_number))
    # A name that is typed in full comes first; only "losse" is in another step alone.
    assert seen[:4] == [("l", 1), ("lo", 1), ("loss", 1), ("loss", 1)]
    assert seen[4:] == [("losses", 2), ("losses", 2)]
    for _ in range(2):
        qtbot.keyClick(tools.query, Qt.Key.Key_Backspace)
    assert (selected(window).name, window.presenter.scene_number) == ("loss", 1)
    assert window.session.view.position == position
    qtbot.keyClicks(tools.query, "zzz")
    assert tools.count.text() == "None found"
    assert window.session.view.position == position


def test_from_a_match_that_was_stepped_to_the_search_goes_on(looping, qtbot):
    looping.session.move(looping.presenter.scenes[0].stop)
    tools = looping.over.tools
    tools.open()
    qtbot.keyClicks(tools.query, "los")
    qtbot.keyClick(tools.query, Qt.Key.Key_Return)
    assert looping.presenter.scene_number == 1
    qtbot.keyClicks(tools.query, "s")
    assert looping.presenter.scene_number == 1


def test_a_search_made_while_a_loop_runs_goes_on_with_its_steps(window, link, record):
    """The window follows a run that goes on; the count said the step of the first draft."""
    link.greet()
    window.open_first()
    window.show()
    whole, begun = record(LOOP), record(LOOP.replace("range(4)", "range(2)"))
    link.draft(begun)
    window.finder.search("loss")
    assert window.over.tools.count.text() == "2 of 2 · Step 2 of 2"
    link.answer(whole)
    assert window.presenter.scene_number == 3
    assert window.over.tools.count.text() == "4 of 4 · Step 4 of 4"
    window.finder.step(back=True)
    assert window.presenter.scene_number == 2
