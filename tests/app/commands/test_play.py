"""Play: every command of the transport."""

from gradscribe.app.commands import play


def test_the_ends_and_the_steps(settled):
    play.reset(settled)
    assert settled.session.view.position == 0
    play.step(settled)
    play.step(settled)
    play.back(settled)
    assert settled.session.view.position == 1
    play.to_end(settled)
    assert settled.session.view.position == settled.clock.length


def test_toggle_plays_and_pauses(settled):
    play.reset(settled)
    play.toggle(settled)
    assert settled.clock.playing
    play.toggle(settled)
    assert not settled.clock.playing


def test_speed_doubles_and_halves_within_bounds(settled):
    for _ in range(9):
        play.faster(settled)
    assert settled.clock.speed == 8
    for _ in range(9):
        play.slower(settled)
    assert settled.clock.speed == 0.25


def test_a_speed_can_be_chosen_and_is_remembered(settled):
    next(c for c in play.speeds(settled) if c.title == "2×").run(settled)
    assert settled.clock.speed == 2
    assert settled.settings.number("speed") == 2
    assert [c.title for c in play.speeds(settled) if c.checked] == ["2×"]
