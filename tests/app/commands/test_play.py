"""Play: every command of the transport."""

from gradscribe.app.commands import play


def test_the_ends_and_the_steps(settled):
    play.reset(settled.context)
    assert settled.session.view.position == 0
    play.step(settled.context)
    play.step(settled.context)
    play.back(settled.context)
    assert settled.session.view.position == 1
    play.to_end(settled.context)
    assert settled.session.view.position == settled.clock.length


def test_toggle_plays_and_pauses(settled):
    play.reset(settled.context)
    play.toggle(settled.context)
    assert settled.clock.playing
    play.toggle(settled.context)
    assert not settled.clock.playing


def test_speed_doubles_and_halves_within_bounds(settled):
    for _ in range(9):
        play.faster(settled.context)
    assert settled.clock.speed == 8
    for _ in range(9):
        play.slower(settled.context)
    assert settled.clock.speed == 0.25


def test_a_speed_can_be_chosen_and_is_remembered(settled):
    next(c for c in play.speeds(settled.context) if c.title == "2×").run(settled.context)
    assert settled.clock.speed == 2
    assert settled.settings.number("speed") == 2
    assert [c.title for c in play.speeds(settled.context) if c.checked] == ["2×"]
