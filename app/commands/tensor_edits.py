"""Properties of the selected tensor that are changed by an edit of the program's text."""

from gradscribe.app.commands import MenuChoice, command, submenu
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.files.documents import Refused
from gradscribe.engine.protocol.tape import Call, Value
from gradscribe.playback.code import parameter_edits, property_edits, root_edits
from gradscribe.playback.code.property_edits import Property
from gradscribe.playback.lab.dtypes import bytes_in
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr


def _value(context: CommandContext) -> Value | None:
    """Return the selected tensor as it was made, if it has a name in the text as it is."""
    value = context.inspector.page().made
    return value if value is not None and _is_current(context) else None


def _is_current(context: CommandContext) -> bool:
    session = context.session
    return session.doc.source == session.result.source and session.doc.may_run


def _may_change(changed: Property, context: CommandContext) -> bool:
    value = _value(context)
    return value is not None and not property_edits.refusal(value, changed)


def _is_on(changed: Property, context: CommandContext) -> bool:
    value = _value(context)
    return value is not None and property_edits.is_on(context.session.doc.source, value, changed)


def change(context: CommandContext, changed: Property, choice: str) -> None:
    """Edit the text for the selected tensor and run it; undo leads back.

    Raises:
        Refused: the line has no safe place for the edit.
    """
    value = _value(context)
    if value is None or not property_edits.has_name(value):
        raise Refused(tr("Select a tensor that has a name in the program"))
    if reason := property_edits.refusal(value, changed):
        raise Refused(reason)
    source = property_edits.edited(context.session.doc.source, value, changed, choice)
    if not source:
        raise Refused(
            tr("Line {line} has no safe place for this: edit it by hand", line=value.place.line)
        )
    context.session.apply_fix(source)
    context.say(
        tr("{words}. Ctrl+Z takes it back", words=property_edits.words(value, changed, choice))
    )


def start_from(context: CommandContext, line: int, reduction: str, vector: str) -> None:
    """Let the pass on a line start at ``sum`` or ``mean`` of its root, or from a vector.

    Raises:
        Refused: the text is not the one that was run, or has no safe place for the edit.
    """
    session = context.session
    source = session.doc.source
    if source != session.result.latest_source or not session.doc.may_run:
        raise Refused(tr("The text has changed since: run it first"))
    if reduction in ("sum", "mean"):
        edited = root_edits.with_reduction(source, line, "sum" if reduction == "sum" else "mean")
    else:
        edited = root_edits.with_vector(source, line, vector)
    if not edited:
        if reduction or root_edits.is_expression(vector.strip()):
            raise Refused(tr("Line {line} has no safe place for this: edit it by hand", line=line))
        raise Refused(tr("This is no expression: {value}", value=vector.strip()[:60] or "nothing"))
    session.apply_fix(edited)
    context.say(tr("Line {line} is changed. Ctrl+Z takes it back", line=line))


def changing(changed: Property, choice: str) -> MenuChoice:
    """Return the change of a property of the selected tensor as a choice."""
    return MenuChoice(changed, lambda context: change(context, changed, choice))


def starting(line: int, reduction: str, vector: str) -> MenuChoice:
    """Return the change of where the pass on a line starts as a choice."""
    return MenuChoice("start", lambda context: start_from(context, line, reduction, vector))


@command(
    "value.requires_grad",
    tr("Require its gradient"),
    "Edit/4/tensor",
    when=lambda context: _may_change("requires_grad", context),
    checked=lambda context: _is_on("requires_grad", context),
    page="program",
)
def requires_grad(context: CommandContext) -> None:
    """Let the selected leaf require a gradient, or not: an edit of the program, run at once."""
    change(context, "requires_grad", "off" if _is_on("requires_grad", context) else "on")


@command(
    "value.retain_grad",
    tr("Retain its gradient"),
    "Edit/4/tensor",
    when=lambda context: _may_change("retain_grad", context),
    checked=lambda context: _is_on("retain_grad", context),
    page="program",
)
def retain_grad(context: CommandContext) -> None:
    """Let the selected result retain its gradient in .grad, or not: a line after its own."""
    change(context, "retain_grad", "off" if _is_on("retain_grad", context) else "on")


def _module(context: CommandContext) -> Call | None:
    """Return the call of the selected module, if the text is as it was run."""
    page = context.inspector.page()
    # For a moment after a run the inspector shows the run before.
    if page.tape is not context.session.result.tape or not _is_current(context):
        return None
    return page.call


def _parameters_of(context: CommandContext, call: Call) -> list[Value]:
    """Return the parameters of a module and of those inside it, as they were made."""
    tape = context.session.result.tape
    values = tape.values if tape is not None else ()
    found = (value for value in values if value.name.startswith(f"{call.name}."))
    return [value for value in found if value.is_leaf]


def _is_frozen(context: CommandContext) -> bool:
    call = _module(context)
    parameters = _parameters_of(context, call) if call is not None else []
    return bool(parameters) and not any(value.requires_grad for value in parameters)


@command(
    "module.freeze",
    tr("Freeze this layer"),
    "Edit/4/tensor",
    when=lambda context: (call := _module(context)) is not None and call.parameters > 0,
    checked=_is_frozen,
    page="program",
)
def freeze(context: CommandContext) -> None:
    """Freeze all parameters of the selected module, or let them learn: an edit, run at once."""
    call = _module(context)
    if call is None:
        raise Refused(tr("Select a module whose program has not changed since"))
    parameters = _parameters_of(context, call)
    line = min((value.place.line for value in parameters), default=1)
    source = parameter_edits.set_requires_grad(
        context.session.doc.source, line, call.name, _is_frozen(context)
    )
    if not source:
        raise Refused(
            tr(
                "There is no safe place in the text to freeze {name}: edit it by hand",
                name=call.name,
            )
        )
    words = "learns" if _is_frozen(context) else tr("is frozen")
    context.session.apply_fix(source)
    context.say(tr("{name} {words}. Ctrl+Z takes it back", name=call.name, words=words))


@submenu("value.dtype", tr("Its dtype"), menu="Edit/4/tensor", page="program")
def dtype(context: CommandContext) -> list[MenuChoice]:
    """Give the selected tensor another dtype: an edit of its line, run at once."""
    value = _value(context)
    if value is None or property_edits.refusal(value, "dtype"):
        return []

    def choice(name: str) -> MenuChoice:
        title = f"{name} · {formatting.size(bytes_in(value.shape, name))}"
        return MenuChoice(title, lambda at: change(at, "dtype", name), checked=name == value.dtype)

    return [choice(name) for name in property_edits.dtypes_of(value)]


@submenu("value.device", tr("Its device"), menu="Edit/4/tensor", page="program")
def device(context: CommandContext) -> list[MenuChoice]:
    """Put the selected tensor on another device: an edit of its line, run at once."""
    value = _value(context)
    if value is None or property_edits.refusal(value, "device"):
        return []

    def choice(name: str) -> MenuChoice:
        return MenuChoice(name, lambda at: change(at, "device", name), checked=name == value.device)

    return [choice(name) for name in context.session.result.devices]
