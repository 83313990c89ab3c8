"""A program of its own for each test, on a screen of its own."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.e2e.screen import Screen, reason_to_skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what stands in this folder: whole processes, on systems that can show them."""
    reason = reason_to_skip()
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            # A machine under load waits longer for each condition.
            item.add_marker(pytest.mark.timeout(400))
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Program]]:
    """Start the program: ``start(*arguments, size=(1440, 900), settings={"theme": "dark"})``."""
    with ExitStack() as stack:

        def started(
            *arguments: str,
            size: tuple[int, int] = (1440, 900),
            settings: dict[str, str] | None = None,
        ) -> Program:
            screen = stack.enter_context(Screen(tmp_path, size))
            path = tmp_path / "config" / "gradscribe" / "gradscribe.ini"
            path.parent.mkdir(parents=True)
            # Neither the tour nor the start page, unless a test asks for them.
            chosen = {"tour": "true", "start": "last"} | (settings or {})
            rows = [f"{key}={value}\n" for key, value in chosen.items()]
            path.write_text("[General]\n" + "".join(rows))
            return stack.enter_context(Program(screen, *arguments))

        yield started
