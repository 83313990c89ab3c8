"""Questions to the graph: ways, what leads here, what follows, cuts, bottlenecks, times."""

from collections.abc import Callable

from gradscribe.app.commands import command
from gradscribe.app.commands.context import CommandContext
from gradscribe.playback.flow.highlight import ABOUT_ONE, Highlight, Question
from gradscribe.playback.translation import tr


def _has_card(context: CommandContext) -> bool:
    card = context.presenter.selected_card()
    return card is not None and (card.value is not None or bool(card.ops))


def _has_ways(context: CommandContext) -> bool:
    card = context.presenter.selected_card()
    return card is not None and card.value is not None and bool(context.session.result.tape.passes)


def _has_ops(context: CommandContext) -> bool:
    return bool(context.session.result.tape.ops)


def _is_asked(question: Question) -> Callable[[CommandContext], bool]:
    def is_asked(context: CommandContext) -> bool:
        asked = context.session.view.highlight
        return asked is not None and asked.question == question

    return is_asked


def _ask(context: CommandContext, question: Question) -> None:
    """Ask a question; asked again about the same card, show everything."""
    card = context.presenter.selected_card()
    key = card.key if card is not None and question in ABOUT_ONE else ""
    asked = Highlight(question, key)
    context.session.set_highlight(None if asked == context.session.view.highlight else asked)


def _has_tensor(context: CommandContext) -> bool:
    return context.tensors.can_open()


@command(
    "graph.tensor", tr("Explore the tensor"), "View/6/selection", when=_has_tensor, page="program"
)
def tensor(context: CommandContext) -> None:
    """Show the selected value or gradient whole in a window of its own."""
    context.tensors.open()


@command(
    "graph.history",
    tr("History over the steps"),
    "View/6/selection",
    when=lambda context: context.history.can_show(),
    page="program",
)
def history(context: CommandContext) -> None:
    """Draw the selected tensor and its gradient at the same event of every step of the loop."""
    context.settings.put("below", True)
    context.history.show()


@command(
    "graph.ways",
    tr("Ways to the loss"),
    "View/6/paths",
    when=_has_ways,
    checked=_is_asked("ways"),
    page="program",
)
def ways(context: CommandContext) -> None:
    """List every way from the selection to the loss, with its local derivatives and their sum."""
    context.settings.put("right", True)
    context.presenter.show_ways()
    _ask(context, "ways")


@command(
    "graph.next_way",
    tr("Next way to the loss"),
    "View/6/paths",
    keys=("Ctrl+Alt+Right",),
    when=_has_ways,
    page="program",
)
def next_way(context: CommandContext) -> None:
    """Light up the next of the ways from the selection to the loss alone."""
    context.presenter.show_way(1)


@command(
    "graph.back_way",
    tr("Previous way to the loss"),
    "View/6/paths",
    keys=("Ctrl+Alt+Left",),
    when=_has_ways,
    page="program",
)
def back_way(context: CommandContext) -> None:
    """Light up the previous of the ways from the selection to the loss alone."""
    context.presenter.show_way(-1)


def _has_passes(context: CommandContext) -> bool:
    return bool(context.session.result.tape.passes)


@command(
    "graph.walk",
    tr("Walk from the loss to the leaves"),
    "View/6/paths",
    keys=("Ctrl+Alt+N",),
    when=_has_passes,
    page="program",
)
def walk(context: CommandContext) -> None:
    """Select the next backward node along next_functions, from the loss down to every leaf."""
    context.settings.put("right", True)
    context.presenter.walk_next_functions()


@command(
    "graph.before",
    tr("What leads here"),
    "View/6/paths",
    when=_has_card,
    checked=_is_asked("before"),
    page="program",
)
def before(context: CommandContext) -> None:
    """Fade everything that the selection was not computed from."""
    _ask(context, "before")


@command(
    "graph.after",
    tr("What follows"),
    "View/6/paths",
    when=_has_card,
    checked=_is_asked("after"),
    page="program",
)
def after(context: CommandContext) -> None:
    """Fade everything that was not computed from the selection."""
    _ask(context, "after")


@command(
    "graph.cut",
    tr("Where is it cut"),
    "View/6/paths",
    when=_has_card,
    checked=_is_asked("cut"),
    page="program",
)
def cut(context: CommandContext) -> None:
    """Show the ops behind which no gradient comes back to the selection."""
    _ask(context, "cut")


@command(
    "graph.bottlenecks",
    tr("Bottlenecks"),
    "View/6/paths",
    when=_has_card,
    checked=_is_asked("bottlenecks"),
    page="program",
)
def bottlenecks(context: CommandContext) -> None:
    """Show the tensors that every way from the selection to the loss passes."""
    _ask(context, "bottlenecks")


@command(
    "graph.critical",
    tr("Critical path by time"),
    "View/6/paths",
    when=_has_ops,
    checked=_is_asked("critical"),
    page="program",
)
def critical(context: CommandContext) -> None:
    """Show the way through the graph that took longest."""
    _ask(context, "critical")


@command(
    "graph.gradient",
    tr("Hide what is outside of the gradient graph"),
    "View/6/paths",
    when=_has_ops,
    checked=lambda context: context.session.view.gradient_only,
    page="program",
)
def gradient(context: CommandContext) -> None:
    """Lay out only what requires a gradient; again: everything, as it was."""
    context.session.set_gradient_only(not context.session.view.gradient_only)


def _has_answer(context: CommandContext) -> bool:
    view = context.session.view
    return view.highlight is not None or view.gradient_only


@command(
    "graph.all",
    tr("Show everything again"),
    "View/6/paths",
    keys=("Ctrl+Alt+Backspace",),
    when=_has_answer,
    page="program",
)
def show_all(context: CommandContext) -> None:
    """End the answer; no card is faded or left out."""
    context.session.set_highlight(None)
    context.session.set_gradient_only(False)
