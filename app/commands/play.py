"""Playback: play, step and seek on the tape, and train on the training page."""

from gradscribe.app.commands import MenuChoice, command, submenu
from gradscribe.app.commands.context import Shell

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


def _has_tape(shell: Shell) -> bool:
    return shell.clock.length > 0 or shell.workspace == "training"


@command(
    "play.toggle", "Play or pause", "Play/1", keys=("Ctrl+Space",), bare=("Space",), when=_has_tape
)
def toggle(shell: Shell) -> None:
    """Play the tape or train on from here, or pause."""
    if shell.workspace == "training":
        shell.training.controller.toggle()
    else:
        shell.clock.toggle()


@command("play.step", "Step", "Play/1", keys=("Alt+Right",), bare=("Right",), when=_has_tape)
def step(shell: Shell) -> None:
    """Show the next event; in Training make one step."""
    if shell.workspace == "training":
        shell.training.controller.advance()
    else:
        shell.clock.step()


@command("play.back", "Step back", "Play/1", keys=("Alt+Left",), bare=("Left",), when=_has_tape)
def back(shell: Shell) -> None:
    """Go back by one event; in Training by one step."""
    if shell.workspace == "training":
        shell.training.controller.back()
    else:
        shell.clock.back()


@command("play.next_line", "Next line", "Play/1", keys=("F10",), when=_has_tape)
def next_line(shell: Shell) -> None:
    """Run on to the end of the next line of the program."""
    shell.clock.next_line()


@command("play.line_back", "Previous line", "Play/1", keys=("Ctrl+F10",), when=_has_tape)
def line_back(shell: Shell) -> None:
    """Go back by one line of the program."""
    shell.clock.previous_line()


@command("play.reset", "Go to start", "Play/2", keys=("Alt+Home",), bare=("Home",), when=_has_tape)
def reset(shell: Shell) -> None:
    """Go to the start of the tape; in Training to step 0."""
    if shell.workspace == "training":
        shell.training.controller.reset()
    else:
        shell.clock.reset()


@command("play.end", "Go to end", "Play/2", keys=("Alt+End",), bare=("End",), when=_has_tape)
def to_end(shell: Shell) -> None:
    """Go to the end of the tape; in Training to the furthest step."""
    if shell.workspace == "training":
        shell.training.controller.go_to_furthest()
    else:
        shell.clock.to_end()


@command("play.faster", "Faster", "Play/3", keys=("Alt+Up",))
def faster(shell: Shell) -> None:
    """Play at twice the speed."""
    if shell.workspace == "training":
        shell.training.controller.change_speed(2)
    else:
        shell.clock.set_speed(shell.clock.speed * 2)


@command("play.slower", "Slower", "Play/3", keys=("Alt+Down",))
def slower(shell: Shell) -> None:
    """Play at half the speed."""
    if shell.workspace == "training":
        shell.training.controller.change_speed(0.5)
    else:
        shell.clock.set_speed(shell.clock.speed / 2)


@submenu("play.speed", "Speed", "Play/3")
def speeds(shell: Shell) -> list[MenuChoice]:
    """Speed of the playback."""

    def choice(speed: float) -> MenuChoice:
        here = shell.clock.speed == speed
        return MenuChoice(f"{speed:g}×", lambda at: at.clock.set_speed(speed), checked=here)

    return [choice(speed) for speed in SPEEDS]
