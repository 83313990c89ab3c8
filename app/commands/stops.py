"""Breakpoints, and playing on to a line, a node, a change, a NaN or a gradient."""

from collections.abc import Callable, Sequence

from gradscribe.app.commands import command
from gradscribe.app.commands.context import CommandContext
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.code.moved_lines import in_earlier_text
from gradscribe.playback.tape import event_text, stops
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.translation import ngettext, tr


def _on_program(context: CommandContext) -> bool:
    return context.workspaces.current == "program"


def _has_run(context: CommandContext) -> bool:
    return _on_program(context) and context.clock.length > 0


def _has_breakpoints(context: CommandContext) -> bool:
    return _on_program(context) and bool(context.session.view.breakpoints)


def _can_stop(context: CommandContext) -> bool:
    return _has_run(context) and _has_breakpoints(context)


def _tensor(context: CommandContext) -> int | None:
    """Return the id of the selected tensor; None without one, or if it is not of this tape."""
    page = context.inspector.page()
    is_shown = page.tape is context.session.result.tape
    return page.value.id if is_shown and page.value is not None else None


def _has_tensor(context: CommandContext) -> bool:
    return _has_run(context) and _tensor(context) is not None


def _run_on(context: CommandContext, found: Sequence[int], nothing: str, none: str) -> None:
    """Play to the first of these positions after here.

    Without any say ``none``, and ``nothing`` if the last has passed.
    """
    there = stops.next_of(found, context.session.view.position)
    if there is None:
        context.say(nothing if found else none)
        return
    context.clock.run_to(there)


@command(
    "play.breakpoint",
    tr("Breakpoint on this line"),
    "Play/4/breakpoints",
    keys=("F9",),
    when=_on_program,
    checked=lambda context: context.editor.caret_line() in context.session.view.breakpoints,
)
def toggle_breakpoint(context: CommandContext) -> None:
    """Let playing stop at the caret's line, forward and in the backward pass, or no longer."""
    line = context.editor.caret_line()
    context.editor.breakpoints.toggle(line)
    is_set = line in context.session.view.breakpoints
    context.say(
        tr("Breakpoint on line {line}", line=line)
        if is_set
        else tr("No breakpoint on line {line}", line=line)
    )


@command(
    "play.no_breakpoints",
    tr("Remove all breakpoints"),
    "Play/4/breakpoints",
    keys=("Ctrl+Shift+F9",),
    when=_has_breakpoints,
)
def remove_breakpoints(context: CommandContext) -> None:
    """Remove the breakpoints of all lines."""
    count = len(context.session.view.breakpoints)
    context.editor.breakpoints.set_lines(())
    context.say(
        tr(
            "{breakpoints} removed",
            breakpoints=ngettext("{count:,} breakpoint", "{count:,} breakpoints", count),
        )
    )


@command(
    "play.next_stop",
    tr("Next breakpoint"),
    "Play/4/breakpoints",
    keys=("Shift+F9",),
    when=_can_stop,
)
def next_breakpoint(context: CommandContext) -> None:
    """Play on to where a line with a breakpoint runs next."""
    none = tr("No line with a breakpoint has run")
    _run_on(context, context.clock.breakpoints(), tr("No breakpoint comes after this"), none)


@command(
    "play.stop_back",
    tr("Previous breakpoint"),
    "Play/4/breakpoints",
    keys=("Ctrl+F9",),
    when=_can_stop,
)
def previous_breakpoint(context: CommandContext) -> None:
    """Go back to where a line with a breakpoint has run before."""
    there = stops.last_of(context.clock.breakpoints(), context.session.view.position)
    if there is None:
        context.say(tr("No breakpoint comes before this"))
        return
    context.clock.run_to(there)


@command(
    "play.run_to_line", tr("Run to this line"), "Play/4", keys=("Ctrl+Shift+F10",), when=_has_run
)
def run_to_line(context: CommandContext) -> None:
    """Play on to where the caret's line runs next, forward or in the backward pass."""
    line, result = context.editor.caret_line(), context.session.result
    then = in_earlier_text((line,), context.session.doc.source, result.source)
    found = stops.stops_of(result.tape, then)
    none = tr("Nothing is recorded on line {line}", line=line)
    _run_on(context, found, tr("Line {line} does not run after this", line=line), none)


@command(
    "play.next_node",
    tr("Next backward node"),
    "Play/5/next",
    keys=("Ctrl+Shift+F7",),
    when=_has_run,
)
def next_node(context: CommandContext) -> None:
    """Play on until the next backward node has run."""
    found = stops.nodes(context.session.result.tape)
    _run_on(
        context, found, tr("No backward node runs after this"), tr("No backward pass was recorded")
    )


@command("play.next_nan", tr("Next NaN"), "Play/5/next", keys=("Ctrl+Shift+F8",), when=_has_run)
def next_nan(context: CommandContext) -> None:
    """Play on until a value or a gradient contains a NaN."""
    found = stops.nans(context.session.result.tape)
    _run_on(
        context, found, tr("No NaN comes after this"), tr("No value and no gradient contains a NaN")
    )


def _run_on_tensor(
    context: CommandContext, find: Callable[[Tape, int], Sequence[int]], words: str
) -> None:
    value = _tensor(context)
    if value is not None:
        index = index_of(context.session.result.tape)
        name, found = event_text.value_name(index, value), find(index.tape, value)
        _run_on(
            context,
            found,
            tr("{name} {words} after this", name=name, words=words),
            f"{name} {words}",
        )


@command(
    "play.next_change",
    tr("Next change of this tensor"),
    "Play/5/next",
    keys=("Ctrl+Shift+F11",),
    when=_has_tensor,
)
def next_change(context: CommandContext) -> None:
    """Play on until the selected tensor, or the variable of its name, gets other numbers."""
    _run_on_tensor(context, stops.changes, tr("does not change"))


@command(
    "play.next_gradient",
    tr("Next gradient of this tensor"),
    "Play/5/next",
    keys=("Ctrl+Shift+F12",),
    when=_has_tensor,
)
def next_gradient(context: CommandContext) -> None:
    """Play on until the selected tensor has got a gradient: a leaf one that accumulates in it."""
    _run_on_tensor(context, stops.gradients, tr("gets no gradient"))
