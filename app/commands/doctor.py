"""The doctor's findings."""

from app.commands import command
from app.shell import Shell


@command("doctor.open", "Findings", "View/6", keys=("F8",))
def open_findings(shell: Shell) -> None:
    """See what the doctor found, and the first line of it."""
    shell.show_findings()
