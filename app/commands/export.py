"""Export pictures, films and tapes to files, and pictures to the clipboard."""

from pathlib import Path

from gradscribe.app.commands import command
from gradscribe.app.commands.context import CommandContext
from gradscribe.playback.flow.take_home import GraphFormat
from gradscribe.playback.text.formatting import slug


def _has_run(context: CommandContext) -> bool:
    return bool(context.session.result.tape.events)


def _has_graph(context: CommandContext) -> bool:
    tape = context.session.result.tape
    return bool(tape.ops) or tape.fault is not None


@command("file.export_png", "Export picture as PNG…", menu="File/3", when=_has_graph)
def export_png(context: CommandContext) -> None:
    """Write the graph as it now looks to a PNG file."""
    _export(context, "png")


@command("file.export_svg", "Export picture as SVG…", menu="File/3", when=_has_graph)
def export_svg(context: CommandContext) -> None:
    """Write the graph as it now looks to an SVG file."""
    _export(context, "svg")


@command("file.export_dot", "Export picture as DOT…", menu="File/3", when=_has_graph)
def export_dot(context: CommandContext) -> None:
    """Write the cards and wires of the graph to a file for Graphviz."""
    _export(context, "dot")


@command("file.export_graphml", "Export graph as GraphML…", menu="File/3", when=_has_graph)
def export_graphml(context: CommandContext) -> None:
    """Write ops, values and gradients as a graph for yEd, Gephi or networkx."""
    _graph(context, "graphml", "GraphML (*.graphml)")


@command("file.export_gexf", "Export graph as GEXF…", menu="File/3", when=_has_graph)
def export_gexf(context: CommandContext) -> None:
    """Write ops, values and gradients as a graph for Gephi."""
    _graph(context, "gexf", "GEXF (*.gexf)")


@command(
    "file.export_graph_json", "Export graph as node-link JSON…", menu="File/3", when=_has_graph
)
def export_graph_json(context: CommandContext) -> None:
    """Write ops, values and gradients as nodes and links, for networkx and D3."""
    _graph(context, "json", "JSON (*.json)")


@command("file.copy_picture", "Copy picture", menu="File/3", keys=("Ctrl+Alt+C",), when=_has_graph)
def copy_picture(context: CommandContext) -> None:
    """Copy the graph as it now looks to the clipboard."""
    context.copy_picture()


@command("file.export_gif", "Export playback as GIF…", menu="File/3", when=_has_graph)
def export_gif(context: CommandContext) -> None:
    """Write the playback to an animated GIF; choose size, speed, part, and the program with it."""
    context.show_film_card("gif")


@command("file.export_mp4", "Export playback as MP4…", menu="File/3", when=_has_graph)
def export_mp4(context: CommandContext) -> None:
    """Write the playback to an MP4 video; choose size, speed, part, and the program with it."""
    context.show_film_card("mp4")


def _has_later(context: CommandContext) -> bool:
    return _has_graph(context) and context.session.view.position < context.clock.length


def _has_earlier(context: CommandContext) -> bool:
    return _has_graph(context) and context.session.view.position > 0


@command("file.film_from", "Begin the film here", menu="File/3", when=_has_later)
def film_from(context: CommandContext) -> None:
    """Let the next export of the playback begin with this position."""
    begin_film_at(context, context.session.view.position)


@command("file.film_to", "End the film here", menu="File/3", when=_has_earlier)
def film_to(context: CommandContext) -> None:
    """Let the next export of the playback end with this position."""
    end_film_at(context, context.session.view.position)


def begin_film_at(context: CommandContext, position: int) -> None:
    """Mark a position as the beginning of the next film."""
    context.film_span.mark_first(context.session.result.tape, position)
    _say_span(context)


def end_film_at(context: CommandContext, position: int) -> None:
    """Mark a position as the end of the next film."""
    context.film_span.mark_stop(context.session.result.tape, position)
    _say_span(context)


def _say_span(context: CommandContext) -> None:
    first, stop = context.film_span.of(context.session.result.tape)
    context.say(f"The next film shows event {first:,} to {stop:,}: File > Export playback")


@command(
    "file.cancel_film",
    "Cancel the export",
    menu="File/3",
    when=lambda context: context.export_queue.busy,
)
def cancel_film(context: CommandContext) -> None:
    """Cancel the running export; no file is left behind."""
    context.export_queue.cancel()


@command("file.export_tape", "Export tape as JSON…", menu="File/3", when=_has_graph)
def export_tape(context: CommandContext) -> None:
    """Write everything the run did, values and gradients, to a JSON file."""
    if path := _asked(context, "Export the tape", "json", "JSON (*.json)"):
        context.export(path)


@command("file.export_html", "Export run as HTML…", menu="File/3", when=_has_run)
def export_html(context: CommandContext) -> None:
    """Write a page that plays the run in any browser, offline."""
    if path := _asked(context, "Export the run as a page", "html", "HTML pages (*.html)"):
        context.export_page(path)


def _export(context: CommandContext, kind: str) -> None:
    if path := _asked(context, "Export the picture", kind, f"{kind.upper()} pictures (*.{kind})"):
        context.export(path)


def _graph(context: CommandContext, kind: GraphFormat, pattern: str) -> None:
    if path := _asked(context, "Export the graph", kind, pattern):
        context.export_graph(path, kind)


def _asked(context: CommandContext, title: str, kind: str, pattern: str) -> Path | None:
    """Ask for a file name and add the suffix of the format if it is missing."""
    path = context.dialogs.ask_save(title, f"{slug(context.session.doc.title)}.{kind}", pattern)
    if path is None or path.suffix.lower() == f".{kind}":
        return path
    return path.with_name(f"{path.name}.{kind}")


def ask_name(context: CommandContext, title: str, name: str, pattern: str) -> Path | None:
    """Ask for a file to write, ``name`` at first; add the suffix of that if there is none."""
    path = context.dialogs.ask_save(title, name, pattern)
    return path.with_suffix(Path(name).suffix) if path is not None and not path.suffix else path
