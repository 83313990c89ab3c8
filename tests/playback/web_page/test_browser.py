"""The page in a real browser: what it shows, does and says, without a network."""

import re

import pytest
import torch
from torch import nn

from gradscribe.app.cli.record import record_source
from gradscribe.playback.web_page.document import to_html
from gradscribe.player import TapePlayer
from tests.browser import MISSING, Browser, executable

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(executable() is None, reason=MISSING)]

HOSTILE = "</script><img src=x onerror=alert(1)> \" ' \u202e \u05e9\u05dc\u05d5\u05dd"
SOURCE = """x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)
z = x * y
loss = (z + x) ** 2
loss.backward()
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser")) as started:
        yield started


def recorded(source):
    """Return the tape of a program, and its names after plain Python has run it as well."""
    names = {"torch": torch, "nn": nn}
    torch.manual_seed(0)
    exec(source, names)
    return record_source(source), names


@pytest.fixture
def opened(browser, tmp_path):
    """Return a function that opens the page of a run; the page must be without problems."""

    def open_(tape, source="", title="program.py"):
        path = tmp_path / "run.html"
        path.write_text(to_html(tape, source, title), encoding="utf-8")
        browser.resize(1440, 900)
        browser.prefer(prefers_color_scheme="light", prefers_reduced_motion="reduce")
        browser.requests.clear()
        browser.problems.clear()
        browser.open(path)
        return browser

    yield open_
    assert browser.problems == []
    assert [url for url in browser.requests if not url.startswith("file:///")] == []
    assert len(browser.requests) == 1


@pytest.fixture(scope="module")
def small():
    return recorded(SOURCE)


@pytest.fixture(scope="module")
def net():
    return recorded(
        "torch.manual_seed(0)\n"
        "net = nn.Sequential(nn.Sequential(nn.Linear(2, 3), nn.Tanh()), nn.Linear(3, 1))\n"
        "net(torch.ones(4, 2)).sum().backward()\n"
    )


def card(browser, key):
    return browser.evaluate(
        f"[...document.querySelectorAll('.card')].find(c => "
        f"c.getAttribute('aria-label').startsWith({key!r}))?.getAttribute('aria-label')"
    )


def test_it_plays_to_the_end_and_shows_the_gradients_of_torch(opened, small):
    page = opened(small[0], SOURCE)
    assert "not reached yet" in card(page, "parameter x")
    page.evaluate("document.getElementById('speed').value = 3")
    page.evaluate("document.getElementById('speed').dispatchEvent(new Event('input'))")
    page.click("#play")
    assert page.text("#play") == "Pause"
    last = page.evaluate("Number(document.getElementById('scrub').max)")
    page.wait_for(f"document.getElementById('scrub').value == {last}")
    page.wait_for("document.getElementById('play').textContent === 'Play'")
    for name in "xy":
        leaf = small[1][name]
        words = card(page, f"parameter {name}")
        shown = re.search(r"gradient (?:.* = )?([\d.]+)", words)[1]
        assert float(shown) == leaf.grad.item()
        row = page.evaluate(
            f"[...document.querySelectorAll('#table tbody tr')].map(r => [...r.children]"
            f".map(c => c.textContent)).find(r => r[0] === {name!r})"
        )
        assert [float(text) for text in row[1:]] == [leaf.item(), leaf.grad.item()]


SEEN = "document.getElementById('graph').textContent + document.getElementById('table').textContent"


def test_step_back_undoes_a_step(opened, small):
    page = opened(small[0], SOURCE)
    looks = []
    for _ in range(9):
        looks.append(page.evaluate(SEEN))
        page.key("ArrowRight")
    assert len(set(looks)) > 4
    for look in reversed(looks):
        page.click("#back")
        assert page.evaluate(SEEN) == look


def test_scrubbing_speaks_and_marks_the_line(opened, small):
    tape = small[0]
    page = opened(tape, SOURCE)
    at = next(n for n, e in enumerate(tape.events, 1) if e.kind == "node")
    scrub(page, at)
    assert page.text("#says").startswith("PowBackward0 received 1")
    assert page.evaluate("document.getElementById('says').getAttribute('aria-live')") == "polite"
    assert "backward" in page.evaluate("document.querySelector('#code [aria-current]').className")
    assert page.text("#code [aria-current] code") == "loss = (z + x) ** 2"
    assert page.text("#code [aria-current] .value") == "64.0000"


def scrub(page, position):
    page.evaluate(
        f"(() => {{ const s = document.getElementById('scrub'); s.value = {position};"
        "s.dispatchEvent(new Event('input')); })()"
    )


def test_the_chain_rule_has_the_numbers_of_this_run(opened, small):
    page = opened(small[0], SOURCE)
    scrub(page, 10_000)
    page.evaluate(
        "[...document.querySelectorAll('.card')].find(c => c.getAttribute('aria-label')"
        ".startsWith('operation mul')).dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    rows = page.evaluate(
        "[...document.querySelectorAll('#rule tr')].map(r => "
        "[...r.children].map(c => c.textContent))"
    )
    x, y = small[1]["x"], small[1]["y"]
    above = 2 * (x * y + x).item()
    numbers = {row[0]: float(row[2]) for row in rows}
    assert numbers["∂loss/∂z"] == above
    assert numbers["∂loss/∂y"] == above * x.item() == y.grad.item()
    assert numbers["part of ∂loss/∂x"] == above * y.item()
    shown = page.evaluate("[...document.querySelectorAll('#numbers td')].map(c => c.textContent)")
    assert [float(text) for text in shown] == [6.0, above]
    page.key("Escape")
    assert page.evaluate("document.querySelector('.card.selected')") is None


def test_modules_fold_and_unfold_by_mouse_and_keyboard(opened, net):
    page = opened(net[0])
    count = "document.querySelectorAll('.card').length"
    whole = page.evaluate(count)
    page.click("#fold")
    folded = page.evaluate(count)
    assert folded < whole
    assert page.evaluate("document.getElementById('fold').disabled") is True
    page.evaluate("document.querySelector('.card.module').focus()")
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "false"
    page.key("Enter")
    opened_ = page.evaluate(count)
    assert folded < opened_
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    page.key("Enter")
    assert page.evaluate(count) == folded
    page.click("#unfold")
    assert page.evaluate(count) == whole


def test_the_keyboard_goes_from_card_to_card(opened, small):
    page = opened(small[0], SOURCE)
    stops = page.evaluate("document.querySelectorAll('#graph [tabindex=\"0\"]').length")
    assert stops == 1
    page.evaluate("document.querySelector('#graph [tabindex=\"0\"]').focus()")
    seen = [page.evaluate("document.activeElement.dataset.key")]
    for _ in range(3):
        page.key("ArrowDown")
        seen.append(page.evaluate("document.activeElement.dataset.key"))
    assert len(set(seen)) == 4
    page.key("ArrowUp")
    assert page.evaluate("document.activeElement.dataset.key") == seen[2]
    page.key("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"


def test_a_screen_reader_finds_everything(opened, net):
    page = opened(net[0])
    scrub(page, 10_000)
    found = page.accessible()
    roles = {role for role, _ in found}
    assert {"button", "slider", "status", "table", "heading", "list"} <= roles
    assert [pair for pair in found if pair[0] in ("button", "slider") and not pair[1]] == []
    cards = [name for role, name in found if role == "button" and "gradient" in name]
    assert any(name.startswith("parameter") for name in cards)


def test_light_and_dark_are_those_of_the_product(opened, small):
    page = opened(small[0], SOURCE)
    canvas = "getComputedStyle(document.getElementById('middle')).backgroundColor"
    assert page.evaluate(canvas) == "rgb(244, 246, 249)"
    page.prefer(prefers_color_scheme="dark")
    assert page.evaluate(canvas) == "rgb(18, 21, 26)"
    page.click("#theme")
    assert page.evaluate(canvas) == "rgb(244, 246, 249)"
    page.prefer(prefers_color_scheme="light")
    page.key("t")
    assert page.evaluate(canvas) == "rgb(18, 21, 26)"


def test_hostile_names_are_shown_and_do_nothing(opened, small):
    source = SOURCE + f"# {HOSTILE}\n"
    page = opened(small[0], source, HOSTILE)
    shown = HOSTILE.replace("\u202e", "\ufffd")
    assert page.text("#name") == shown
    assert page.evaluate("document.querySelectorAll('#code code')[5].textContent") == f"# {shown}"
    assert page.evaluate("document.querySelectorAll('img').length") == 0


def test_no_text_leaves_its_card(opened, net):
    page = opened(net[0])
    scrub(page, 10_000)
    outside = page.evaluate(
        "[...document.querySelectorAll('.card')].flatMap(c => { const b = "
        "c.querySelector('.body').getBoundingClientRect(); return [...c.querySelectorAll(':scope > "
        "text')].filter(t => { const r = t.getBoundingClientRect(); return r.left < b.left - 1 || "
        "r.right > b.right + 1; }).map(t => t.textContent); })"
    )
    assert outside == []


@pytest.mark.parametrize("size", [(1000, 640), (1440, 900), (390, 800)])
def test_nothing_sticks_out_of_the_window(opened, net, size):
    page = opened(net[0], title="a_very_long_name_of_a_program_" * 4)
    page.resize(*size)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    bars = page.evaluate(
        "[...document.querySelectorAll('header button, footer, #view')].map(e => "
        "e.getBoundingClientRect()).filter(b => b.right > innerWidth + 1 || b.left < -1).length"
    )
    assert bars == 0
    panels = "[...document.querySelectorAll('.panel')].filter(p => !p.hidden)"
    assert page.evaluate(f"Math.min(...{panels}.map(p => p.clientHeight))") > 60


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "This program made no tensors"),
        ("a = torch.ones(3)\nb = a @ torch.ones(4)\n", "RuntimeError"),
        ("1 / 0\n", "ZeroDivisionError"),
    ],
    ids=["nothing", "an error at an op", "an error before any tensor"],
)
def test_a_program_that_failed_or_did_nothing_says_so(opened, source, words):
    tape = record_source(source)
    page = opened(tape, source)
    seen = page.evaluate("document.body.innerText")
    assert words in seen
    if tape.error is not None:
        assert f"Line {tape.error.place.line}: " in page.text("#error")
    page.key("ArrowRight")
    page.key("End")
    page.key(" ")


def test_two_thousand_events_stay_usable(opened):
    source = (
        "x = torch.tensor(1.0, requires_grad=True)\ny = x\n"
        "for _ in range(1000):\n    y = y * 1.001\ny.backward()\n"
    )
    tape, names = recorded(source)
    page = opened(tape, source)
    last = page.evaluate("Number(document.getElementById('scrub').max)")
    assert last >= 2000
    scrub(page, last)
    assert page.text("#says")
    row = page.evaluate(
        "[...document.querySelectorAll('#table tbody tr')].map(r => "
        "[...r.children].map(c => c.textContent)).find(r => r[0] === 'x')"
    )
    assert float(row[2]) == pytest.approx(names["x"].grad.item(), abs=5e-5)
    page.key("ArrowLeft")
    assert page.evaluate("Number(document.getElementById('scrub').value)") == last - 1


def test_the_player_of_a_notebook_plays_in_its_frame(browser, small, tmp_path):
    """Its frame has an origin of its own, so it is pressed by the mouse and seen by its pixels."""
    page = to_html(small[0], SOURCE, "program.py")
    path = tmp_path / "notebook.html"
    markup = TapePlayer(page, "program.py", 700)._repr_html_()
    path.write_text(f"<!doctype html><body style='margin:0'>{markup}", encoding="utf-8")
    alone = tmp_path / "run.html"
    alone.write_text(page, encoding="utf-8")
    browser.resize(1200, 700)
    browser.problems.clear()
    browser.open(alone)
    box = "(e => { const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height] })"
    left, top, wide, high = browser.evaluate(f"{box}(document.querySelector('#play'))")
    graph = browser.evaluate(f"{box}(document.querySelector('#graph'))")
    clip = dict(zip(("x", "y", "width", "height"), graph, strict=True)) | {"scale": 1}
    browser.open(path)

    def seen():
        return browser.call("Page.captureScreenshot", clip=clip)["data"]

    pause = "new Promise(done => requestAnimationFrame(() => setTimeout(done, 100)))"
    before = ""
    while before != (before := seen()):
        browser.evaluate(pause)
    place = {"x": left + wide / 2, "y": top + high / 2, "button": "left", "clickCount": 1}
    for attempt in range(100):
        if attempt % 20 == 0:
            # The browser hands a press to the page around the frame until the frame is composed,
            # and finds the frame's process by the move that goes before a press.
            for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
                browser.call("Input.dispatchMouseEvent", type=kind, **place)
        browser.evaluate(pause)
        if seen() != before:
            break
    assert seen() != before, "the graph is played"
    assert browser.problems == []
    assert browser.evaluate("document.querySelector('iframe').contentDocument") is None
