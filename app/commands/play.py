"""Playback: play, step and seek on the tape, and train on the training page."""

from gradscribe.app.commands import MenuChoice, command, submenu
from gradscribe.app.commands.context import CommandContext
from gradscribe.playback.tape import passes
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.translation import tr

PACES = {"event": tr("Event by event"), "line": tr("Line by line"), "step": tr("Step by step")}
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


def _has_tape(context: CommandContext) -> bool:
    return context.clock.length > 0 or context.workspaces.current == "training"


@command(
    "play.toggle", tr("Play or pause"), "Play/1", keys=("F7",), bare=("Space",), when=_has_tape
)
def toggle(context: CommandContext) -> None:
    """Play the tape or train on from here, or pause."""
    if context.workspaces.current == "training":
        context.training.controller.toggle()
    else:
        context.clock.toggle()


@command("play.step", tr("Step"), "Play/1", keys=("Alt+Right",), bare=("Right",), when=_has_tape)
def step(context: CommandContext) -> None:
    """Show the next event; in Training make one step."""
    if context.workspaces.current == "training":
        context.training.controller.advance()
    else:
        context.clock.step()


@command("play.back", tr("Step back"), "Play/1", keys=("Alt+Left",), bare=("Left",), when=_has_tape)
def back(context: CommandContext) -> None:
    """Go back by one event; in Training by one step."""
    if context.workspaces.current == "training":
        context.training.controller.back()
    else:
        context.clock.back()


@command("play.next_line", tr("Next line"), "Play/1", keys=("F10",), when=_has_tape)
def next_line(context: CommandContext) -> None:
    """Run on to the end of the next line of the program; in Training of the step."""
    if context.workspaces.current == "training":
        context.training.controller.next_event()
    else:
        context.clock.next_line()


@command(
    "play.line_back",
    tr("Previous line"),
    "Play/1",
    keys=("Ctrl+F10",),
    when=_has_tape,
    page="program",
)
def line_back(context: CommandContext) -> None:
    """Go back by one line of the program."""
    context.clock.previous_line()


def _has_steps(context: CommandContext) -> bool:
    return context.workspaces.current == "program" and context.clock.step_count > 0


@command(
    "play.next_step",
    tr("Same event in the next step"),
    "Play/1",
    keys=("Ctrl+Shift+PgDown",),
    bare=("PgDown",),
    when=_has_steps,
)
def next_step(context: CommandContext) -> None:
    """Go one step of the loop on, to the same event."""
    context.clock.turn_step(1)


@command(
    "play.step_back",
    tr("Same event in the previous step"),
    "Play/1",
    keys=("Ctrl+Shift+PgUp",),
    bare=("PgUp",),
    when=_has_steps,
)
def step_back(context: CommandContext) -> None:
    """Go one step of the loop back, to the same event."""
    context.clock.turn_step(-1)


@command("play.go_to_step", tr("Go to step…"), "Play/2", keys=("Ctrl+G",), when=_has_steps)
def go_to_step(context: CommandContext) -> None:
    """Type the number of a step of the loop."""
    context.edit_step()


@submenu("play.pass", tr("Play a backward pass"), "Play/2", page="program")
def backward_passes(context: CommandContext) -> list[MenuChoice]:
    """Play a backward pass of this step by itself, from its start to its end."""
    if context.workspaces.current != "program":
        return []
    index, scene = index_of(context.session.result.tape), context.presenter.scene
    found = passes.numbered(index, scene.start, scene.stop)

    def choice(number: int, run: int) -> MenuChoice:
        start, stop = index.passes[run]
        title = tr("Pass {number}: {title}", number=number, title=passes.title(index, run))
        here = start < context.session.view.position <= stop + 1
        return MenuChoice(title, lambda at: at.clock.play_span(start, stop + 1), checked=here)

    return [choice(number, run) for number, run in enumerate(found, 1)]


@command(
    "play.reset", tr("Go to start"), "Play/2", keys=("Alt+Home",), bare=("Home",), when=_has_tape
)
def reset(context: CommandContext) -> None:
    """Go to the start of the tape; in Training to step 0."""
    if context.workspaces.current == "training":
        context.training.controller.reset()
    else:
        context.clock.reset()


@command("play.end", tr("Go to end"), "Play/2", keys=("Alt+End",), bare=("End",), when=_has_tape)
def to_end(context: CommandContext) -> None:
    """Go to the end of the tape; in Training to the furthest step."""
    if context.workspaces.current == "training":
        context.training.controller.go_to_furthest()
    else:
        context.clock.to_end()


@command("play.faster", tr("Faster"), "Play/3", keys=("Alt+Up",))
def faster(context: CommandContext) -> None:
    """Play at twice the speed."""
    if context.workspaces.current == "training":
        context.training.controller.change_speed(2)
    else:
        context.clock.set_speed(context.clock.speed * 2)


@command("play.slower", tr("Slower"), "Play/3", keys=("Alt+Down",))
def slower(context: CommandContext) -> None:
    """Play at half the speed."""
    if context.workspaces.current == "training":
        context.training.controller.change_speed(0.5)
    else:
        context.clock.set_speed(context.clock.speed / 2)


@submenu("play.speed", tr("Speed"), "Play/3", page="program")
def speeds(context: CommandContext) -> list[MenuChoice]:
    """Speed of the playback."""

    def choice(speed: float) -> MenuChoice:
        here = context.clock.speed == speed
        return MenuChoice(f"{speed:g}×", lambda at: at.clock.set_speed(speed), checked=here)

    return [choice(speed) for speed in SPEEDS]


@submenu("play.pace", tr("Play by"), "Play/3", page="program")
def paces(context: CommandContext) -> list[MenuChoice]:
    """Pace of the playback: event by event, line by line, or step by step."""

    def choice(pace: str, title: str) -> MenuChoice:
        here = context.clock.pace == pace
        return MenuChoice(title, lambda at: at.clock.set_pace(pace), checked=here)

    return [choice(pace, title) for pace, title in PACES.items()]
