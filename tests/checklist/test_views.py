"""Badges, tables and panels of the window, filled by programs that a real engine has run."""

import re

import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from gradscribe.app.lessons import catalogue
from gradscribe.app.ui.shape_lab import LabCard
from gradscribe.playback.lab.cells import Cell
from tests.checklist.desk import plain_output

NO_KEYS = Qt.KeyboardModifier.NoModifier
IMPORTS = "import torch\nfrom torch import nn\n"
LOOP = (
    IMPORTS + "torch.manual_seed(5)\n"
    "net = nn.Linear(2, 1)\n"
    "optimizer = torch.optim.Adam(net.parameters(), lr=0.1)\n"
    "x = torch.randn(6, 2)\n"
    "for step in range(3):\n"
    "    loss = net(x).pow(2).mean()\n"
    "    optimizer.zero_grad()\n"
    "    loss.backward()\n"
    "    optimizer.step()\n"
)


@pytest.fixture(scope="module", autouse=True)
def opened(shared_desk):
    """Windows and charts that are made once, so that no test leaves them behind."""
    window = shared_desk.window
    window.menus.perform_by("view.parameters")
    window.parameters.window.close()
    shared_desk.run(LOOP)
    window.loop_curves.show()
    shared_desk.bot.waitUntil(lambda: window.loop_curves.chart is not None, timeout=60_000)


def ran(source):
    """Return the names that a program leaves behind in plain Python."""
    names = {}
    exec(source, names)
    return names


def click(desk, key):
    """Click a card of the graph."""
    graph = desk.window.graph
    graph.fit()
    graph.finish_motion()
    place = graph.camera().to_view(graph.stage().boxes[key].center())
    QTest.mouseClick(graph, Qt.MouseButton.LeftButton, NO_KEYS, place.toPoint())


@pytest.mark.checklist(14)
def test_what_one_studies_is_a_click_away(desk):
    window = desk.run(LOOP).window
    torch_says = ran(LOOP)
    # Seed and device stand in the window without a click.
    assert "seed 0" in window.status.engine.text()
    assert window.top.device.text().startswith("cpu")
    # Shape, dtype and device of a tensor: a click on its card.
    click(desk, desk.card("x").key)
    shown = desk.facts("x")
    assert (shown["shape"], shown["dtype"], shown["device"]) == ("6 × 2", "float32", "cpu")
    # Gradients: a click in the bar takes them out of the picture and brings them back.
    gradients = window.top.layers["gradients"]
    assert desk.session.view.gradients
    gradients.click()
    assert not desk.session.view.gradients
    gradients.click()
    assert desk.session.view.gradients
    # The movement of the loss: a click on the button above the program.
    curves = window.loop_curves
    desk.bot.waitUntil(lambda: curves.offer.isVisible() and not curves.is_busy)
    QTest.mouseClick(curves.offer, Qt.MouseButton.LeftButton)
    desk.bot.waitUntil(lambda: curves.page.isVisible() and curves.chart is not None)
    (loss,) = (one for one in curves.series if one.name == "loss")
    assert loss.numbers[-1] == torch_says["loss"].item()


def line_rows(desk):
    """Return name -> value of the table of the line, whose rows are made in several turns."""
    lines = desk.window.lines
    desk.bot.waitUntil(lambda: sum(not row.isHidden() for row in lines.rows) == len(lines._changed))
    return {row.name.said(): row.value.said() for row in lines.rows if not row.isHidden()}


@pytest.mark.checklist(18)
def test_the_state_of_adam_stands_in_the_table_of_the_line(desk):
    source = LOOP.replace("range(3)", "range(1)")
    window = desk.run(source).window
    names = ran(source)
    state = names["optimizer"].state[names["net"].bias]
    window.tables.setCurrentWidget(window.lines)
    rows = line_rows(desk)
    for kind in ("exp_avg", "exp_avg_sq", "step"):
        (text,) = (text for name, text in rows.items() if name.startswith(f"{kind} of net.bias"))
        number = float(re.search(r"[−\d.e]+", text.removeprefix("new: "))[0].replace("−", "-"))
        assert number == pytest.approx(state[kind].item(), abs=6e-5), (kind, text)
    window.tables.setCurrentWidget(window.values)


@pytest.mark.checklist(108)
def test_adam_remembers_more_than_sgd(desk):
    window = desk.window
    window.tables.setCurrentWidget(window.lines)
    for made, remembered in (
        ("SGD(net.parameters(), lr=0.1)", set()),
        ("SGD(net.parameters(), lr=0.1, momentum=0.9)", {"momentum_buffer"}),
        ("Adam(net.parameters(), lr=0.1)", {"exp_avg", "exp_avg_sq", "step"}),
    ):
        source = LOOP.replace("Adam(net.parameters(), lr=0.1)", made)
        desk.run(source)
        names = ran(source)
        # SGD without momentum leaves an entry of None, which is no state.
        kinds = {
            k for s in names["optimizer"].state.values() for k, v in s.items() if v is not None
        }
        assert kinds == remembered
        shown = line_rows(desk)
        assert {name.partition(" of ")[0] for name in shown if " of " in name} == remembered
    window.tables.setCurrentWidget(window.values)


@pytest.mark.checklist(36)
def test_a_program_pasted_as_a_single_line_runs_like_its_lines(desk):
    lines = (
        "houses = torch.tensor([[1400.0, 3.0, 20.0], [1600.0, 3.0, 15.0], [1700.0, 4.0, 18.0],"
        " [1875.0, 4.0, 5.0]])\n"
        "prices = torch.tensor([245.0, 312.0, 279.0, 308.0])\n"
        "print(houses.shape, prices.shape, houses.dtype, houses.requires_grad)\n"
    )
    source = "import torch\n" + lines
    flat = " ".join(line.strip() for line in source.splitlines())
    with pytest.raises(SyntaxError):
        compile(flat, "<flat>", "exec")
    QGuiApplication.clipboard().setText(flat)
    editor = desk.window.editor
    editor.setFocus()
    editor.selectAll()
    editor.paste()
    result = desk.session.result
    desk.bot.waitUntil(
        lambda: (
            desk.session.result.latest_source == desk.session.doc.source
            and not desk.session.result.run_id
            and desk.session.result is not result
        ),
        timeout=60_000,
    )
    desk.window.clock.to_end()
    assert editor.toPlainText() == source
    assert desk.output == plain_output(source)
    assert desk.facts("houses")["shape"] == "4 × 3"


@pytest.mark.checklist(43)
def test_a_leaf_counts_the_passes_that_its_gradient_adds_up(desk):
    source = (
        "import torch\n"
        "w = torch.tensor(3.0, requires_grad=True)\n"
        "for _ in range({}):\n"
        "    (w * w).backward()\n"
    )
    for passes in (1, 2, 4):
        desk.run(source.format(passes))
        leaf = next(card.key for card in desk.cards if card.title == "w")
        words = desk.window.graph.words(leaf)
        assert (f"grad of {passes} passes" in words) == (passes > 1), words
        assert desk.gradient("w") == 6 * passes
    desk.run(source.format(3) + "w.grad = None\n(w * w).backward()\n")
    leaf = next(card.key for card in desk.cards if card.title == "w")
    assert "passes" not in desk.window.graph.words(leaf)
    assert desk.gradient("w") == 6


NESTED = (
    IMPORTS + "class Net(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.body = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))\n"
    "        self.head = nn.Linear(4, 1)\n"
    "\n"
    "    def forward(self, x):\n"
    "        return self.head(self.body(x))\n"
    "\n"
    "net = Net()\n"
    "loss = net(torch.ones(5, 3)).sum()\n"
    "loss.backward()\n"
)


def open_modules(desk):
    """Open the modules level by level; return (title of the module, title of its card or box)."""
    shown = set()
    desk.session.open_calls(frozenset())
    opened = set()
    while folded := [c for c in desk.cards if c.kind == "module" and c.key not in opened]:
        shown |= {card.title for card in folded}
        opened |= {card.key for card in folded}
        desk.session.open_calls(frozenset(opened))
    return shown


@pytest.mark.checklist(52)
def test_modules_of_init_are_a_tree_and_the_calls_of_forward_a_graph(desk):
    window = desk.run(NESTED).window
    net = ran(NESTED)["net"]
    window.menus.perform_by("view.parameters")
    table = window.parameters.window.table
    rows = {row.name: row.shape for row in table.model.rows}
    assert set(rows) == {f"net.{name}" for name, _ in net.named_parameters()}
    window.parameters.window.close()
    titles = {title.partition(":")[0] for title in open_modules(desk)}
    # Dropout has no tensors: it is the card of its op.
    modules = [name for name, module in net.named_modules() if [*module.parameters()]]
    names = {name.rpartition(".")[2] or "net" for name in modules}
    assert titles == names
    frames = {frame.key: frame for frame in window.presenter.picture.frames}
    parents = {
        frame.title: frames[frame.parent].title if frame.parent else "" for frame in frames.values()
    }
    assert parents["net"] == ""
    assert {parents[name] for name in ("body", "head")} == {"net"}


@pytest.mark.checklist(107)
def test_modules_within_modules_are_boxes_within_boxes(desk):
    window = desk.run(NESTED).window
    desk.session.open_calls(frozenset())
    (net,) = (card for card in desk.cards if card.kind == "module")
    desk.session.open_calls(frozenset({net.key}))
    body = next(card for card in desk.cards if card.title.startswith("body"))
    desk.session.open_calls(frozenset({net.key, body.key}))
    window.graph.finish_motion()
    frames = {frame.title: frame for frame in window.presenter.picture.frames}
    assert frames["body"].parent == frames["net"].key
    boxes = window.graph.stage().frame_boxes
    outer, inner = boxes[frames["net"].key], boxes[frames["body"].key]
    assert outer.contains(inner)


@pytest.mark.checklist(61)
def test_layers_that_behave_differently_show_their_mode(desk):
    for line, mode in (("", "train"), ("net.eval()\n", "eval")):
        desk.run(NESTED.replace("loss = net", line + "loss = net"))
        desk.session.open_calls(frozenset())
        assert [card.mark for card in desk.cards if card.kind == "module"] == [mode]
        (net,) = (card.key for card in desk.cards if card.kind == "module")
        desk.session.open_calls(frozenset({net}))
        body = next(card.key for card in desk.cards if card.title.startswith("body"))
        desk.session.open_calls(frozenset({net, body}))
        marks = {card.title: card.mark for card in desk.cards}
        badges = {title: mark for title, mark in marks.items() if mark in ("train", "eval")}
        # Dropout returns its input in eval mode: there is no op, and no card.
        shown = {"1: BatchNorm1d", "dropout"} if mode == "train" else {"1: BatchNorm1d"}
        assert badges == dict.fromkeys(shown, mode)


@pytest.mark.checklist(106)
def test_a_module_answers_as_its_functions_do(desk):
    source = NESTED.replace(
        "loss = net", "net.head.bias.requires_grad_(False)\nnet.eval()\nloss = net"
    )
    desk.run(source)
    net = ran(source)["net"]
    desk.session.open_calls(frozenset())
    shown = desk.facts(next(card.title for card in desk.cards if card.kind == "module"))
    parameters = list(net.parameters())
    learning = sum(p.requires_grad for p in parameters)
    assert shown["parameters()"] == f"{len(parameters)} tensors, {learning} learn"
    assert shown["state_dict()"].startswith(f"{len(net.state_dict())} tensors, ")
    assert "cpu float32" in shown["to()"]
    assert shown["mode"] == "evaluation"
    assert set(net.state_dict()) <= set(shown)
    assert shown["head.bias"] == "1, frozen"
    assert shown["body.0.weight"] == "4 × 3, requires_grad"


@pytest.mark.checklist(127)
def test_shapes_stand_next_to_their_lines(desk):
    source = (
        IMPORTS + "x = torch.linspace(-2, 2, 100).unsqueeze(-1)\n"
        "w = torch.randn(1, 7)\n"
        "h = x @ w\n"
        "row = h.mean(dim=0)\n"
        "prediction = nn.functional.relu(x @ torch.ones(1, 3))\n"
    )
    editor = desk.run(source).window.editor
    bar, seen = editor.horizontalScrollBar(), {}
    # A mark never covers code: where a line leaves no space, one scrolls to its end.
    for place in (0, bar.maximum() // 2, bar.maximum()):
        bar.setValue(place)
        editor.grab()
        seen |= {mark.line: mark.value_text for mark in editor.placed_marks() if mark.value_text}
    bar.setValue(0)
    names = ran(source)
    shapes = {
        number: " × ".join(map(str, names[line.partition(" = ")[0]].shape))
        for number, line in enumerate(source.splitlines(), 1)
        if " = " in line
    }
    # Behind the longest line there is no space at all: the tip of its number says it.
    longest = max(shapes, key=lambda number: len(source.splitlines()[number - 1]))
    assert f"= {shapes[longest]}" in editor._line_tooltip(longest)
    assert {line: text for line, text in shapes.items() if line != longest}.items() <= seen.items()


@pytest.mark.checklist(121)
def test_a_scale_saves_gradients_from_underflow(desk):
    lesson = next(one for one in catalogue.load() if one.title == "Mixed precision")
    small, scaled = (s.program for s in lesson.steps if "dtype=torch.float16" in s.program)
    # The gradient is 1e-4 * 1e-4; the least number of float16 is 2 ** -24, which is 6e-8.
    desk.run(small)
    assert desk.gradient("w") == 0
    for scale, expected in ((1.0, 0.0), (2.0**12, 1e-8)):
        desk.run(scaled.replace("scale = 1.0", f"scale = {scale}") + "print(true.item())\n")
        assert desk.problem == ""
        assert float(desk.output) == pytest.approx(expected, rel=0.01)
        assert desk.gradient("w") == pytest.approx(scale * expected, rel=0.01, abs=1e-12)


@pytest.mark.checklist(6)
def test_the_device_of_the_program_stands_in_the_bar(desk):
    source = (
        "import torch\n"
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
        "x = torch.ones(3).to(device)\n"
        "print(x.device)\n"
    )
    button = desk.run(source).window.top.device
    plain = plain_output(source).strip()
    assert desk.output.strip() == plain
    assert button.text().startswith(plain)
    assert re.search(r"· \d[\d.]* GB of memory", button.accessibleDescription())
    default = desk.session.doc.device
    (ticked,) = (action.text() for action in button.menu().actions() if action.isChecked())
    assert ticked.startswith(default)
    # A device that the program names wins over the choice in the bar, which is unchanged.
    desk.run("import torch\nx = torch.ones(3)\ny = x.to('meta')\n")
    assert button.text().startswith("meta")
    assert desk.session.doc.device == default
    assert desk.facts("x")["device"] == default
    assert desk.facts("y")["device"] == "meta"


@pytest.mark.checklist(118)
def test_the_same_loop_runs_under_another_device(desk):
    source = (
        IMPORTS + "net = nn.Linear(2, 1).to(device)\n"
        "x, y = torch.ones(4, 2).to(device), torch.ones(4, 1).to(device)\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for step in range(2):\n"
        "    loss = nn.functional.mse_loss(net(x), y)\n"
        "    optimizer.zero_grad()\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "print(loss.device, next(net.parameters()).grad.shape)\n"
    )
    ops = []
    for device in ("cpu", "meta"):
        desk.session.set_device(device)
        desk.bot.waitUntil(lambda: not desk.session.result.run_id)
        desk.run("")
        desk.run(source)
        assert desk.problem == ""
        assert desk.output == f"{device} torch.Size([1, 2])\n"
        assert desk.window.top.device.text().startswith(device)
        assert desk.facts("x")["device"] == device
        # What is there already is not moved: to() records nothing then.
        made = [op.op for op in desk.tape.ops if op.phase == "forward"]
        ops.append([op for op in made if op != "to"])
    desk.session.set_device("cpu")
    assert ops[0] == ops[1]
    assert desk.session.doc.source == source


INDEXES = [
    pytest.param("m[1]", id="a row", marks=pytest.mark.checklist(155)),
    pytest.param("m[:, 2]", id="a column", marks=pytest.mark.checklist(155)),
    pytest.param("m[0:2, 1:3]", id="a part", marks=pytest.mark.checklist(155)),
    pytest.param("m[m > 6]", id="a mask", marks=pytest.mark.checklist(156)),
    pytest.param("m[[0, 2]]", id="a list", marks=pytest.mark.checklist(157)),
    pytest.param("m[[2, 0, 1], [1, 1, 3]]", id="two lists", marks=pytest.mark.checklist(157)),
]


@pytest.mark.parametrize("index", INDEXES)
def test_the_cells_that_an_index_picks_are_lit(desk, index):
    desk.run("import torch\n")
    window = desk.window
    lines = f"m = torch.arange(12.0).reshape(3, 4)\n{index}"
    window.context.show_lab(lines)
    (card,) = window.findChildren(LabCard)
    desk.bot.waitUntil(lambda: card._made is not None, timeout=60_000)
    lab = card.lab
    # What the lab starts with has no m.
    desk.bot.waitUntil(
        lambda: {"m", "result"} <= {one.key for one in lab.canvas.cards}, timeout=60_000
    )
    m = torch.arange(12.0).reshape(3, 4)
    # The numbers count the cells, so that a result's number is the cell it was picked from.
    picked = eval(index, {"m": m, "torch": torch}).flatten().long().tolist()
    for flat, source in enumerate(picked):
        lab.canvas.look_at(Cell("result", flat))
        row, column = divmod(source, 4)
        assert f"comes from m[{row}, {column}]" in lab.cell_sentence.said()
        assert lab.canvas._lit["m"] == {source}
    card.leave()
    desk.bot.waitUntil(lambda: not window.findChildren(LabCard))
