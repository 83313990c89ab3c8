"""Help: the command palette, the shortcuts, and the about card."""

from html import escape

from gradscribe.app import commands
from gradscribe.app.commands import command
from gradscribe.app.commands.context import CommandContext
from gradscribe.playback.translation import tr


@command("help.palette", tr("All commands…"), "Help/1", keys=("Ctrl+Shift+P", "Ctrl+K"))
def palette(context: CommandContext) -> None:
    """Find any command by typing part of its name."""
    context.show_palette()


@command("help.manual", tr("Manual"), "Help/1", keys=("Shift+F1",))
def manual(context: CommandContext) -> None:
    """Read what each part of the program does, with a search."""
    context.manual.show()


@command("help.tour", tr("Tour"), "Help/1", keys=("Ctrl+Alt+U",))
def tour(context: CommandContext) -> None:
    """See the most important things in a minute, in the window itself."""
    context.workspaces.show_workspace("program")
    context.settings.put("left", True)
    if not context.tour.is_on and not context.session.result.tape.events:
        context.show_first_example()
    context.tour.start()


@command("help.findings", tr("What the findings mean"), "Help/1")
def findings(context: CommandContext) -> None:
    """Read what each finding of the doctor means and why it matters."""
    context.manual.show("findings")


@command("help.messages", tr("What the error hints mean"), "Help/1")
def messages(context: CommandContext) -> None:
    """Read PyTorch's common errors, each with what to do."""
    context.manual.show("messages")


@command("help.keys", tr("Keyboard shortcuts"), "Help/1", keys=("F1",))
def keys(context: CommandContext) -> None:
    """See all shortcuts on one page."""
    context.show_card(tr("Keyboard shortcuts"), shortcut_table())


def shortcut_table() -> str:
    """Return all commands that have keys as an HTML table, menu by menu."""
    rows: list[str] = []
    for menu in commands.MENUS:
        keyed = [one for one in commands.load() if one.place[0] == menu and (one.keys or one.bare)]
        if keyed:
            rows.append(f"<tr><td colspan=2><b>{menu}</b></td></tr>")
        for one in keyed:
            how = escape("   ".join((*one.bare, *one.keys)))
            rows.append(f"<tr><td>{escape(one.title)}&nbsp;&nbsp;</td><td>{how}</td></tr>")
    return f"<table cellpadding=3>{''.join(rows)}</table>"


@command("help.about", tr("About Gradscribe"), "Help/2")
def about(context: CommandContext) -> None:
    """See the versions and the restrictions of your programs."""
    result = context.session.result
    engine = (
        tr("torch {escape}", escape=escape(result.torch))
        if result.torch
        else tr("the engine is still starting")
    )
    devices = escape(", ".join(result.devices))
    context.show_card(
        "Gradscribe",
        tr(
            "<p>Type PyTorch and see it run forward and backward.</p><p>Running "
            "{engine} on {devices}.</p><p>{sandbox_text}</p><p>MIT licence.</p>",
            engine=engine,
            devices=devices,
            sandbox_text=sandbox_text(result.kept),
        ),
    )


DENIED = {
    "files": tr("writing files and reading those of others"),
    "network": tr("the network"),
    "processes": tr("other programs"),
    "memory": tr("more memory than there is"),
}


def sandbox_text(kept: tuple[str, ...]) -> str:
    """Return a sentence on what the sandbox denies to programs."""
    words = [DENIED[name] for name in kept if name in DENIED]
    if not words:
        return tr("Programs run with all of your permissions.")
    listed = (
        tr("{join} and {words}", join=", ".join(words[:-1]), words=words[-1])
        if len(words) > 1
        else words[0]
    )
    return tr("Programs are kept from {listed}.", listed=listed)
