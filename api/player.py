"""`RunTape.player`: the page that plays a run, in the output of a notebook's cell."""

import html

MOST_PAGE = 8 << 20
"""Most characters of a page that a notebook is given."""
LEAST_HEIGHT, MOST_HEIGHT = 200, 4000


class TapePlayer:
    """A run to fold, play and scrub in a notebook; elsewhere it is a line of text."""

    def __init__(self, page: str, title: str, height: int) -> None:
        self._page, self._title, self._height = page, title, height

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, which can reach nothing of the notebook."""
        if len(self._page) > MOST_PAGE:
            size = len(self._page) >> 20
            return f"<p>The player of {size} MB is too big for a notebook: see to_html(path)</p>"
        # Without allow-same-origin its scripts have an origin of their own.
        return (
            f'<iframe sandbox="allow-scripts" title="{html.escape(self._title)}" '
            f'style="width: 100%; height: {self._height}px; border: 0" '
            f'srcdoc="{html.escape(self._page)}"></iframe>'
        )

    def _mime_(self) -> tuple[str, str]:
        """Return the same for marimo."""
        return "text/html", self._repr_html_()

    def __repr__(self) -> str:
        """Return a line that says where it is shown."""
        return f"<TapePlayer of {self._title}: shown by notebooks>"
