"""Gradients by hand: find them, hide them, exercises, backward code."""

from gradscribe.app.commands import MenuChoice, command, submenu
from gradscribe.app.commands.context import CommandContext
from gradscribe.playback.by_hand.exercises import LEVELS


def _has_questions(context: CommandContext) -> bool:
    return bool(context.hand.targets)


def _can_hide(context: CommandContext) -> bool:
    return context.hand.can_hide()


def _can_reveal(context: CommandContext) -> bool:
    return context.hand.can_reveal()


def _hides(context: CommandContext) -> bool:
    return context.session.hiding.is_on


def _in_exercise(context: CommandContext) -> bool:
    return context.hand.exercise.is_open


def _has_passes(context: CommandContext) -> bool:
    return context.backward_code.can_show()


def _show_pane(context: CommandContext) -> None:
    context.workspaces.show_workspace("program")
    context.settings.put("left", True)
    context.settings.put("below", True)


@command(
    "hand.find",
    "Find a gradient by hand",
    menu="Learn/4",
    keys=("Ctrl+Alt+G",),
    when=_has_questions,
)
def find(context: CommandContext) -> None:
    """Type the gradient of the selected tensor, and see where the chain breaks."""
    _show_pane(context)
    context.hand.open()


@command(
    "hand.hide",
    "Hide gradients until found",
    menu="Learn/4",
    when=_can_hide,
    checked=_hides,
)
def hide(context: CommandContext) -> None:
    """Show no gradient of this program before you have found it by hand."""
    context.hand.hide(not context.session.hiding.is_on)
    if context.session.hiding.is_on:
        _show_pane(context)
        context.hand.open()


@command("hand.reveal", "Show the hidden gradient", menu="Learn/4", when=_can_reveal)
def reveal(context: CommandContext) -> None:
    """Show the gradient that is asked for; it counts as not found."""
    context.hand.reveal()


@command("hand.code", "Backward code by hand…", menu="Learn/4", when=_has_passes)
def code(context: CommandContext) -> None:
    """Write the backward pass in Python, compared with autograd's gradients."""
    context.backward_code.show()


@submenu("hand.exercise", "New gradient exercise", menu="Learn/4")
def list_levels(_context: CommandContext) -> list[MenuChoice]:
    """Programs from templates, with their gradients hidden."""

    def choice(level: int, title: str) -> MenuChoice:
        return MenuChoice(
            f"{level}. {title}", lambda at: _begin(at, level), f"Exercises of level {level}"
        )

    return [choice(level, title) for level, title in enumerate(LEVELS, 1)]


@command("hand.next", "Next gradient exercise", menu="Learn/4")
def next_exercise(context: CommandContext) -> None:
    """Open another exercise of the level that is chosen in the pane."""
    _begin(context, context.hand.level)


def _begin(context: CommandContext, level: int) -> None:
    _show_pane(context)
    context.hand.begin_exercise(level)


@command("hand.leave", "Back to my program", menu="Learn/4", when=_in_exercise)
def leave(context: CommandContext) -> None:
    """Leave the exercise and go back to your own program."""
    context.hand.leave_exercise()


@command("hand.forget", "Reset the score by hand", menu="Learn/4")
def forget(context: CommandContext) -> None:
    """Set the score of gradients found by hand back to nothing."""
    context.hand.forget_score()
    context.say("The score is reset")
