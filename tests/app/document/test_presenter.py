"""Showing: every view follows tape, position and selection."""

from gradscribe.app.document import scene_builder
from gradscribe.app.document.presenter import counts_text, module_keys
from gradscribe.app.document.state import Doc
from gradscribe.playback.graph import build
from gradscribe.playback.tape import scenes
from gradscribe.widgets.inspector.panes.numbers import NumbersPane
from tests.app.fakes import broken

NET = """
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
loss = net(torch.ones(4, 2)).sum()
loss.backward()
"""
LOOP = """
w = param(1.0)
for i in range(3):
    loss = (w - 3) ** 2
    loss.backward()
"""


def show(window, link, tape):
    window.session.edit_live("#" + window.session.doc.source)
    link.answer(tape)


def test_counts_name_cards_and_numbers_to_learn(record):
    tape = record(NET)
    folded = build.build_picture(tape, scenes.scenes(tape)[0], frozenset())
    opened = build.build_picture(tape, scenes.scenes(tape)[0])
    assert counts_text(tape, folded).endswith("13 parameters")
    assert counts_text(tape, opened).endswith("13 parameters")


def test_a_single_number_is_one_parameter(record):
    tape = record("w = param(2.0)\ny = w * w")
    assert (
        counts_text(tape, build.build_picture(tape, scenes.scenes(tape)[0]))
        == "2 nodes · 1 parameter"
    )


def test_modules_fold_and_open_by_their_key(settled, link, record):
    show(settled, link, record(NET))
    keys = module_keys(settled.presenter.picture)
    outer = next(frame.key for frame in settled.presenter.picture.frames if not frame.parent)
    settled.graph.toggled.emit(outer)
    assert [card.key for card in settled.presenter.picture.cards if card.kind == "module"] == [
        outer
    ]
    settled.graph.toggled.emit(outer)
    assert outer in {frame.key for frame in settled.presenter.picture.frames}
    settled.presenter.expand_modules()
    assert {frame.key for frame in settled.presenter.picture.frames} == keys


def test_no_number_of_the_last_program_stands_beside_the_lines_of_another(settled, link, record):
    editor = settled.editor
    settled.session.load(Doc(source=NET))
    link.answer(record(NET))
    editor.viewport().grab()
    assert editor.placed_marks()
    assert editor.bands()
    other = "# another\nx = param(2.0)\n# of\n# as many\n# lines\n"
    assert other.count("\n") == NET.count("\n")
    settled.session.load(Doc(source=other))
    editor.viewport().grab()
    assert editor._placed == []
    assert not editor.bands()
    link.answer(record(other))
    editor.viewport().grab()
    assert [one.line for one in editor._placed] == [2]


def test_each_round_of_a_loop_is_a_scene(settled, link, record):
    tape = record(LOOP)
    show(settled, link, tape)
    found = scenes.scenes(tape)
    assert len(found) == 3
    seen = []
    settled.presenter.scene_builder.built.connect(lambda stage: seen.append(stage.picture.title))
    for scene in found:
        settled.session.move(scene.stop)
    assert seen[-2:] == [found[1].title, found[2].title] or seen == [s.title for s in found[:2]]
    settled.session.move(found[0].stop)
    assert settled.presenter.picture.title == found[0].title


def test_the_marks_beside_the_lines_follow_the_position(settled):
    settled.session.move(0)
    settled.editor.grab()
    assert not any(mark.gradient_text for mark in settled.editor._placed)
    settled.session.move(settled.clock.length)
    settled.editor.grab()
    assert any(mark.gradient_text for mark in settled.editor._placed)


def test_a_problem_in_the_console_leads_to_its_line(settled):
    settled.console.line_requested.emit(6)
    assert settled.editor.textCursor().blockNumber() == 5


def test_a_click_on_the_ground_selects_nothing(settled):
    settled.session.select(settled.presenter.picture.cards[0].key)
    settled.graph.picked.emit("")
    assert settled.session.view.selection == ""
    assert settled.values.selected() is None


def test_the_selection_survives_a_run_of_the_same_program(settled, link, sum_times):
    key = settled.presenter.picture.cards[0].key
    settled.session.select(key)
    show(settled, link, sum_times)
    assert settled.session.view.selection == key


def test_a_wire_can_be_selected(settled):
    wire = settled.presenter.picture.wires[0]
    settled.graph.picked.emit(wire.key)
    assert settled.inspector.page().selection.kind == "wire"


def test_a_big_picture_comes_later_and_nothing_is_looked_up_in_the_old_one(
    settled, link, record, monkeypatch, qtbot
):
    settled.session.select(settled.presenter.picture.cards[-1].key)
    monkeypatch.setattr(scene_builder, "INLINE_OPS", -1)
    show(settled, link, record("a = param(1.0)\nb = a * 2"))
    assert settled.presenter.picture.cards == ()
    settled.session.move(1)
    settled.session.select("")
    qtbot.waitUntil(lambda: len(settled.presenter.picture.cards) == 3)
    assert settled.session.view.position == 1


def test_while_a_big_picture_is_made_the_page_has_a_turn_of_its_own(
    settled, link, record, monkeypatch, qtbot
):
    inspector, told = settled.inspector, []
    turn = inspector.show_page
    monkeypatch.setattr(
        inspector, "show_page", lambda page, *place: told.append(place) or turn(page, *place)
    )
    monkeypatch.setattr(scene_builder, "INLINE_OPS", -1)
    # The picture is never begun: the page does not wait for it.
    settled.presenter.scene_builder._begin.timeout.disconnect()
    tape = record("a = param(1.0)\nb = a * 2")
    show(settled, link, tape)
    assert all(shown is not tape for shown, _ in told)
    qtbot.waitUntil(lambda: (tape, settled.session.view.position) in told)
    assert settled.presenter.scene_builder.busy
    settled.presenter.scene_builder.close()


def test_stale_views_are_marked(settled, link, record):
    show(settled, link, record(NET))
    settled.session.edit_live("no program (")
    link.answer(broken())
    assert settled.graph.canvas.stale
    assert settled.graph.canvas.drawing.fresh == frozenset()
    assert settled.editor.problem() is not None


PARTLY = """a = param(2.0)
b = a * 3
c = b + 1
d = c * c
"""


def test_only_what_the_typed_line_changes_is_stale(settled, link, record):
    def fresh():
        named = {card.name: card.key for card in settled.presenter.picture.cards}
        kept = settled.graph.canvas.drawing.fresh
        return {name for name, key in named.items() if key in kept}

    settled.session.edit_live(PARTLY)
    link.answer(record(PARTLY))
    marks = settled.editor._marks
    settled.session.edit_live(PARTLY.replace("b + 1", "b +"))
    link.answer(broken())
    assert settled.graph.canvas.stale
    assert fresh() - {""} == {"a", "b"}  # a card of a typed number has no name
    dimmed = [line for line in marks.lines() if not marks.freshness(line)[0]]
    assert dimmed == [3, 4]
    # Earlier on the tape nothing is stale, and a line below makes nothing stale at all.
    settled.session.move(2)
    assert not settled.graph.canvas.stale
    settled.session.move(len(settled.session.result.tape.events))
    assert settled.graph.canvas.stale
    settled.session.edit_live(PARTLY + "e = d *")
    link.answer(broken())
    assert not settled.graph.canvas.stale
    assert all(marks.freshness(line) == (True, True) for line in marks.lines())
    assert settled.session.result.stale, "the status line says that a newer program fails"


def test_gradients_after_the_changed_line_are_stale_in_what_comes_before_it_too(
    settled, link, record
):
    source = PARTLY + "d.backward()\n"
    settled.session.edit_live(source)
    link.answer(record(source))
    settled.session.edit_live(source.replace("c * c", "c *"))
    link.answer(broken())
    marks = settled.editor._marks
    assert marks.freshness(1) == (True, False)
    assert marks.freshness(4) == (False, False)
    fresh = settled.graph.canvas.drawing.fresh
    assert all(key.startswith("literal") for key in fresh)


def test_another_seed_makes_everything_stale(settled, link, record):
    settled.session.edit_live(PARTLY)
    link.answer(record(PARTLY))
    settled.session.set_seed(9)
    link.answer(broken())
    assert settled.session.result.fresh == 0


def test_the_same_text_that_runs_longer_again_is_not_stale(settled, link, record, qtbot):
    settled.session.edit_live(PARTLY)
    link.answer(record(PARTLY))
    settled.session.run_now()
    with qtbot.waitSignal(settled.session._patience.timeout):
        pass
    assert settled.session.result.engine == "running"
    assert not settled.session.result.stale


def test_the_graph_flows_down_or_to_the_right_as_one_says(settled, link, record):
    show(settled, link, record(NET))
    stage = settled.graph.stage
    assert stage().flows_down
    settled.menus.perform_by("view.sideways")
    assert settled.session.view.flow == "right"
    assert not stage().flows_down
    for key in stage().wires:
        start, end = (stage().placement.routes[key][at] for at in (0, -1))
        assert start[0] < end[0]
    show(settled, link, record(NET.replace("2.0", "3.0")))
    assert not stage().flows_down
    assert settled.settings.flag("sideways")
    settled.menus.perform_by("view.sideways")
    assert stage().flows_down


def test_the_graph_shows_from_the_start_what_the_buttons_say(window):
    view = window.session.view
    shown = window.graph.canvas.drawing.layers
    assert (shown.values, shown.gradients, shown.shapes) == (
        view.values,
        view.gradients,
        view.shapes,
    )
    assert all(window.top.layers[name].isChecked() for name in ("values", "gradients", "shapes"))


CLIPPED = """
net = nn.Linear(2, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = net(torch.ones(1, 2)).sum()
    opt.zero_grad()
    loss.backward()
    total = sum(p.grad.norm() for p in net.parameters())
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
"""


def test_the_scenes_of_the_strip_are_those_of_the_picture(settled, link, record):
    tape = record(CLIPPED)
    show(settled, link, tape)
    strip, found = settled.transport.scrubber, scenes.scenes(tape)
    assert len(found) == 3
    for number, scene in enumerate(found):
        strip.setValue(scene.stop)
        assert strip.shown() == (scene.start, scene.stop), number


def test_the_inspector_shows_its_page_once_for_many_steps_taken_as_one(settled, monkeypatch):
    shown, inspector = [], settled.inspector
    show_page = inspector.show_page

    def noted(selection, tape, position):
        shown.append(position)
        show_page(selection, tape, position)

    monkeypatch.setattr(inspector, "show_page", noted)
    last = len(settled.session.result.tape.events)
    card = settled.presenter.picture.cards[0]
    with settled.presenter.single_page_update():
        for position in range(last):
            settled.session.move(position)
        with settled.presenter.single_page_update():
            settled.session.select(card.key)
        assert shown == []
    assert shown == [last - 1]
    assert inspector.page().position == last - 1
    assert inspector.page().selection is not None
    settled.session.move(0)
    assert shown == [last - 1, 0]
    with settled.presenter.single_page_update():
        pass
    assert shown == [last - 1, 0], "nothing has changed"


def test_a_picture_and_who_selects_a_card_in_it_show_the_page_once(
    settled, link, record, monkeypatch
):
    shown, inspector = [], settled.inspector
    show(settled, link, record(LOOP))
    show_page = inspector.show_page

    def noted(selection, tape, position):
        shown.append((selection, position))
        show_page(selection, tape, position)

    monkeypatch.setattr(inspector, "show_page", noted)

    def select_last():
        settled.session.select(settled.presenter.picture.cards[-1].key)

    settled.presenter.picture_shown.connect(select_last)
    first = scenes.scenes(settled.session.result.tape)[0]
    settled.session.move(first.stop)
    assert [position for _, position in shown] == [first.stop]
    assert shown[0][0] is not None
    assert inspector.page().selection is not None


def test_numbers_are_fetched_no_more_from_an_engine_that_died(settled, link, record):
    show(settled, link, record("big = torch.zeros(50, 80)\ny = big + 1\n"))
    settled.presenter.select_value(settled.session.result.tape.values[-1].id)
    settled.inspector.findChild(NumbersPane).fetch.click()
    ((kind, _, snapshot),) = link.asked
    assert kind == "peek"
    assert settled.inspector.page().waiting
    link.die()
    assert not settled.inspector.page().waiting
    assert settled.inspector.page().fetched == {snapshot: None}


def test_repeated_ops_open_by_their_key_part_by_part(settled, link, record):
    many = "y = param(1.0)\nfor i in range(100):\n    y = y * 1.01\ny.backward()"
    show(settled, link, record(many))
    (card,) = [card for card in settled.presenter.picture.cards if card.repeats > 1]
    assert card.note == "100 × mul · 100 ops"
    settled.graph.toggled.emit(card.key)
    parts = [c for c in settled.presenter.picture.cards if c.frame == card.key]
    assert sum(part.repeats for part in parts) == 100
    settled.graph.toggled.emit(parts[0].key)
    ops = [
        c for c in settled.presenter.picture.cards if c.frame == parts[0].key and c.op is not None
    ]
    assert len(ops) == parts[0].repeats
    for key in (parts[0].key, ops[0].key, card.key):
        settled.session.select(key)
        settled.grab()
    settled.graph.toggled.emit(card.key)
    assert [c.key for c in settled.presenter.picture.cards if c.repeats > 1] == [card.key]


def test_every_card_of_a_second_graph_can_be_selected(settled, link, record):
    twice = (
        "x = torch.tensor(2.0, requires_grad=True)\ny = x ** 3\n"
        "(g,) = torch.autograd.grad(y, x, create_graph=True)\nh = g * 2\nh.backward()"
    )
    show(settled, link, record(twice))
    assert len(settled.presenter.picture.cards) == 7
    picture = settled.presenter.picture
    for key in [part.key for part in (*picture.cards, *picture.wires)]:
        settled.session.select(key)
        settled.grab()
