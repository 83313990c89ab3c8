"""Alignment of two runs: which action of the left corresponds to which action of the right.

Actions are matched by their tokens, the strictest first: name of the op, name of its result, module
and number of inputs; what stays unmatched between two matches is matched by looser tokens. Within
one level the longest common subsequence of the numbered tokens (the k-th occurrence of a token is
another token than the first) is found as the longest increasing subsequence: O(n log n), however
often a loop repeats itself (patience diff; B. Cohen).
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Literal

from msgspec import Struct

from gradscribe.playback.tape.index import Index
from gradscribe.playback.translation import tr

ActionKind = Literal["op", "backward", "step", "zero_grad"]
Token = tuple[str, str, str, int]
"""Op (``@`` and the kind for other actions), name of the result, scope, number of inputs."""
ONE_BY_ONE = 4
"""Up to this many ops in a row that replace as many others are matched one by one."""
_LEVELS: tuple[Callable[[Token], Hashable], ...] = (
    lambda token: token,
    lambda token: (token[0], token[2], token[3]),
    lambda token: (token[0], token[1], token[3]),
    lambda token: (token[1], token[2]) if token[1] else None,
)
"""From strict to loose; None matches nothing."""


class Action(Struct, frozen=True):
    """A thing a program did: an op, a backward pass, an optimizer's step, a reset of gradients.

    ``ref`` as in `Event`; ``at`` is its event, ``name`` the name of the op or of the kind.
    """

    kind: ActionKind
    ref: int
    at: int
    line: int
    name: str
    token: Token


class Block(Struct, frozen=True):
    """Actions at the same place of both runs: a matched pair, or what stands there instead."""

    left: tuple[Action, ...]
    right: tuple[Action, ...]

    @property
    def is_pair(self) -> bool:
        """True for one action on each side that do the same kind of thing."""
        return (
            len(self.left) == len(self.right) == 1
            and self.left[0].token[0] == self.right[0].token[0]
        )


def actions(index: Index) -> list[Action]:
    """Return the actions of a run in order of execution, without those inside backward passes."""
    tape = index.tape
    found = []
    for at, event in enumerate(tape.events):
        if event.kind == "op":
            op = tape.ops[event.ref]
            if index.kinds[event.ref] == "backward" or op.phase != "forward":
                continue
            name = index.values[op.outputs[0]].name if op.outputs else ""
            token = (op.op, name, op.scope, len(op.inputs))
            found.append(Action("op", event.ref, at, op.place.line or event.line, op.op, token))
        elif event.kind in ("backward", "step", "zero_grad"):
            kind: ActionKind = event.kind
            name = tape.passes[event.ref].kind if kind == "backward" else _WORDS[kind]
            found.append(Action(kind, event.ref, at, event.line, name, (f"@{name}", "", "", 0)))
    return found


_WORDS = {"step": tr("optimizer step"), "zero_grad": "zero_grad"}


def align(left: Index, right: Index) -> list[Block]:
    """Return matched pairs and unmatched stretches of both runs, in order of execution."""
    a, b = actions(left), actions(right)
    matched = _matches(
        [action.token for action in a], [action.token for action in b], (0, len(a)), (0, len(b)), 0
    )
    blocks: list[Block] = []
    at, to = 0, 0
    for i, j in [*matched, (len(a), len(b))]:
        blocks += _stretch(a[at:i], b[to:j])
        if i < len(a):
            blocks.append(Block((a[i],), (b[j],)))
        at, to = i + 1, j + 1
    return _joined(blocks)


def _joined(blocks: list[Block]) -> list[Block]:
    """Join stretches that follow each other and share a line: they are one change."""
    joined: list[Block] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if last is not None and not last.is_pair and not block.is_pair and _share(last, block):
            joined[-1] = Block(last.left + block.left, last.right + block.right)
        else:
            joined.append(block)
    return joined


def _share(one: Block, other: Block) -> bool:
    pairs = (one.left, other.left), (one.right, other.right)
    return any({x.line for x in a} & {x.line for x in b} for a, b in pairs)


def _stretch(left: list[Action], right: list[Action]) -> list[Block]:
    """Return unmatched actions as blocks: few that replace as many others one by one."""
    if len(left) == len(right) <= ONE_BY_ONE:
        kinds = [(x.kind, y.kind) for x, y in zip(left, right, strict=True)]
        if all(one == other for one, other in kinds):
            return [Block((x,), (y,)) for x, y in zip(left, right, strict=True)]
    return [Block(tuple(left), tuple(right))] if left or right else []


def _matches(
    a: Sequence[Token], b: Sequence[Token], of_a: tuple[int, int], of_b: tuple[int, int], level: int
) -> list[tuple[int, int]]:
    """Return matches within two ranges, from a level of `_LEVELS` on, in increasing order."""
    found: list[tuple[int, int]] = []
    work = [(*of_a, *of_b, level)]
    while work:
        i, stop_i, j, stop_j, level = work.pop()
        head: list[tuple[int, int]] = []
        tail: list[tuple[int, int]] = []
        loosen = _LEVELS[level]
        one = [loosen(token) for token in a[i:stop_i]]
        other = [loosen(token) for token in b[j:stop_j]]
        start, end = _common_ends(one, other)
        head = [(i + n, j + n) for n in range(start)]
        tail = [(stop_i - n, stop_j - n) for n in range(end, 0, -1)]
        middle = [
            (i + start + x, j + start + y)
            for x, y in _increasing(one[start : len(one) - end], other[start : len(other) - end])
        ]
        found += head + middle + tail
        inner = (i + start, stop_i - end, j + start, stop_j - end)
        work += _gaps(inner, middle, level, bool(middle))
    return sorted(found)


def _gaps(
    within: tuple[int, int, int, int], matches: list[tuple[int, int]], level: int, again: bool
) -> list[tuple[int, int, int, int, int]]:
    """Return the ranges between matches that both sides have, with the level to try next."""
    i, stop_i, j, stop_j = within
    level = level if again else level + 1
    if level >= len(_LEVELS):
        return []
    gaps = []
    for x, y in [*matches, (stop_i, stop_j)]:
        if x > i and y > j:
            gaps.append((i, x, j, y, level))
        i, j = x + 1, y + 1
    return gaps


def _common_ends(one: list[Hashable], other: list[Hashable]) -> tuple[int, int]:
    """Return the lengths of the common beginning and of the common end after it."""
    least = min(len(one), len(other))
    start = 0
    while start < least and one[start] is not None and one[start] == other[start]:
        start += 1
    end = 0
    while end < least - start and one[-1 - end] is not None and one[-1 - end] == other[-1 - end]:
        end += 1
    return start, end


def _increasing(one: list[Hashable], other: list[Hashable]) -> list[tuple[int, int]]:
    """Return the longest increasing sequence of pairs of the same numbered token."""
    places: dict[tuple[Hashable, int], int] = {
        token: y for y, token in enumerate(_numbered(other)) if token[0] is not None
    }
    pairs = [(x, places[token]) for x, token in enumerate(_numbered(one)) if token in places]
    ends: list[int] = []
    """Smallest last right index of an increasing sequence of each length."""
    last: list[int] = []
    before: list[int] = []
    for n, (_, y) in enumerate(pairs):
        length = bisect_left(ends, y)
        before.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(y)
            last.append(n)
        else:
            ends[length], last[length] = y, n
    found = []
    n = last[-1] if last else -1
    while n >= 0:
        found.append(pairs[n])
        n = before[n]
    return found[::-1]


def _numbered(tokens: list[Hashable]) -> list[tuple[Hashable, int]]:
    counts: dict[Hashable, int] = defaultdict(int)
    numbered = []
    for token in tokens:
        numbered.append((token, counts[token]))
        counts[token] += 1
    return numbered
