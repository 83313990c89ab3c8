"""The manual's pages hang together: contents, links, pictures, search."""

import re
from pathlib import Path

import pytest

from gradscribe.app.manual import pages

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "docs" / "manual"
NAMES = [page.name for page in pages.load()]
LINK = re.compile(r"!?\[[^]]*\]\(([^)\s]*)\)")


def links(page):
    text = re.sub(r"```.*?```", "", page.text, flags=re.DOTALL)
    return LINK.findall(text)


def test_every_page_is_in_the_contents_once():
    assert sorted(NAMES) == sorted(path.stem for path in FOLDER.glob("*.md"))


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_a_title_and_a_sentence_under_it(name):
    page = pages.find(name)
    first, rest = page.text.split("\n", 1)
    assert first == f"# {page.title}"
    assert rest.strip()
    assert not rest.strip().startswith("#")


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_to_pages_headings_and_pictures_that_exist(name):
    for link in links(pages.find(name)):
        target, _, anchor = link.partition("#")
        if target.endswith(".png"):
            assert (FOLDER / target).is_file(), link
            continue
        page = pages.find(target.removesuffix(".md") if target else name)
        assert page is not None, link
        if anchor:
            assert anchor in [heading.anchor for heading in page.headings], link


def test_every_picture_is_shown_and_has_one_for_dark_windows():
    shown = {link for page in pages.load() for link in links(page) if link.endswith(".png")}
    plain = {f"pictures/{p.name}" for p in (FOLDER / "pictures").glob("*.png")}
    assert {name for name in plain if not name.endswith("-dark.png")} == shown
    assert {name.replace(".png", "-dark.png") for name in shown} <= plain


def test_the_readme_leads_to_every_page_and_fits_two_screens():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"(docs/manual/{name}.md)" not in readme] == []
    assert len(readme.splitlines()) < 200


def test_code_is_no_heading():
    page = pages.Page("x", "# Title\n\n```sh\n# a comment\n```\n\n## Part\n")
    assert [heading.title for heading in page.headings] == ["Title", "Part"]


def test_anchors_are_those_of_hosting_sites():
    assert pages.anchor_of("Steps of a loop") == "steps-of-a-loop"
    assert pages.anchor_of("The graph: `a_b`, and more") == "the-graph-a_b-and-more"


def test_a_search_finds_titles_first_then_headings_then_text():
    found = pages.search("loop")
    assert found[0].page.name == "follow-a-loop"
    assert found[0].heading is found[0].page.headings[0]
    assert "charts" in [match.heading.anchor for match in pages.search("charts")][:2]
    ways = pages.search("retain_graph")
    assert "findings" in {match.page.name for match in ways}
    assert all("retain_graph" in match.excerpt for match in ways)


@pytest.mark.parametrize("words", ["", "   ", "zzqy", "loop zzqy", "*" * 500])
def test_words_that_are_nowhere_find_nothing(words):
    assert pages.search(words) == []


def test_a_function_is_listed_by_its_name_alone():
    api = pages.find("python-api")
    short = {heading.short for heading in api.headings}
    assert {"gs.train", "gs.record", "to_svg", "__getitem__", "The Python API"} <= short
    assert not [name for name in short if "(" in name]
