"""Write the table in docs/manual/findings.md from the findings themselves, for `make docs`."""

from pathlib import Path

from gradscribe.engine.doctor.examine import finding_kinds
from gradscribe.engine.doctor.ranks.examine import rank_finding_kinds

PAGE = Path(__file__).resolve().parents[1] / "docs" / "manual" / "findings.md"


def with_table(page: str) -> str:
    """Return the page with a row for each finding: sure ones before hints, then by id."""
    every = (*finding_kinds(), *rank_finding_kinds())
    kinds = sorted(every, key=lambda kind: (kind.severity == "hint", kind.id))
    rows = [f"| `{k.id}` | {k.severity} | **{k.title}.** {k.why} |\n" for k in kinds]
    return "".join([line for line in page.splitlines(True) if line[:3] != "| `"] + rows)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
