"""The doctor's findings."""

from gradscribe.app.commands import command
from gradscribe.app.commands.context import Shell


@command("doctor.open", "Findings", "View/6", keys=("F8",))
def open_findings(shell: Shell) -> None:
    """Show the doctor's findings, and go to the first one's line."""
    shell.show_findings()
