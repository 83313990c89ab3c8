"""Two runs side by side."""

from gradscribe.app.commands import command
from gradscribe.app.commands.context import Shell


def _has_tape(shell: Shell) -> bool:
    return bool(shell.session.result.tape.events)


def _has_both(shell: Shell) -> bool:
    return _has_tape(shell) and bool(shell.comparing.kept)


@command("compare.keep", "Keep this run to compare", menu="Run/4", when=_has_tape)
def keep(shell: Shell) -> None:
    """Keep this run, to compare it with a later one."""
    shell.comparing.keep(shell.session.result.tape, f"{shell.session.doc.title}, kept")
    shell.say("Kept. Change the program, then compare with Ctrl+Shift+D")


@command("compare.show", "Compare with the kept run", "Run/4", ("Ctrl+Shift+D",), when=_has_both)
def show(shell: Shell) -> None:
    """See the kept run and this one side by side, with the differences marked."""
    title = f"{shell.session.doc.title}, now"
    shell.comparing.compare_with_kept(shell.session.result.tape, title)
