"""Pages of the manual in `docs/manual`: Markdown files, listed in contents.toml."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from importlib.resources.abc import Traversable

FIRST = "first-minute"
EXCERPT = 90
"""Characters of a line that a search shows."""
_HEADING = re.compile(r"^#{1,4} +(.*?) *$")
_FENCE = re.compile(r"^ *```")
_FUNCTION = re.compile(r"[\w.@]+(?=\()")
_MARKS = re.compile(r"\[([^]]*)\]\([^)]*\)|[`*]")


@dataclass(frozen=True)
class PageHeading:
    """A heading of a page; ``line`` counts from 0."""

    title: str
    line: int

    @property
    def short(self) -> str:
        """Its title, of a function the name alone: ``gs.train`` for ``gs.train(setup: ...)``."""
        function = _FUNCTION.match(self.title)
        return function[0] if function else self.title

    @property
    def anchor(self) -> str:
        """The heading's name in a link: ``#steps-of-a-loop``."""
        return anchor_of(self.title)


@dataclass(frozen=True)
class Page:
    """A page of the manual; ``name`` is its file's, without the suffix."""

    name: str
    text: str
    part: str = ""
    """The part of the contents that it stands in."""

    @cached_property
    def headings(self) -> tuple[PageHeading, ...]:
        """Its headings in order; the first is its title."""
        found, is_code = [], False
        for number, line in enumerate(self.text.splitlines()):
            if _FENCE.match(line):
                is_code = not is_code
            elif not is_code and (heading := _HEADING.match(line)):
                found.append(PageHeading(plain(heading[1]), number))
        return tuple(found)

    @property
    def title(self) -> str:
        """The page's first heading."""
        return self.headings[0].title if self.headings else self.name


@dataclass(frozen=True)
class PageMatch:
    """A place that a search found: the page, the heading above it, and its text in short."""

    page: Page
    heading: PageHeading
    excerpt: str


def folder() -> Traversable:
    """Return the folder with the pages and their pictures."""
    return resources.files("gradscribe.manual")


@cache
def load() -> tuple[Page, ...]:
    """Return all pages in the order of the contents."""
    found = folder()
    contents = tomllib.loads((found / "contents.toml").read_text(encoding="utf-8"))
    return tuple(
        Page(name, (found / f"{name}.md").read_text(encoding="utf-8"), part["title"])
        for part in contents["part"]
        for name in part["pages"]
    )


def find(name: str) -> Page | None:
    """Return the page of that name."""
    return next((page for page in load() if page.name == name), None)


def search(words: str, most: int = 40) -> list[PageMatch]:
    """Return the places that have all words, best first: in titles, in headings, then in text."""
    wanted = words.casefold().split()
    if not wanted:
        return []
    found: list[tuple[int, int, PageMatch]] = []
    for order, page in enumerate(load()):
        for heading, body in _sections(page):
            score = _score(wanted, page, heading, body)
            if score is not None:
                match = PageMatch(page, heading, _excerpt(wanted, body))
                found.append((score, order, match))
    return [match for _, _, match in sorted(found, key=lambda item: item[:2])[:most]]


def plain(markdown: str) -> str:
    """Return a line of Markdown without its marks."""
    return _MARKS.sub(lambda mark: mark[1] or "", markdown)


def anchor_of(title: str) -> str:
    """Return the name of a heading in a link, as hosting sites make it."""
    kept = re.sub(r"[^\w\- ]", "", title.casefold())
    return kept.strip().replace(" ", "-")


def _sections(page: Page) -> list[tuple[PageHeading, list[str]]]:
    lines = page.text.splitlines()
    starts = [heading.line for heading in page.headings]
    ends = [*starts[1:], len(lines)]
    return [
        (heading, [plain(line) for line in lines[heading.line + 1 : end]])
        for heading, end in zip(page.headings, ends, strict=True)
    ]


def _score(wanted: list[str], page: Page, heading: PageHeading, body: list[str]) -> int | None:
    """Return 0 for a match in the page's title, then 1 in the heading, 2 in the text."""
    title = page.title.casefold()
    if heading is page.headings[0] and all(word in title for word in wanted):
        return 0
    above = f"{title} {heading.title.casefold()}"
    own = heading.title.casefold()
    if all(word in above for word in wanted) and any(word in own for word in wanted):
        return 1
    text = f"{above} {' '.join(body).casefold()}"
    if all(word in text for word in wanted) and any(
        word in line.casefold() for line in body for word in wanted
    ):
        return 2
    return None


def _excerpt(wanted: list[str], body: list[str]) -> str:
    for word in wanted:
        for line in body:
            at = line.casefold().find(word)
            if at >= 0:
                start = max(0, at - EXCERPT // 3)
                return ("…" if start else "") + line[start : start + EXCERPT].strip(" |")
    return next((line for line in body if line.strip()), "")[:EXCERPT]
