"""Answers of a tape, compared with plain torch."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from torch import nn

import gradscribe as gs
from gradscribe import recording
from gradscribe.playback.svg import COLORS

THEMES = Path(__file__).resolve().parents[2] / "assets" / "themes"


@pytest.fixture(scope="module")
def tape():
    with gs.record() as tape:
        w = torch.tensor(2.0, requires_grad=True)
        a = torch.tensor(3.0)
        h = a * w
        (h * h + h).backward()
    return tape


def test_values_gradients_and_shares(tape):
    w = torch.tensor(2.0, requires_grad=True)
    h = 3.0 * w
    h.retain_grad()
    (h * h + h).backward()
    assert tape["h"].value == h.item()
    assert tape["h"].grad == h.grad
    assert tape["w"].grad == w.grad
    assert sorted(share.item() for share in tape["h"].shares) == [1.0, 6.0, 6.0]
    assert tape["a"].grad is None
    tape["h"].value[...] = 0
    assert tape["h"].value == 6.0


def test_ops_nodes_and_leaves(tape):
    assert [op.name for op in tape.ops] == ["mul", "mul", "add"]
    assert [node.name for node in tape.nodes] == ["MulBackward0", "MulBackward0", "AddBackward0"]
    assert tape["h"].op.inputs[0].name == "a"
    assert [op.name for op in tape["h"].users] == ["mul", "add"]
    assert tape["h"].op.node.next[1].name == "w"
    assert {leaf.name for leaf in tape.leaves} == {"w", "a"}
    assert tape["h"].line == tape["w"].line + 2


def test_ways_and_graph(tape):
    ways = tape.ways("w")
    assert sorted(way.product for way in ways.listed) == [3.0, 18.0, 18.0]
    graph = tape.to_networkx()
    assert graph.number_of_nodes() == 5
    assert tape.findings == ()


def test_a_name_that_is_not_there_gets_the_nearest():
    with gs.record() as tape:
        hidden = torch.ones(2) + 1
    assert hidden.sum() == 4
    with pytest.raises(KeyError, match="hidden"):
        tape["hiden"]
    with pytest.raises(KeyError, match="No tensor 3"):
        tape[3]
    assert "hiden" not in tape


def test_each_round_of_a_loop_has_its_tensor():
    with gs.record() as tape:
        for n in range(3):
            y = torch.tensor(float(n)) * 2
    assert y == 4.0
    assert [one.value.item() for one in tape.all("y")] == [0.0, 2.0, 4.0]
    assert tape["y"].value == 4.0


def test_a_tensor_has_its_name_from_its_first_version_on():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    with gs.record() as tape:
        for _ in range(3):
            (w * w).sum().backward()
            with torch.no_grad():
                w -= 0.25 * w.grad
                w.grad = None
    assert [one.value.tolist() for one in tape.all("w")] == [
        [1.0, 2.0],
        [0.5, 1.0],
        [0.25, 0.5],
        [0.125, 0.25],
    ]


def test_big_tensors_have_all_their_numbers_as_they_were(tmp_path):
    torch.manual_seed(5)
    w = torch.randn(50, 60, requires_grad=True)
    x = torch.randn(60, 40)
    start = w.detach().clone()
    with gs.record() as tape:
        h = torch.tanh(w @ x)
        loss = h.square().mean()
        loss.backward()
        with torch.no_grad():
            w -= 0.5 * w.grad
    after = w.detach()
    again = torch.tanh(start.requires_grad_() @ x)
    again.square().mean().backward()
    for run in (tape, _saved(tape, tmp_path)):
        assert np.array_equal(run["h"].value, again.detach().numpy())
        assert np.array_equal(run["w"].grad, start.grad.numpy())
        assert np.array_equal(run["w"].value, after.numpy())


def _saved(tape, folder):
    tape.save(folder / "run.tape")
    return gs.load(folder / "run.tape")


def test_past_the_memory_for_numbers_there_are_statistics_of_the_largest(monkeypatch):
    monkeypatch.setattr(recording, "NUMBERS_BUDGET", 4 * 2500)
    with gs.record() as tape:
        big = torch.arange(2000.0)
        bigger = torch.arange(3000.0)
        total = big.sum() + bigger.sum()
    assert total.item() == tape["total"].value
    assert np.array_equal(tape["big"].value, big.numpy())
    assert tape["bigger"].value is None
    assert tape["bigger"].summary.max == 2999.0


def test_the_doctor_reads_a_call():
    def stuck(steps):
        torch.manual_seed(0)
        net = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        x, y = torch.randn(8, 3), torch.randn(8, 1)
        for _ in range(steps):
            loss = ((net(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()

    found = gs.doctor(stuck, 4)
    assert any("zero" in finding.id for finding in found), found

    assert gs.doctor(lambda: torch.ones(2).sum()) == ()
    with pytest.raises(TypeError, match="needs a function"):
        gs.doctor(3)


def test_two_runs_are_compared(tape):
    assert gs.compare(tape, tape) == ()

    def f(x):
        y = x * 2
        return y.sum()

    left, right = gs.record(f, torch.ones(2)), gs.record(f, torch.zeros(2))
    assert gs.compare(left, right)


def texts(svg: str) -> list[str]:
    return [e.text or "" for e in ElementTree.fromstring(svg).iter() if e.tag.endswith("}text")]


def test_the_svg_has_each_op_with_its_numbers(tape):
    shown = texts(tape.to_svg())
    assert any(text.startswith("h = ") for text in shown)
    assert "∇ 13.0000" in shown
    assert "∇ 39.0000" in shown


def test_the_svg_of_hostile_names_is_well_formed():
    names = {"gs": gs, "torch": torch, "x": torch.ones(1)}
    exec("with gs.record() as tape:\n    d = {'<&\\x00\\ud800\">': x}\n    x + x", names)
    ElementTree.fromstring(names["tape"].to_svg())
    ElementTree.fromstring(gs.draw_graph(nn.Identity(), torch.ones(1)).to_svg())


def test_the_graph_of_a_model():
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    tape = gs.draw_graph(model, torch.ones(4, 2))
    assert [op.name for op in tape.ops] == ["linear", "relu", "linear"]
    assert any("relu" in text.lower() for text in texts(tape.to_svg()))
    with pytest.raises(TypeError, match="inputs"):
        gs.draw_graph(model)


def test_notebooks_get_svg_and_text(tape):
    shown = tape._repr_mimebundle_()
    assert shown["image/svg+xml"].startswith("<svg")
    assert "3 ops" in shown["text/plain"]
    with gs.record() as running:
        assert running._repr_mimebundle_() == {"text/plain": repr(running)}
        assert "not ended" in repr(running)


def test_a_step_that_is_not_there_is_refused(tape):
    with pytest.raises(IndexError):
        tape.to_svg(7)


def test_the_run_is_a_page_and_a_file(tape, tmp_path):
    page = tape.to_html()
    assert page.startswith("<!DOCTYPE html>")
    assert tape.to_html(tmp_path / "run.html") == page
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == page
    with pytest.raises(ValueError, match="no such folder"):
        tape.to_html(tmp_path / "no such folder" / "run.html")
    with pytest.raises(gs.RecordingError):
        gs.RunTape().to_html()


def test_the_picture_is_light_or_dark_as_the_reader_s_system_and_styles_nothing_else(tape):
    svg = tape.to_svg()
    style = ElementTree.fromstring(svg)[0].text
    before, media, dark = style.partition("@media (prefers-color-scheme: dark) {")
    assert media
    assert "fill: #FFFFFF" in before
    assert "fill: #1D232C" in dark
    rules = [rule.strip() for rule in re.findall(r"([^{}]+)\{[^{}]*\}", before + dark)]
    assert rules
    assert all(rule.startswith(".gradscribe-graph ") for rule in rules)
    assert "gradscribe-graph" in ElementTree.fromstring(svg).get("class")
    assert "@media" not in tape.to_svg(theme="light") + tape.to_svg(theme="dark")


def test_the_colours_of_both_themes_are_the_window_s():
    for theme, colors in COLORS.items():
        text = (THEMES / f"{theme}.toml").read_text(encoding="utf-8").lower()
        used = {"ground", "ink", "parameter", "gradient"}
        assert all(colors[name].lower() in text for name in used)


def test_text_is_legible_in_both_themes():
    """Contrast of at least 4.5 between text and what is behind it (WCAG 2)."""

    def luminance(color):
        parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    for colors in COLORS.values():
        for text in ("ink", "note", "gradient", "failed"):
            for back in ("card", "ground", "frame") if text in ("ink", "note") else ("card",):
                low, high = sorted((luminance(colors[text]), luminance(colors[back])))
                assert (high + 0.05) / (low + 0.05) >= 4.5, (text, back)


def test_marimo_gets_svg_or_a_line(tape):
    kind, text = tape._mime_()
    assert (kind, text) == ("image/svg+xml", tape.to_svg())
    assert gs.RunTape()._mime_()[0] == "text/plain"
