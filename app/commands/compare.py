"""Changes between runs, the history of runs, and two runs side by side."""

from gradscribe.app.commands import command
from gradscribe.app.commands.context import CommandContext
from gradscribe.playback.translation import tr


def _has_tape(context: CommandContext) -> bool:
    return bool(context.session.result.tape.events)


def _has_both(context: CommandContext) -> bool:
    return _has_tape(context) and bool(context.comparison.stored_title)


@command(
    "compare.keep",
    tr("Keep this run to compare"),
    menu="Run/4/compare",
    when=_has_tape,
    page="program",
)
def keep(context: CommandContext) -> None:
    """Keep this run, to compare it with a later one."""
    title = tr("{title}, kept", title=context.session.doc.title)
    context.comparison.store(context.session.result.tape, title)
    context.say(tr("Kept. Change the program, then compare with Ctrl+Shift+D"))


@command(
    "compare.show",
    tr("Compare with the kept run"),
    "Run/4/compare",
    ("Ctrl+Shift+D",),
    when=_has_both,
)
def show(context: CommandContext) -> None:
    """See the kept run and this one side by side, with the differences marked."""
    title = tr("{title}, now", title=context.session.doc.title)
    context.comparison.compare_with_stored(context.session.result.tape, title)


@command(
    "ranks.compare",
    tr("Compare ranks"),
    menu="Run/4/compare",
    when=lambda context: context.ranks.parting() is not None,
)
def compare_ranks(context: CommandContext) -> None:
    """See two ranks side by side, at the first place at which they part."""
    pair = context.ranks.parting()
    if pair is None:
        return
    (left, one), (right, other) = ((rank, context.ranks.tapes[rank]) for rank in pair)
    if one is not None and other is not None:
        context.comparison.show(
            (one, tr("Rank {left}", left=left)), (other, tr("Rank {right}", right=right))
        )


def _has_before(context: CommandContext) -> bool:
    return context.changes.has_before()


@command("run.changes", tr("What changed"), menu="Run/4", keys=("Ctrl+Alt+H",), when=_has_before)
def changes(context: CommandContext) -> None:
    """List what changed since the run before, in order of execution."""
    context.settings.put("below", True)
    context.changes.show_changes()


@command("run.history", tr("Runs of this program"), menu="Run/4", keys=("Ctrl+Shift+H",))
def runs(context: CommandContext) -> None:
    """List the runs of this program: go back, keep, name, compare."""
    context.settings.put("below", True)
    context.changes.show_runs()


@command(
    "run.compare_before",
    tr("Compare with the run before"),
    menu="Run/4/compare",
    keys=("Ctrl+Alt+K",),
    when=_has_before,
)
def compare_before(context: CommandContext) -> None:
    """See this run and the run before it side by side, with the lines that differ."""
    context.changes.compare_with_before()


@command("run.back", tr("Go back to the run before"), menu="Run/4/compare", when=_has_before)
def back(context: CommandContext) -> None:
    """Run the text of the run before again, with its seed and device; can be undone."""
    context.changes.go_back_once()
