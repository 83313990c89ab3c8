"""Exit codes of all commands."""

RAN, FAILED, REFUSED, DIED = 0, 1, 2, 3
"""Success; a failed program or findings; bad usage, file or policy; timeout or engine death."""
INTERRUPTED = 130
"""Exit code that shells use for a program ended by SIGINT."""
BY_STATUS = {"ok": RAN, "error": FAILED, "refused": REFUSED, "timeout": DIED, "died": DIED}
"""Exit code for each status of a tape."""
