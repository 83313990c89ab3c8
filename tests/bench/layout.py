"""Layout of real graphs compared with Graphviz dot and dagre, for `make bench`: Markdown tables.

Flat pictures, the same for all: time, crossings, wires through foreign cards, operands in order.
Then what only this layout supports: ten thousand ops folded by module call, and one module opened.
CPU times, medians of interleaved rounds; a peer that takes longer than `layout_peers.SECONDS` is
killed. Read the ratios.
"""

import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterator

from gradscribe.playback.graph import build
from gradscribe.playback.graph.picture import Picture, Placement
from gradscribe.playback.layout import place
from tests.bench import layout_graphs, layout_measure, layout_peers
from tests.bench.layout_peers import Drawn

ROUNDS = 5
QUICK_MS = 1_000.0
"""Engines that take longer are measured once."""


def main() -> int:
    """Measure and print the tables."""
    engines = peers()
    todo = dict(pictures())
    # As the window does: keep existing objects out of full collections.
    gc.collect()
    gc.freeze()
    say("| graph, flat | nodes | wires |" + "".join(f" {name}, ms |" for name in engines))
    say("|---|" + "---:|" * (2 + len(engines)))
    drawn: dict[str, tuple[Picture, dict[str, Drawn | None]]] = {}
    for name, picture in todo.items():
        found = measured(picture, engines)
        drawn[name] = picture, found
        times = (f" {result.ms:,.0f} |" if result else " given up |" for result in found.values())
        say(f"| {name} | {len(picture.cards):,} | {len(picture.wires):,} |" + "".join(times))
    say("\n| crossings / wires through foreign cards / operands in order |")
    say("| graph, flat |" + "".join(f" {name} |" for name in engines))
    say("|---|" + "---:|" * len(engines))
    for name, (picture, found) in drawn.items():
        cells = (f" {quality(result, picture)} |" for result in found.values())
        say(f"| {name} |" + "".join(cells))
    say("\n| folded by module call | cards | layout, ms |")
    say("|---|---:|---:|")
    for name, cards, ms in folded():
        say(f"| {name} | {cards} | {ms:.1f} |")
    return 0


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def pictures() -> Iterator[tuple[str, Picture]]:
    """Yield the flat pictures to place."""
    for name, source in layout_graphs.PROGRAMS.items():
        yield name, layout_graphs.flat(layout_graphs.opened(layout_graphs.record(source)))
    for nodes in (1_000, 10_000):
        yield f"network-like, {nodes:,}", layout_graphs.network(nodes)


def peers() -> dict[str, Callable[[Picture], Drawn | None]]:
    """Return this program's layout and the installed peers."""
    found: dict[str, Callable[[Picture], Drawn | None]] = {"Gradscribe": ours}
    if layout_peers.has_dot():
        found["dot"] = layout_peers.dot
        found["dot, ordering=in"] = lambda picture: layout_peers.dot(picture, in_order=True)
    folder = layout_peers.dagre_folder()
    if folder:
        found["dagre"] = lambda picture: layout_peers.dagre(picture, folder)
    return found


def ours(picture: Picture) -> Drawn:
    """Lay out a picture with an empty cache."""
    placement, ms = timed(picture)
    return Drawn(ms, placement.cards, layout_measure.lines_of(placement))


def timed(picture: Picture, warm: bool = False) -> tuple[Placement, float]:
    """Return a layout and its milliseconds; ``warm`` keeps the layout cache."""
    if not warm:
        place.clear_cache()
    start = time.process_time()
    placement = place.place(picture)
    return placement, 1000 * (time.process_time() - start)


def measured(
    picture: Picture, engines: dict[str, Callable[[Picture], Drawn | None]]
) -> dict[str, Drawn | None]:
    """Return every engine's drawing with its median time."""
    found = {name: engine(picture) for name, engine in engines.items()}
    times = {name: [drawn.ms] for name, drawn in found.items() if drawn is not None}
    for _ in range(ROUNDS - 1):
        for name, past in times.items():
            again = engines[name](picture) if past[0] < QUICK_MS else None
            if again is not None:
                past.append(again.ms)
    for name, past in times.items():
        drawn = found[name]
        if drawn is not None:
            found[name] = drawn._replace(ms=statistics.median(past))
    return found


def quality(drawn: Drawn | None, picture: Picture) -> str:
    """Return crossings, wires through foreign cards, and the share of operands in order."""
    if drawn is None:
        return ""
    crossings = layout_measure.crossings(drawn.lines, picture)
    through = len(layout_measure.through(drawn.lines, drawn.cards, picture))
    in_order = layout_measure.ordered(drawn.lines, picture)
    return f"{crossings:,} / {through:,} / {100 * in_order:.0f} %"


def folded() -> Iterator[tuple[str, int, float]]:
    """Yield (what, cards, milliseconds) for a picture folded by module call and for opening one."""
    tape = layout_graphs.record(layout_graphs.HEADS)
    scene = build.scenes(tape)[0]
    nodes = len(layout_graphs.opened(tape).cards)
    first = build.build_picture(tape, scene)
    times = [timed(first)[1] for _ in range(ROUNDS)]
    yield f"GPT, 78 layers: first picture of {nodes:,}", len(first.cards), statistics.median(times)
    shown, keys = first, {frame.key for frame in first.frames}
    for _ in range(4):
        inner = [card.key for card in shown.cards if card.kind == "module"]
        if not inner:
            return
        keys.add(inner[len(inner) // 2])
        more = build.build_picture(tape, scene, frozenset(keys))
        times = []
        for _ in range(ROUNDS):
            timed(shown)
            times.append(timed(more, warm=True)[1])
        yield (
            f"one more opened: {inner[len(inner) // 2]}",
            len(more.cards),
            statistics.median(times),
        )
        shown = more


if __name__ == "__main__":
    sys.exit(main())
