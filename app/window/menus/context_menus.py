"""Context menus, composed here alone: which commands belong to what was pointed at.

A widget selects what is under the mouse and reports the kind of it; the commands then work on the
selection, as from the menu bar and the palette.
"""

from typing import Literal

Subject = Literal[
    "card",
    "wire",
    "module",
    "graph",
    "value",
    "event",
    "line",
    "text",
    "finding",
    "remark",
    "position",
]
"""The subject of a menu. *value*: a tensor in a table or in the inspector; *event*: of the ledger;
*line*: of code that made a tensor, *text*: of code that made none; *finding*: of the doctor, on a
line that made a tensor, *remark*: on a line that made none; *position*: of the time line."""
SEPARATOR = ""

_TAKE = ("value.copy", "value.copy_gradient", "value.copy_code", "value.copy_test")
_SEE = (
    "value.line",
    "value.external",
    "value.explain",
    "value.check",
    "graph.ways",
    "graph.next_way",
)
_CHANGE = ("value.requires_grad", "value.retain_grad", "value.dtype", "value.device")
_CLOSE = ("lab.selected", "graph.tensor", "graph.history")
_RUN = ("play.next_change", "play.next_gradient")
_STOP = ("play.breakpoint", "play.run_to_line")
_ASK = ("graph.before", "graph.after", "graph.cut", "graph.bottlenecks", "graph.critical")
_LOOK = ("view.fold", "view.zoom_selection", "view.coloring", "graph.gradient", "graph.all")
_EDIT = (
    *("edit.undo", "edit.redo", SEPARATOR),
    *("edit.cut", "edit.copy", "edit.paste", "edit.select_all", SEPARATOR),
    *("edit.comment", "edit.find", "edit.replace"),
)
_PICTURE = (
    "file.copy_picture",
    "file.export_png",
    "file.export_svg",
    "file.export_dot",
    "file.export_graphml",
)
COMMANDS: dict[Subject, tuple[str, ...]] = {
    "card": (
        *(*_TAKE, SEPARATOR),
        *(*_CHANGE, SEPARATOR),
        *(*_SEE, *_CLOSE, SEPARATOR),
        *(*_RUN, SEPARATOR),
        *(*_ASK, SEPARATOR),
        *(*_LOOK, SEPARATOR),
        "file.copy_picture",
        "file.export_png",
    ),
    "wire": (
        *(*_TAKE, SEPARATOR),
        *("value.line", "value.explain", "graph.tensor", SEPARATOR),
        *(*_RUN, SEPARATOR),
        *("view.coloring", "graph.all", SEPARATOR),
        "file.copy_picture",
    ),
    "module": (
        *("view.fold", "view.zoom_selection", "view.expand", "view.collapse", SEPARATOR),
        *("module.freeze", SEPARATOR),
        *("value.copy", "value.copy_gradient", "value.copy_test", SEPARATOR),
        *("value.line", "value.explain", SEPARATOR),
        *("view.coloring", "graph.all", SEPARATOR),
        "file.copy_picture",
    ),
    "graph": (
        *("view.fit", "view.expand", "view.collapse", "view.depth", "view.sideways", SEPARATOR),
        *("edit.find_graph", "view.coloring", SEPARATOR),
        *("view.values", "view.gradients", "view.shapes", "view.order", SEPARATOR),
        *("graph.critical", "graph.gradient", "graph.all", SEPARATOR),
        *_PICTURE,
    ),
    "value": (
        *(*_TAKE, SEPARATOR),
        *(*_CHANGE, SEPARATOR),
        *(*_SEE, *_CLOSE, SEPARATOR),
        *(*_RUN, SEPARATOR),
        *(*_ASK, "graph.all"),
    ),
    "event": ("file.export_tape",),
    "line": (
        *(*_EDIT, SEPARATOR),
        *(*_STOP, *_RUN, SEPARATOR),
        *(*_TAKE, SEPARATOR),
        *(*_CHANGE, SEPARATOR),
        *("value.explain", "value.check", "graph.ways", *_CLOSE),
    ),
    "text": (*_EDIT, SEPARATOR, *_STOP),
    "finding": ("value.explain", "value.check", *_CLOSE),
    "remark": (),
    "position": (
        *("play.toggle", "play.step", "play.back", "play.next_line", "play.line_back", SEPARATOR),
        *("play.next_stop", "play.stop_back", "play.next_node", "play.next_nan", SEPARATOR),
        *("play.next_step", "play.step_back", "play.go_to_step", "play.speed", SEPARATOR),
        *("file.export_gif", "file.export_mp4", "file.export_tape"),
    ),
}
"""Ids of the commands of each menu, in order; `SEPARATOR` between groups."""
