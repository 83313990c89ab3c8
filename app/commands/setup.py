"""Open and export set-ups: the JSON that headless training reads, too."""

import os
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from gradscribe.app.commands import command, train
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.commands.export import ask_name
from gradscribe.app.files import documents
from gradscribe.app.training.setup import files, presets, user_module
from gradscribe.engine.protocol import setup as setups
from gradscribe.engine.protocol.setup import Part, Setup, SetupError
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.training import Catalogue, StopCondition
from gradscribe.engine.protocol.training.catalogue import hint_for_option
from gradscribe.playback.translation import tr, translated

SETUP = ".json"
SETUPS = tr("Set-ups (*{setup})", setup=SETUP)


class OpenedSetup(NamedTuple):
    """Content of a set-up file; ``steps`` is None if it does not specify them."""

    path: Path
    setup: Setup
    steps: int | None


def read(path: Path, catalogue: Catalogue | None = None) -> OpenedSetup:
    """Return the setup in a file, with the path of a data file in its folder made absolute.

    Raises:
        Refused: it cannot be read, or is no setup; with the ``catalogue`` the reason is better.
    """
    text = documents.read(path, ".json")
    hint = partial(hint_for_option, catalogue.entries) if catalogue is not None else None
    try:
        setup, steps = setups.parse_text(text, hint), setups.requested_steps(text)
    except SetupError as error:
        raise documents.Refused(
            tr(
                "{name} is no set-up for training: {error}",
                name=path.name,
                error=translated(str(error)),
            )
        ) from None
    table = path.parent / files.data_path(setup)
    if files.data_path(setup) and os.path.isfile(table):
        data = Part(setup.data.name, {**setup.data.options, "path": str(table)})
        setup = replace(setup, data=data)
    return OpenedSetup(path, setup, steps)


def open_setup(context: CommandContext, path: Path) -> None:
    """Train with the setup in ``path``, up to the number of steps that it specifies, if any.

    If it contains a module, ask the user first.

    Raises:
        Refused: it cannot be read, or is no setup.
    """
    opened = read(path, context.training.store.catalogue)
    setup = opened.setup
    source = str(setup.model.options.get("source", "")) if setup.model.name == "own" else ""
    if source and not context.settings.is_trusted(str(path), source):
        held = opened._replace(setup=user_module.with_policy(setup))
        run, trust = partial(_begin, context, held), partial(_trust, context, opened, source)
        train.offer_to_run(context, path, source, run, trust)
    else:
        _begin(context, opened)


def _trust(context: CommandContext, opened: OpenedSetup, source: str) -> None:
    context.settings.trust(str(opened.path), source)
    _begin(context, opened)


def _begin(context: CommandContext, opened: OpenedSetup) -> None:
    path, steps = opened.path, opened.steps
    context.notices.drop(train.OUTSIDE)
    until = () if steps is None else (StopCondition("step", steps),)
    presets.train_preset(
        context.training, presets.Preset(path.stem, path.stem, "", opened.setup), until
    )
    context.workspaces.show_workspace("training")
    context.settings.add_recent(str(path))
    end = "" if steps is None else tr("; it pauses at step {steps:,}", steps=steps)
    context.say(tr("Opened {name}{end}", name=path.name, end=end))


@command("train.open_setup", tr("Open set-up…"), "Train/2")
def choose_setup(context: CommandContext) -> None:
    """Train with a set-up from a file, like gradscribe train."""
    if path := context.dialogs.ask_open(tr("Open a set-up"), SETUPS):
        open_setup(context, documents.resolve(path))


@command(
    "train.export_setup",
    tr("Export set-up as JSON…"),
    "Train/4/export",
    when=train.on_training_page,
)
def export_setup(context: CommandContext) -> None:
    """Write the set-up to a file, for gradscribe train or to open it later."""
    path = ask_name(context, tr("Export the set-up"), f"setup{SETUP}", SETUPS)
    if path is None:
        return
    setup, run = context.training.setup, context.training.run
    # The number of steps that reproduces the current state of the run.
    steps = run.step if run is not None else 0
    content = setups.to_dict(setup) | ({"steps": steps} if steps else {})
    text = msgspec.json.format(msgspec.json.encode(content), indent=2)
    source = str(setup.model.options.get("source", "")) if setup.model.name == "own" else ""

    def written() -> None:
        if source and not user_module.is_guarded(setup):
            # It was exported here, so it is not from outside when it is opened again.
            context.settings.trust(str(documents.resolve(path)), source)
        context.say(tr("Wrote {name}", name=path.name))

    context.file_writer.write(path, lambda: [text, b"\n"], written)
