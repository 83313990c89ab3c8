"""Formulas from torch's ``derivatives.yaml``, converted to the notation of the interface.

Every backward node that torch generates has a formula (`engine.record.backward.derivatives`). The
rules in
`playback.explain.ops` are easier to read and take precedence; the table covers all other ops.
"""

import re
from collections.abc import Mapping

from gradscribe.engine.protocol.tape import Formula, Node
from gradscribe.playback.explain.mathematics import in_mathematics, is_code
from gradscribe.playback.explain.torch_helpers import HELPERS
from gradscribe.playback.tape.index import Index
from gradscribe.playback.translation import tr

MAX_NODES = 4
"""Most backward nodes of an op that are named as its origin."""
LONGEST = 160
"""Most letters of a formula that is shown."""
NO_FORMULA = tr("torch computes this by a rule without a short formula")
_CALL = re.compile(r"(?:at::|self\.|)(\w+)\(")
_PLAIN = (
    (r"^grad\.defined\(\) \? (.*) : std::tuple<.*$", r"\1"),
    (r"^GradMode::is_enabled\(\) \? .* : (\w+\(.*\))$", r"\1"),
    (r"^[\w.]+\.is_complex\(\) \? .* : (.*)$", r"\1"),
    (r"_symint\b", ""),
    (r"\b(?:at|std|c10)::", ""),
    (r"->", "."),
    (r"\.conj\(\)", ""),
    (r"\.sym_sizes\(\)", ".shape"),
    (r"\.sizes\(\)", ".shape"),
    (r"\.(?:sym_)?size\((\S+?)\)", r".shape[\1]"),
    (r"\.sym_(\w+)", r".\1"),
    (r"\.scalar_type\(\)", ".dtype"),
    (r"\.toDouble\(\)", ""),
    (r"\.m([HT])\(\)", r".m\1"),
    (r"\{ ?([^{}]*?) ?\}", r"[\1]"),
)
_SIGNS = (
    (r"(?<=[\w)\]]) \* (?=[\w(\-])", " × "),
    (r"(?<=[\w)\]]) / (?=[\w(\-])", " ÷ "),
    (r"(?<![\w)])-(?=[\w(])|(?<= )-(?= )", "−"),
)


def formula_of(index: Index, node: Node) -> Formula | None:
    """Return the table's entry for a node; None for Python's nodes and a few of torch's."""
    return index.cached("formulas", _by_name).get(node.name)


def _by_name(index: Index) -> dict[str, Formula]:
    return {formula.node: formula for formula in index.tape.formulas}


def formula_source(index: Index, node: Node) -> str:
    """Return the source of an op's gradient formulas; "" where there is none.

    ``torch's derivatives.yaml, mul.Tensor``; for an op of several nodes all their entries.
    """
    op = index.op(index.node_ops[node.id]) if node.id in index.node_ops else None
    steps = [index.nodes[n] for n in op.nodes if n in index.nodes] if op is not None else [node]
    found = [formula_of(index, part) for part in steps or [node]]
    known = list(dict.fromkeys(formula.operator for formula in found if formula is not None))
    more = " …" if len(known) > MAX_NODES else ""
    return (
        tr("torch's derivatives.yaml, {join}{more}", join=", ".join(known[:MAX_NODES]), more=more)
        if known
        else ""
    )


def edge_argument(formula: Formula, slots: int, slot: int) -> str:
    """Return the schema argument of the ``slot``-th of a node's ``slots`` edges.

    A node has an edge for every argument with a derivative, in the order of the schema, and for
    every tensor of a list. "" if the numbers do not fit.
    """
    having = {name for names, _ in formula.gradients for name in names}
    named = [name for name in formula.arguments if name in having]
    if len(named) == slots:
        return named[slot]
    spread = [place for place, name in enumerate(named) if name == "tensors" or name == "indices"]
    if len(named) == 1 or not spread or slots < len(named):
        return named[0] if len(named) == 1 else ""
    more = slots - len(named) + 1
    expanded = [*named[: spread[0]], *[named[spread[0]]] * more, *named[spread[0] + 1 :]]
    return expanded[slot]


def gradient_formula(formula: Formula, name: str, called: Mapping[str, str]) -> str:
    """Return the gradient of the argument ``name`` as a formula with names of the program.

    ``called`` maps ``grad``, ``result`` and the schema's arguments to names, as far as known.
    `NO_FORMULA` if the formula is longer than `LONGEST`, or code.
    """
    found = next((text for names, text in formula.gradients if name in names), "")
    written = _with_names(readable(found), called) if found else ""
    return written if len(written) <= LONGEST else NO_FORMULA


def readable(formula: str) -> str:
    """Return a formula of the table as mathematics, with its helper functions expanded.

    `NO_FORMULA` where a part is known to torch's C++ alone.
    """
    if formula.startswith("not_implemented"):
        return tr("torch has no formula for this")
    for pattern, instead in _PLAIN:
        formula = re.sub(pattern, instead, formula)
    formula = _expand_helpers(formula)
    for pattern, instead in _SIGNS:
        formula = re.sub(pattern, instead, formula)
    written = in_mathematics(formula.strip())
    return NO_FORMULA if is_code(written) else written


def _expand_helpers(text: str) -> str:
    """Return ``text`` with every known helper call replaced by its formula, innermost first."""
    place = 0
    while (match := _CALL.search(text, place)) is not None:
        end = _closing(text, match.end() - 1)
        parts = [_expand_helpers(part) for part in _parts(text[match.end() : end])]
        name = match[1]
        if name == "handle_r_to_c" and len(parts) == 2:
            expansion = parts[1]
        elif name in HELPERS and _fits(HELPERS[name], parts):
            expansion = HELPERS[name].format(*map(_grouped, parts))
        else:
            expansion = f"{match[0]}{', '.join(parts)})"
        text = text[: match.start()] + expansion + text[end + 1 :]
        place = match.start() + len(expansion)
    return text


def _fits(template: str, parts: list[str]) -> bool:
    return all(int(number) < len(parts) for number in re.findall(r"\{(\d)\}", template))


def _grouped(part: str) -> str:
    """Return an argument, in parentheses if the precedence of operators requires them."""
    bare = re.fullmatch(r"[\w.\[\]'∂/]+(\([^()]*\))?", part)
    return part if bare or not re.search(r"[ ×÷·]", part) else f"({part})"


def _closing(text: str, start: int) -> int:
    depth = 0
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if not depth:
            return place
    return len(text)


def _parts(inside: str) -> list[str]:
    depth, found = 0, [""]
    for letter in inside:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(letter, 0)
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found] if inside.strip() else []


def _with_names(text: str, called: Mapping[str, str]) -> str:
    words = sorted((re.escape(word) for word in called if called[word]), key=len, reverse=True)
    if not words:
        return text
    pattern = re.compile(rf"(?<![\w.'])({'|'.join(words)})(?!\w)")
    return pattern.sub(lambda found: called[found[1]], text)
