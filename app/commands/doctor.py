"""The doctor's findings."""

from gradscribe.app.commands import command
from gradscribe.app.commands.context import CommandContext


@command("doctor.open", "Findings", "View/6", keys=("F8",))
def open_findings(context: CommandContext) -> None:
    """Show the doctor's findings, and go to the first one's line."""
    context.show_findings()
