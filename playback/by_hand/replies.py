"""Words for a comparison of gradients by hand: right, or the link at which the chain breaks."""

from typing import NamedTuple

from gradscribe.engine.protocol.messages import HandChecked, HandRow, Slip
from gradscribe.engine.protocol.tape import Problem
from gradscribe.playback.by_hand.targets import HandTarget
from gradscribe.playback.tape.event_text import value_name
from gradscribe.playback.tape.index import Index
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import tr, translated


class Reply(NamedTuple):
    """The reply to an answer; ``op`` is the op at which the chain breaks, -1 for none."""

    is_right: bool
    is_read: bool
    """False if the answer could not be evaluated: it does not count as a try."""
    words: str
    op: int = -1


def reply_to(checked: HandChecked, target: HandTarget, index: Index) -> Reply:
    """Return the reply to the answer for a target."""
    if checked.problem is not None:
        return Reply(False, False, problem_text(checked.problem))
    if not checked.rows:
        return Reply(False, False, tr("There is nothing to compare"))
    row = checked.rows[0]
    if row.verdict in ("equal", "close"):
        return Reply(True, True, _right(row, target))
    if row.verdict == "none":
        return Reply(False, False, tr("No gradient reaches {name} in this pass", name=target.name))
    slips = [slip for slip in checked.slips if _is_on_tape(slip, index)]
    if slips:
        words = slip_text(slips[0], target, index)
        if len(slips) > 1:
            more = "; ".join(slip_text(slip, target, index) for slip in slips[1:])
            words = tr("{words}. Or, as the numbers fit this too: {more}", words=words, more=more)
        op = next((slip.op for slip in slips if slip.op >= 0), -1)
        return Reply(False, True, tr("Not right. {words}", words=words), op)
    if row.verdict == "shape":
        return Reply(
            False, True, tr("Not right. {shape_text}", shape_text=shape_text(row, target.name))
        )
    return Reply(
        False,
        True,
        tr("Not right, and no single wrong link gives this. {start}", start=_start(target)),
    )


def _right(row: HandRow, target: HandTarget) -> str:
    exact = tr(", equal to the bit") if row.verdict == "equal" and row.entries > 1 else ""
    return tr(
        "Right: this is {derivative_name}{exact}",
        derivative_name=derivative_name(target),
        exact=exact,
    )


def derivative_name(target: HandTarget) -> str:
    """Return ``∂loss/∂w``."""
    return f"∂{_short(target.root)}/∂{_short(target.name)}"


def _short(name: str) -> str:
    found = formatting.variable(formatting.elide_middle(name, 28))
    return f"({found})" if " " in found else found


def _start(target: HandTarget) -> str:
    return tr(
        "Begin at {short}, and multiply link by link down to {name}",
        short=_short(target.root),
        name=target.name,
    )


def problem_text(problem: Problem) -> str:
    """Return the error of code as one line, with its line where there are several."""
    if problem.type == "NotCompared":
        return translated(problem.message)
    where = tr("Line {line}: ", line=problem.place.line) if problem.place.line > 1 else ""
    hint = f". {translated(problem.hint)}" if problem.hint else ""
    return f"{where}{problem.type}: {translated(problem.message)}{hint}"


def shape_text(row: HandRow, name: str) -> str:
    """Return the words about a wrong shape."""
    own, true = (_tuple(shape) for shape in (row.own_shape, row.true_shape))
    turned = row.own_shape == row.true_shape[::-1] != row.true_shape
    hint = tr(": rows and columns are swapped") if turned else ""
    return tr(
        "Its shape is {own}, that of {name} is {true}{hint}",
        own=own,
        name=name,
        true=true,
        hint=hint,
    )


def _tuple(shape: tuple[int, ...]) -> str:
    return str(shape)


def link_text(index: Index, op: int) -> str:
    """Return an op with its line: ``mul (line 3)``."""
    found = index.op(op)
    return (
        tr("{op} (line {line})", op=found.op, line=found.place.line)
        if found.place.line
        else found.op
    )


def slip_text(slip: Slip, target: HandTarget, index: Index) -> str:
    """Return the words about a mistake, with the op and the factor."""
    link = link_text(index, slip.op) if slip.op >= 0 else ""
    at = tr("The chain breaks at {link}: ", link=link) if link else ""
    name = value_name(index, slip.value) if slip.value >= 0 else target.name
    other = value_name(index, slip.other) if slip.other >= 0 else tr("the other factor")
    return {
        "factor": f"{at}{_missing_factor(slip, index)}",
        "rule": f"{at}{translated(slip.text)}",
        "operand": tr(
            "{at}the derivative by {name} is {other}, not {name} itself",
            at=at,
            name=name,
            other=other,
        ),
        "upstream": tr("{at}what arrives there from {root} is missing", at=at, root=target.root),
        "use": tr(
            "{name} is used {uses} times: the use in {link} is missing in the sum",
            name=name,
            uses=slip.uses,
            link=link,
        ),
        "only": tr(
            "{name} is used {uses} times, and the gradients of all uses are added: "
            "only that of {link} is counted",
            name=name,
            uses=slip.uses,
            link=link,
        ),
        "sign": tr("{at}the sign is turned over", at=at),
        "transposed": tr("{at}the other matrix has to be transposed", at=at)
        if link
        else tr("Rows and columns are swapped"),
        "unsummed": tr(
            "{at}{name} was broadcast there: sum over the dimensions it lacks",
            at=at,
            name=target.name,
        ),
        "accumulated": tr("This is .grad with what earlier passes left in it"),
        "itself": tr("This is {name} itself", name=target.name),
        "total": tr(
            "This is the sum of all elements; {name} has {shape} of them",
            name=target.name,
            shape=formatting.shape(target.shape),
        ),
    }[slip.kind]


def _missing_factor(slip: Slip, index: Index) -> str:
    op = index.op(slip.op).op if slip.op >= 0 else ""
    if op == "mean":
        return tr("the factor 1/N of the mean is missing")
    return tr("its own derivative is missing, as if it passed on unchanged what arrives")


def _is_on_tape(slip: Slip, index: Index) -> bool:
    """Return whether a mistake, sent by the engine, refers to what is on the tape."""
    values = (slip.value, slip.other)
    return slip.op < len(index.tape.ops) and all(v < 0 or v in index.values for v in values)


def row_text(row: HandRow) -> str:
    """Return the result of a gradient next to autograd's, as a table's cell shows it."""
    dtypes = (
        tr("; {dtypes}, autograd's is {dtypes_2}", dtypes=row.dtypes[0], dtypes_2=row.dtypes[1])
        if row.dtypes[0]
        else ""
    )
    if row.verdict == "equal":
        return tr("equal to the bit")
    if row.verdict == "close" and not row.differ:
        return tr("equal numbers{dtypes}", dtypes=dtypes)
    if row.verdict == "close":
        return tr(
            "up to rounding: {differ:,} of {entries:,} differ, by {largest:.1e} at most{dtypes}",
            differ=row.differ,
            entries=row.entries,
            largest=row.largest,
            dtypes=dtypes,
        )
    if row.verdict == "differs":
        return tr(
            "{differ:,} of {entries:,} differ, by {largest:.4g} at most{dtypes}",
            differ=row.differ,
            entries=row.entries,
            largest=row.largest,
            dtypes=dtypes,
        )
    if row.verdict == "shape":
        return shape_text(row, row.name)
    return {
        "kind": tr("neither a tensor nor a number"),
        "none": tr("autograd brings it no gradient in this pass"),
        "unnamed": tr("no such tensor, not compared"),
    }.get(row.verdict, row.verdict)
