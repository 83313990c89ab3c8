"""Run Graphviz dot and dagre on the same picture: same sizes, same gaps, downward flow.

The app needs neither. dot comes with pygraphviz (`pip install -e .[bench]`) and runs in a separate
Python process, dagre in node; DAGRE may name its folder. Both are timed from inside, without their
start-up, and killed after `SECONDS`.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

import numpy as np  # noqa: E402

from gradscribe.playback.graph.picture import Picture, Rect  # noqa: E402
from gradscribe.playback.layout.nesting import CARD_GAP, ROW_GAP  # noqa: E402
from tests.bench.layout_measure import Line, polyline  # noqa: E402

INCH = 72.0
SECONDS = 90
"""Time limit of a peer."""

DAGRE = """
const dagre = require(process.argv[1]);
const asked = JSON.parse(require("fs").readFileSync(0, "utf8"));
const start = process.cpuUsage();
const g = new dagre.graphlib.Graph({ multigraph: true });
g.setGraph({ rankdir: "TB", nodesep: asked.gap, ranksep: asked.row, edgesep: 18 });
g.setDefaultEdgeLabel(() => ({}));
for (const [key, width, height] of asked.nodes) g.setNode(key, { width, height });
for (const [key, source, target] of asked.edges) g.setEdge(source, target, {}, key);
dagre.layout(g);
const used = process.cpuUsage(start);
const ms = (used.user + used.system) / 1e3;
const nodes = g.nodes().map((key) => [key, g.node(key).x, g.node(key).y]);
const edges = g.edges().map((e) => [e.name, g.edge(e).points.map((p) => [p.x, p.y])]);
process.stdout.write(JSON.stringify({ ms, nodes, edges }));
"""


class Drawn(NamedTuple):
    """Result of a layout engine: milliseconds, cards, routes as polylines."""

    ms: float
    cards: dict[str, Rect]
    lines: dict[str, Line]


def has_dot() -> bool:
    """Return whether pygraphviz is installed."""
    return importlib.util.find_spec("pygraphviz") is not None


def dot(picture: Picture, in_order: bool = False) -> Drawn | None:
    """Lay out a flat picture with Graphviz dot, including splines; None if it takes too long.

    ``in_order``: operands keep their order.
    """
    asked = {"in_order": in_order, **_asked(picture)}
    return _drawn([sys.executable, __file__], asked, picture)


def dot_here(asked: dict[str, object]) -> dict[str, object]:
    """Execute a request of `dot` in this process."""
    import pygraphviz

    whole = pygraphviz.AGraph(directed=True, strict=False)
    whole.graph_attr.update(nodesep=CARD_GAP / INCH, ranksep=ROW_GAP / INCH)
    if asked["in_order"]:
        whole.graph_attr["ordering"] = "in"
    whole.node_attr.update(shape="box", fixedsize="true", label="")
    for key, width, height in asked["nodes"]:
        whole.add_node(key, width=width / INCH, height=height / INCH)
    for key, source, target in asked["edges"]:
        whole.add_edge(source, target, key=key)
    start = time.process_time()
    whole.layout(prog="dot")
    ms = 1000 * (time.process_time() - start)
    nodes = []
    for key, _, _ in asked["nodes"]:
        x, y = map(float, whole.get_node(key).attr["pos"].split(","))
        nodes.append((key, x, -y))
    edges = []
    for key, source, target in asked["edges"]:
        words = whole.get_edge(source, target, key).attr["pos"].split()
        points = [tuple(map(float, word.split(",")[-2:])) for word in words]
        tip = points.pop(0) if words[0].startswith("e,") else points[-1]
        line = polyline([(x, -y) for x, y in points]).tolist()
        edges.append((key, [*line, (tip[0], -tip[1])]))
    return {"ms": ms, "nodes": nodes, "edges": edges}


def dagre_folder() -> str:
    """Return dagre's module name or folder, empty if node cannot load it."""
    if shutil.which("node") is None:
        return ""
    for name in (os.environ.get("DAGRE", ""), "@dagrejs/dagre", "dagre"):
        probe = ["node", "-e", "require(process.argv[1])", name]
        if name and subprocess.run(probe, capture_output=True, check=False).returncode == 0:
            return name
    return ""


def dagre(picture: Picture, folder: str) -> Drawn | None:
    """Lay out a flat picture with dagre; None if it takes too long or fails."""
    return _drawn(["node", "--stack-size=30000", "-e", DAGRE, folder], _asked(picture), picture)


def _asked(picture: Picture) -> dict[str, object]:
    return {
        "gap": CARD_GAP,
        "row": ROW_GAP,
        "nodes": [(card.key, card.width, card.height) for card in picture.cards],
        "edges": [(wire.key, wire.source, wire.target) for wire in picture.wires],
    }


def _drawn(command: list[str], asked: dict[str, object], picture: Picture) -> Drawn | None:
    try:
        run = subprocess.run(
            command,
            input=json.dumps(asked).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return None
    found = json.loads(run.stdout)
    sizes = {card.key: (card.width, card.height) for card in picture.cards}
    cards = {
        key: Rect(x - sizes[key][0] / 2, y - sizes[key][1] / 2, *sizes[key])
        for key, x, y in found["nodes"]
    }
    return Drawn(found["ms"], cards, {key: np.asarray(line) for key, line in found["edges"]})


if __name__ == "__main__":
    json.dump(dot_here(json.load(sys.stdin)), sys.stdout)
