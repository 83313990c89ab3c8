"""Formulas from torch's own table of derivatives, put into the words of the interface.

Every backward node that torch generated has one (`engine.derivatives`); what is written by hand in
`playback.explain.ops` says it better for the ops of tutorials, and the table has all the others.
"""

import re
from collections.abc import Mapping

from engine.tape import Formula, Node
from playback.explain.torch_words import HELPERS
from playback.index import Index

MOST_STEPS = 4
"""Of an op of more steps the first ones are named."""
LONGEST = 160
"""A formula of more letters says nothing any more; its words are left to the source."""
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
    """Return the table's entry for a node; None for Python's own nodes and a few of torch's."""
    return index.kept("formulas", _by_name).get(node.name)


def _by_name(index: Index) -> dict[str, Formula]:
    return {formula.node: formula for formula in index.tape.formulas}


def origin(index: Index, node: Node) -> str:
    """Return where the formulas stand that an op's gradients come from; "" where nowhere.

    ``torch's derivatives.yaml, mul.Tensor``; an op of several steps names the steps.
    """
    op = index.op(index.node_ops[node.id]) if node.id in index.node_ops else None
    steps = [index.nodes[n] for n in op.nodes if n in index.nodes] if op is not None else [node]
    found = [formula_of(index, one) for one in steps or [node]]
    known = list(dict.fromkeys(formula.operator for formula in found if formula is not None))
    more = " …" if len(known) > MOST_STEPS else ""
    return f"torch's derivatives.yaml, {', '.join(known[:MOST_STEPS])}{more}" if known else ""


def argument(formula: Formula, slots: int, slot: int) -> str:
    """Return the schema argument that the ``slot``-th of a node's ``slots`` edges leads back to.

    Edges follow the arguments that have a derivative, in the order of the schema; a list of
    tensors has as many edges as tensors. "" where that does not work out.
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


def share(formula: Formula, name: str, called: Mapping[str, str]) -> str:
    """Return what the argument ``name`` is sent, written with names of the program.

    ``called`` has a name for ``grad``, ``result`` and the schema's arguments, as far as known.
    "" where the formula is too long to help.
    """
    found = next((text for names, text in formula.gradients if name in names), "")
    written = _named(readable(found), called) if found else ""
    return written if len(written) <= LONGEST else ""


def readable(formula: str) -> str:
    """Return a formula of the table without C++ and with its helpers spelled out."""
    if formula.startswith("not_implemented"):
        return "torch has no formula for this"
    for pattern, instead in _PLAIN:
        formula = re.sub(pattern, instead, formula)
    formula = _spelled(formula)
    for pattern, instead in _SIGNS:
        formula = re.sub(pattern, instead, formula)
    return formula.strip()


def _spelled(text: str) -> str:
    """Return ``text`` with every known helper call replaced by what it computes, inside first."""
    place = 0
    while (match := _CALL.search(text, place)) is not None:
        end = _closing(text, match.end() - 1)
        parts = [_spelled(part) for part in _parts(text[match.end() : end])]
        name = match[1]
        if name == "handle_r_to_c" and len(parts) == 2:
            said = parts[1]
        elif name in HELPERS and _fits(HELPERS[name], parts):
            said = HELPERS[name].format(*map(_grouped, parts))
        else:
            said = f"{match[0]}{', '.join(parts)})"
        text = text[: match.start()] + said + text[end + 1 :]
        place = match.start() + len(said)
    return text


def _fits(template: str, parts: list[str]) -> bool:
    return all(int(number) < len(parts) for number in re.findall(r"\{(\d)\}", template))


def _grouped(part: str) -> str:
    """Return an argument in parentheses where the formula around it could tear it apart."""
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


def _named(text: str, called: Mapping[str, str]) -> str:
    words = sorted((re.escape(word) for word in called if called[word]), key=len, reverse=True)
    if not words:
        return text
    pattern = re.compile(rf"(?<![\w.'])({'|'.join(words)})(?!\w)")
    return pattern.sub(lambda found: called[found[1]], text)
