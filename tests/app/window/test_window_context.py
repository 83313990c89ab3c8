"""All that commands ask of the window is there."""

import pytest

from gradscribe.app.commands.context import CommandContext

PARTS = [name for name in dir(CommandContext) if not name.startswith("_")]
PARTS += CommandContext.__annotations__


@pytest.mark.parametrize("name", PARTS)
def test_it_has_every_part_and_action_that_commands_use(window, name):
    assert hasattr(window.context, name)
