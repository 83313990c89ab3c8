"""Gradient of an einsum, which is itself an einsum."""

from gradscribe.engine.protocol.tape import Op
from gradscribe.playback.explain.naming import KEYS, TemplateNames
from gradscribe.playback.translation import tr


def gradient_formula(op: Op, names: TemplateNames, operand: int, above: str) -> str:
    """Return ``= einsum('i,j->ij', ∂L/∂y, v)``; "" for repeated letters or an ellipsis.

    ``operand`` counts from 1, since the equation is operand 0. The gradient is the product of
    ``above`` and the other operands, summed over the letters that this operand does not have; it is
    repeated over a letter that only this operand has.
    """
    letters = _letters(op)
    place = operand - 1
    if letters is None or not 0 <= place < len(letters[0]):
        return ""
    given, result = letters
    own = given[place]
    others = [i for i in range(len(given)) if i != place]
    known = set(result).union(*(given[i] for i in others)) if others else set(result)
    if len(set(own)) < len(own):
        return ""
    there = "".join(letter for letter in own if letter in known)
    terms = [result, *(given[i] for i in others)]
    called = [above, *(names[KEYS[i + 1]] for i in others)]
    missing = [letter for letter in own if letter not in known]
    tail = tr(", repeated over {join}", join=", ".join(missing)) if missing else ""
    return f"= einsum('{','.join(terms)}->{there}', {', '.join(called)}){tail}"


def _letters(op: Op) -> tuple[list[str], str] | None:
    """Return the letters of the operands and of the result; None for an ellipsis and the like."""
    text = op.args[0].text.strip("'").replace(" ", "") if op.args else ""
    left, arrow, right = text.partition("->")
    given = left.split(",")
    if not text or "." in text or not all(part.isalpha() or not part for part in given):
        return None
    if not arrow:
        joined = "".join(given)
        right = "".join(sorted(letter for letter in set(joined) if joined.count(letter) == 1))
    return given, right
