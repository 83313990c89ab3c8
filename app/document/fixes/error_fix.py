"""The fix of the error that is shown: offered as a difference, applied as one step of undo."""

from PySide6.QtCore import QObject

from gradscribe.app.document.session import Session
from gradscribe.playback.code.fix_diff import changed_lines
from gradscribe.widgets.editor.code_edit import CodeEdit


class ErrorFix(QObject):
    """Shows the edit of an error's hint in the editor while the text is the one that was run."""

    def __init__(self, session: Session, editor: CodeEdit) -> None:
        super().__init__(editor)
        self._session, self._editor = session, editor
        self._shown = ("", "")
        session.result_changed.connect(self._show)
        session.doc_changed.connect(self._show)
        editor.fix_requested.connect(self.apply)

    @property
    def program(self) -> str:
        """The fixed program; empty if none is known for the present text."""
        result = self._session.result
        is_current = self._session.doc.source == result.latest_source
        return result.problem.fix if result.problem is not None and is_current else ""

    def _show(self) -> None:
        now = (self._session.doc.source, self.program)
        if now != self._shown and (now[1] or self._shown[1]):
            self._editor.show_fix(_difference(*now))
        self._shown = now

    def apply(self) -> None:
        """Replace the text by the fixed program and run it; undo leads back."""
        if self.program:
            self._session.apply_fix(self.program)
            self._editor.setFocus()


def _difference(source: str, fix: str) -> list[str]:
    """Return the changed lines; those that are the same at both ends are not compared."""
    if not fix:
        return []
    old, new = source.split("\n"), fix.split("\n")
    start = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), len(old))
    rest = min(len(old), len(new)) - start
    pairs = zip(reversed(old), reversed(new), strict=False)
    same = min(rest, next((n for n, (a, b) in enumerate(pairs) if a != b), rest))
    removed, added = old[start : len(old) - same], new[start : len(new) - same]
    if not removed or not added:
        return [f"- {line}" for line in removed] + [f"+ {line}" for line in added]
    return changed_lines("\n".join(removed), "\n".join(added))
