"""Two runs side by side."""

from gradscribe.app.commands import command
from gradscribe.app.commands.context import CommandContext


def _has_tape(context: CommandContext) -> bool:
    return bool(context.session.result.tape.events)


def _has_both(context: CommandContext) -> bool:
    return _has_tape(context) and bool(context.comparison.stored_title)


@command("compare.keep", "Keep this run to compare", menu="Run/4", when=_has_tape)
def keep(context: CommandContext) -> None:
    """Keep this run, to compare it with a later one."""
    context.comparison.store(context.session.result.tape, f"{context.session.doc.title}, kept")
    context.say("Kept. Change the program, then compare with Ctrl+Shift+D")


@command("compare.show", "Compare with the kept run", "Run/4", ("Ctrl+Shift+D",), when=_has_both)
def show(context: CommandContext) -> None:
    """See the kept run and this one side by side, with the differences marked."""
    title = f"{context.session.doc.title}, now"
    context.comparison.compare_with_stored(context.session.result.tape, title)
