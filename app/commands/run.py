"""The engine: run, stop, restart, seed, device and limits."""

import platform
import sys

from gradscribe.app.commands import MenuChoice, command, submenu
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.files.python_choice import device_words
from gradscribe.app.link import own_engine
from gradscribe.app.link.python_search import FoundPython
from gradscribe.playback.translation import ngettext, tr

MEMORIES = (64, 128, 256, 512, 1024, 2048, 4096)
"""Megabytes to choose from."""
TIMES = (5, 10, 30, 120, 600, 3600)
"""Seconds to choose from."""


def _is_busy(context: CommandContext) -> bool:
    return context.ranks.is_running or context.session.result.engine in ("running", "stopping")


@command("run.now", tr("Run now"), menu="Run/1", keys=("F5", "Ctrl+Return"), page="program")
def run_now(context: CommandContext) -> None:
    """Run the program from the top without waiting for a pause in typing."""
    context.session.run_now()


@command(
    "run.fix",
    tr("Apply the error's fix"),
    menu="Run/1",
    keys=("Alt+Return",),
    when=lambda context: bool(context.error_fix.program),
    page="program",
)
def fix(context: CommandContext) -> None:
    """Make the change that is shown under the error; can be undone."""
    context.error_fix.apply()


def _has_error(context: CommandContext) -> bool:
    problem = context.session.result.problem
    return problem is not None and problem.place.line > 0


@command(
    "run.error",
    tr("Go to the error"),
    menu="Run/1",
    keys=("Shift+F8",),
    when=_has_error,
    page="program",
)
def go_to_error(context: CommandContext) -> None:
    """Go to the line of the program that failed."""
    problem = context.session.result.problem
    assert problem is not None
    context.settings.put("left", True)
    context.editor.go_to_line(problem.place.line)
    context.editor.setFocus()


@command("run.stop", tr("Stop"), menu="Run/1", keys=("Ctrl+.",), bare=("Esc",), when=_is_busy)
def stop(context: CommandContext) -> None:
    """Interrupt the program that is running, on one rank or several."""
    context.ranks.stop()
    context.session.stop()


@command("run.restart", tr("Restart engine"), menu="Run/1", keys=("Ctrl+Shift+F5",))
def restart(context: CommandContext) -> None:
    """Replace the process that runs your program by a new one."""
    context.session.restart()


@command(
    "run.ranks",
    tr("Ranks…"),
    menu="Run/2",
    when=lambda context: not context.ranks.is_running,
    page="program",
)
def on_ranks(context: CommandContext) -> None:
    """Run the program on several ranks under torch.distributed, with your permissions."""
    count = context.dialogs.ask_number(tr("Ranks, each a process with your permissions"), 2)
    if count is not None and (refusal := context.ranks.run(count)):
        context.say(refusal)


@command("run.seed", tr("Seed…"), menu="Run/2", page="program")
def seed(context: CommandContext) -> None:
    """Choose the seed of the random numbers."""
    number = context.dialogs.ask_number(tr("Seed of the random numbers"), context.session.doc.seed)
    if number is not None:
        context.session.set_seed(number)
        context.say(tr("Seed {number}", number=number))


@command("run.reseed", tr("Next seed"), menu="Run/2", keys=("Ctrl+Shift+R",), page="program")
def reseed(context: CommandContext) -> None:
    """Run with other random numbers."""
    context.session.set_seed(context.session.doc.seed + 1)
    context.say(tr("Seed {seed}", seed=context.session.doc.seed))


def _has_passes(context: CommandContext) -> bool:
    return context.costs.can_show()


@command(
    "run.no_grad",
    tr("Measure no_grad next to grad…"),
    menu="Run/4/measure",
    when=_has_passes,
    page="program",
)
def measure_no_grad(context: CommandContext) -> None:
    """Measure time and memory of the program's forward with and without recording for backward."""
    context.costs.show("no_grad")


@command(
    "run.modes",
    tr("Measure reverse and forward mode…"),
    menu="Run/4/measure",
    when=_has_passes,
    page="program",
)
def measure_modes(context: CommandContext) -> None:
    """Measure the gradient by reverse mode, and by forward mode direction after direction."""
    context.costs.show("modes")


@submenu("run.memory", tr("Memory for values"), menu="Run/3")
def memory(context: CommandContext) -> list[MenuChoice]:
    """Memory for recorded values; beyond it the oldest become summaries."""

    def choice(amount: int) -> MenuChoice:
        here = context.settings.number("memory") == amount
        title = f"{amount} MB" if amount < 1024 else f"{amount // 1024} GB"
        return MenuChoice(title, lambda at: at.settings.put("memory", float(amount)), checked=here)

    return [choice(amount) for amount in MEMORIES]


@submenu("run.timeout", tr("Time limit"), menu="Run/3")
def timeout(context: CommandContext) -> list[MenuChoice]:
    """Time after which a program is stopped."""

    def choice(seconds: int) -> MenuChoice:
        here = context.settings.number("timeout") == seconds
        return MenuChoice(
            duration_text(seconds),
            lambda at: at.settings.put("timeout", float(seconds)),
            checked=here,
        )

    return [choice(seconds) for seconds in TIMES]


def duration_text(seconds: int) -> str:
    """Return ``10 seconds``, ``2 minutes``, ``1 hour``."""
    if seconds < 60:
        return ngettext("{count:,} second", "{count:,} seconds", seconds)
    return (
        ngettext("{count:,} minute", "{count:,} minutes", seconds // 60)
        if seconds < 3600
        else ngettext("{count:,} hour", "{count:,} hours", 1)
    )


@submenu("run.python", tr("Python"), menu="Run/2", page="program")
def python(context: CommandContext) -> list[MenuChoice]:
    """Python that the program runs in, with its packages."""
    here = context.session.doc.interpreter
    apart = None if own_engine.has_torch() else own_engine.read()
    number = apart.python.version if apart else platform.python_version()
    version = tr("Python {python_version}", python_version=number)
    choices = [
        MenuChoice(
            " · ".join(filter(None, ["Gradscribe's own", version, *_own_parts(context)])),
            lambda at: at.python.choose_own(),
            apart.python.path if apart else sys.executable,
            checked=here is None,
        )
    ]

    def choice(found: FoundPython) -> MenuChoice:
        parts = [found.name, tr("Python {version}", version=found.version) if found.version else ""]
        parts.append(
            tr("torch {torch}", torch=found.torch) if found.torch else tr("no torch found")
        )
        parts.append(context.python.devices(found) or "")
        return MenuChoice(
            " · ".join(filter(None, parts)),
            lambda at: at.python.choose(found.path),
            found.path,
            checked=here is not None and here.url == found.path,
        )

    choices += [choice(found) for found in context.python.found()]
    machine = MenuChoice(tr("On another machine…"), _choose_machine)
    choices += [MenuChoice(tr("Other…"), _choose_other_python), machine]
    if (set_up := context.python.set_up) is not None:
        choices.append(MenuChoice(tr("Set up PyTorch…"), lambda _: set_up()))
    return choices


def _own_parts(context: CommandContext) -> list[str]:
    """Return torch and devices of Gradscribe's own Python, while the program runs in it."""
    result = context.session.result
    if context.session.doc.interpreter is not None or not result.torch:
        return []
    names = tuple(d.title or d.name for d in result.details if d.name != "cpu")
    return [tr("torch {torch}", torch=result.torch), device_words(names)]


def _choose_other_python(context: CommandContext) -> None:
    path = context.dialogs.ask_open(tr("Choose a Python"), tr("Python (python*);;All files (*)"))
    if path is not None:
        context.python.choose(str(path))


def _choose_machine(context: CommandContext) -> None:
    here = context.session.doc.interpreter
    address = context.dialogs.ask_machine(here.url if here is not None and here.host else "")
    if address:
        context.python.choose(address)


@submenu("run.device", tr("Device"), menu="Run/2", page="program")
def device(context: CommandContext) -> list[MenuChoice]:
    """Device that the name ``device`` is in the program."""

    def choice(name: str) -> MenuChoice:
        here = context.session.doc.device == name
        return MenuChoice(name, lambda at: at.session.set_device(name), checked=here)

    return [choice(name) for name in context.session.result.devices]


@command(
    "run.access",
    tr("Let my programs use files"),
    menu="Run/3",
    checked=lambda context: context.settings.flag("access"),
)
def access(context: CommandContext) -> None:
    """Let your own programs write files, use the network and start others; off is safer."""
    on = not context.settings.flag("access")
    context.settings.put("access", on)
    context.say(
        tr("Your programs may use files, the network and other programs")
        if on
        else tr("Your programs may not use files, the network or other programs")
    )
