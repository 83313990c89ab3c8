"""Values, gradients and the graph of small programs in the window, against calculus."""

import numpy as np
import pytest
import torch

pytestmark = pytest.mark.e2e

NEURON = (
    "x = torch.tensor(3.0)\n"
    "w, b = (torch.tensor(v, requires_grad=True) for v in (2.0, 0.0))\n"
    "loss = (w * x + b - 9) ** 2\nloss.backward()\n"
)
EXPRESSION = (
    "x, y, z = (torch.tensor(v, requires_grad=True) for v in (2.0, 3.0, 4.0))\n"
    "L = (x + y) * z\n"
    "L.backward()\n"
)

NUMBERS = [
    # Program, values, gradients.
    pytest.param(
        NEURON,
        {"loss": 9},
        {"w": -18, "b": -6},
        id="one neuron",
        marks=pytest.mark.checklist(10, 116),
    ),
    pytest.param(
        EXPRESSION,
        {"L": 20},
        {"x": 4, "y": 4, "z": 5},
        id="an expression",
        marks=pytest.mark.checklist(98, 99),
    ),
    pytest.param(
        "p, q = torch.tensor(2.0, requires_grad=True), torch.tensor(5.0, requires_grad=True)\n"
        "r = torch.sin(p) * q - p / q\nr.backward()\n",
        {"r": np.sin(2.0) * 5 - 0.4},
        {"p": np.cos(2.0) * 5 - 0.2, "q": np.sin(2.0) + 2 / 25},
        id="another expression",
        marks=pytest.mark.checklist(100),
    ),
    pytest.param(
        "x, y = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)\n"
        "z = x * y + y**2\n"
        "z.backward()\n",
        {"z": 15},
        {"x": 3, "y": 8},
        id="a value used twice",
        marks=pytest.mark.checklist(165),
    ),
    pytest.param(
        "x = torch.tensor(2.0, requires_grad=True)\ny = x**2 + 3 * x + 1\ny.backward()\n",
        {"y": 11},
        {"x": 7},
        id="a polynomial",
        marks=pytest.mark.checklist(167),
    ),
    pytest.param(
        "a, b = torch.tensor(3.0, requires_grad=True), torch.tensor(4.0, requires_grad=True)\n"
        "f = a**2 * b + b**3\n"
        "f.backward()\n",
        {"f": 100},
        {"a": 24, "b": 57},
        id="two variables",
        marks=pytest.mark.checklist(169),
    ),
    pytest.param(
        "x = torch.tensor(2.0, requires_grad=True)\n(x**2).backward()\n(x**3).backward()\n",
        {},
        {"x": 16},
        id="4 and 12 add up",
        marks=pytest.mark.checklist(171),
    ),
    pytest.param(
        "x = torch.tensor(2.0, requires_grad=True)\n"
        "(x**2).backward()\n"
        "(x**3).backward()\n"
        "x.grad.zero_()\n"
        "(x**3).backward()\n",
        {},
        {"x": 12},
        id="12 after zero_",
        marks=pytest.mark.checklist(171),
    ),
    pytest.param(
        "x, y = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)\n"
        "z = x * y\nw = z + x\nloss = w**2\nloss.backward()\n",
        {"z": 6, "w": 8, "loss": 64},
        {"x": 64, "y": 32},
        id="the chain through w",
        marks=pytest.mark.checklist(208, 210),
    ),
    pytest.param(
        "x = torch.tensor(2.0, requires_grad=True)\n(x**2).backward()\n(x**2).backward()\n",
        {},
        {"x": 8},
        id="4 and 4 add up",
        marks=pytest.mark.checklist(219),
    ),
    pytest.param(
        "x = torch.tensor(2.0, requires_grad=True)\n"
        "y = x**2\n"
        "y.backward(retain_graph=True)\n"
        "y.backward()\n",
        {"y": 4},
        {"x": 8},
        id="a kept graph",
        marks=pytest.mark.checklist(226),
    ),
    pytest.param(
        "x = torch.tensor(2.0, requires_grad=True)\na = x**2\nb = 3 * x\n(a + b).backward()\n",
        {"a": 4, "b": 6},
        {"x": 7},
        id="two losses",
        marks=pytest.mark.checklist(227),
    ),
    pytest.param(
        "w = torch.tensor(2.0, requires_grad=True)\n"
        "x = torch.tensor([1.0, 2.0, 3.0, 4.0])\n"
        "for part in x.split(2):\n    ((w * part) ** 2).mean().div(2).backward()\n",
        {},
        {"w": 30},  # The derivative of the mean of (w x)² over all four: 2 w mean(x²) = 4 * 7.5.
        id="a batch in parts",
        marks=pytest.mark.checklist(172, 220),
    ),
    pytest.param(
        "x = torch.tensor(2.3, requires_grad=True)\ny = x.round()\ny.backward()\n",
        {"y": 2},
        {"x": 0},
        id="round",
        marks=pytest.mark.checklist(240),
    ),
    pytest.param(
        "x = torch.tensor(1e-3, dtype=torch.float16, requires_grad=True)\n"
        "y = x * 1e-4 * 1e-4\n"
        "y.backward()\n",
        {"y": 0},
        {"x": 0},
        id="float16 underflows",
        marks=pytest.mark.checklist(188),
    ),
    pytest.param(
        "x = torch.tensor(2.0, requires_grad=True)\n"
        "y = x * 3\n"
        "z = y + 1\n"
        "z.add_(1)\n"
        "z.backward()\n",
        {},
        {"x": 3},
        id="a safe change in place",
        marks=pytest.mark.checklist(238),
    ),
    pytest.param(
        "x = torch.tensor(2.0, requires_grad=True)\n"
        "y = torch.tanh(x)\n"
        "z = y * y + x\n"
        "z.backward()\n",
        {"z": np.tanh(2.0) ** 2 + 2},
        {"x": 2 * np.tanh(2.0) * (1 - np.tanh(2.0) ** 2) + 1},
        id="a skip connection",
        marks=pytest.mark.checklist(256),
    ),
    pytest.param(
        "def power(a, n):\n    return a if n == 1 else a * power(a, n - 1)\n\n"
        "x = torch.tensor(2.0, requires_grad=True)\n"
        "y = power(x, 5) if x > 1 else x\n"
        "y.backward()\n",
        {"y": 32},
        {"x": 80},
        id="recursion",
        marks=pytest.mark.checklist(205),
    ),
    pytest.param(
        "x = torch.tensor(2.0, requires_grad=True)\n"
        "sgd = torch.optim.SGD([x], lr=0.1)\n"
        "(x**3).sub(x).div(1.375).backward()\n"
        "y = x**2\ny.backward()\nsgd.step()\nz = x * 1\n",
        {"z": 2 - 0.1 * (11 / 1.375 + 4)},
        {"x": 12},
        id="a first step with an old gradient",
        marks=pytest.mark.checklist(221),
    ),
]


@pytest.mark.parametrize(("source", "values", "gradients"), NUMBERS)
def test_values_and_gradients_stand_in_the_table(desk, source, values, gradients):
    desk.run("import torch\n" + source)
    assert desk.problem == ""
    for name, number in values.items():
        assert desk.value(name) == pytest.approx(number, abs=6e-5), name
    for name, number in gradients.items():
        assert desk.gradient(name) == pytest.approx(number, abs=6e-5), name


@pytest.mark.checklist(98, 99)
def test_forward_and_backward_are_stepped_through(desk):
    desk.run("import torch\n" + EXPRESSION)
    window = desk.window
    window.clock.reset()
    assert "L" not in desk.rows() or desk.rows()["L"][0] in ("", "…", "—")
    seen = []
    while window.session.view.position < len(desk.tape.events):
        window.clock.step()
        rows = desk.rows()
        for name in "xyzL":
            for side in (0, 1):
                text = rows.get(name, ("", ""))[side]
                if text and text[0].isdigit() and (name, side, text) not in seen:
                    seen.append((name, side, text))
    firsts = [(name, side) for name, side, _ in seen]
    assert ("L", 0, "20.0000") in seen
    assert {("x", 1, "4.0000"), ("y", 1, "4.0000"), ("z", 1, "5.0000")} <= set(seen)
    assert firsts.index(("L", 0)) < firsts.index(("x", 1))
    while window.session.view.position:
        window.clock.back()
    assert desk.rows().get("x", ("", "…"))[1] in ("…", "—", "")
    window.clock.to_end()


@pytest.mark.checklist(4)
def test_gradients_are_seen_before_the_step_and_each_run_has_a_graph_of_its_own(desk):
    source = (
        "import torch\n"
        "w = torch.tensor(1.0, requires_grad=True)\n"
        "sgd = torch.optim.SGD([w], lr=0.5)\n"
        "(3 * w).backward()\n"
        "sgd.step()\n"
    )
    desk.run(source)
    first = desk.session.result.shown_id
    while desk.value("w") != 1:
        desk.window.clock.back()
    assert desk.gradient("w") == 3
    desk.window.clock.to_end()
    assert desk.value("w") == -0.5
    desk.run(source.replace("(3 * w)", "(3 * w + w)"))
    assert desk.session.result.shown_id > first
    assert [card.symbol for card in desk.cards if card.kind in ("op", "loss")] == ["×", "+"]
    assert desk.gradient("w") == 4


@pytest.mark.checklist(3, 31, 44, 174, 225)
def test_only_what_is_tracked_is_in_the_backward_graph(desk):
    desk.run(
        "import torch\n"
        "x = torch.tensor(2.0, requires_grad=True)\n"
        "c = torch.tensor(3.0)\n"
        "d = c * 2\n"
        "y = x * d\n"
        "with torch.no_grad():\n    z = x * 5\ny.backward()\n"
    )
    assert [desk.card(name).cut for name in ("d", "y", "z")] == [True, False, True]
    assert [node.name for node in desk.tape.nodes] == ["MulBackward0"]
    assert (desk.gradient("x"), desk.rows()["z"][1]) == (6, desk.rows()["d"][1])


@pytest.mark.checklist(1, 8, 114)
def test_parameters_data_and_results_have_roles(desk):
    desk.run(
        "import torch\n"
        "from torch import nn\n"
        "x = torch.ones(4, 1)\n"
        "net = nn.Linear(1, 1)\n"
        "y = net(x)\n"
        "loss = y.mean()\n"
        "loss.backward()\n"
    )
    kinds = {card.title: card.kind for card in desk.cards}
    assert (kinds["x"], desk.card("loss").kind) == ("data", "loss")
    leaves = {leaf.name: leaf for leaf in desk.tape.leaves}
    assert {name for name in leaves if leaves[name].grad is not None} == {"net.weight", "net.bias"}
    rows = desk.rows()
    assert {"weight", "bias"} <= {name.rpartition(".")[2] for name in rows}
    assert [text for name, (_, text) in rows.items() if name == "x"] == ["—"]


@pytest.mark.checklist(35)
def test_a_conversion_is_a_card_of_its_own(desk):
    desk.run(
        "import torch\n"
        "x = torch.tensor(2.0, requires_grad=True)\n"
        "y = x.to(torch.float64)\n"
        "z = y * 3\n"
        "z.backward()\n"
    )
    assert desk.card("y").kind == "op"
    assert "ToCopyBackward0" in [node.name for node in desk.tape.nodes]
    assert desk.gradient("x") == 3


@pytest.mark.checklist(47, 142)
def test_a_change_in_place_raises_the_version(desk):
    desk.run("import torch\na = torch.tensor([1.0, 2.0])\na.add_(1)\na.mul_(10)\n")
    assert [card.mark for card in desk.cards if card.mark] == ["v1", "v2"]
    desk.select("a")
    a = torch.tensor([1.0, 2.0]).add_(1).mul_(10)
    last = desk.tape.snapshots[desk.look().cards[desk.session.view.selection].snapshot]
    np.testing.assert_array_equal(last.array(), a.numpy())


@pytest.mark.checklist(96, 213, 215, 217)
def test_wires_carry_local_derivatives_and_a_leaf_adds_its_shares_up(desk):
    desk.run(
        "import torch\n"
        "x = torch.tensor(3.0, requires_grad=True)\n"
        "y = x * 4\n"
        "z = x**2\n"
        "L = y + z\n"
        "L.backward()\n"
    )
    look = desk.look()
    leaf = next(card.key for card in desk.cards if card.title == "x")
    shares = [float(desk.tape.snapshots[share].array()) for share in look.cards[leaf].shares]
    assert sorted(shares) == [4, 6]
    assert desk.gradient("x") == 10
    factors = {wire.factor for key, wire in look.wires.items() if key.startswith(leaf)}
    assert any("4" in factor for factor in factors), factors
    assert any("6" in factor for factor in factors), factors


@pytest.mark.checklist(214)
def test_the_pass_begins_with_one(desk):
    desk.run("import torch\nx = torch.tensor(3.0, requires_grad=True)\nL = x * 2\nL.backward()\n")
    assert desk.gradient("L") == 1


@pytest.mark.checklist(166, 252)
def test_backward_nodes_have_torchs_names(desk):
    desk.run(
        "import torch\n"
        "x = torch.tensor(3.0, requires_grad=True)\n"
        "y = x**2\n"
        "z = y * x\n"
        "w = z + y\n"
        "w.backward()\n"
    )
    for name, expected in (("y", "PowBackward0"), ("z", "MulBackward0"), ("w", "AddBackward0")):
        assert desk.facts(name)["grad_fn"].startswith(expected), name


@pytest.mark.checklist(129)
def test_loops_and_conditions_change_the_graph(desk):
    source = (
        "import torch\n"
        "x = torch.tensor(1.5, requires_grad=True)\n"
        "y = x\n"
        "for _ in range({}):\n"
        "    y = y * x if y > 2 else y + x\n"
        "y.backward()\n"
    )
    for rounds in (1, 3):
        desk.run(source.format(rounds))
        x = torch.tensor(1.5, requires_grad=True)
        y, ops = x, []
        for _ in range(rounds):
            ops.append("MulBackward0" if y > 2 else "AddBackward0")
            y = y * x if y > 2 else y + x
        y.backward()
        shown = [node.name for node in desk.tape.nodes if node.name != "AccumulateGrad"]
        assert sorted(shown) == sorted(ops)
        assert desk.gradient("x") == pytest.approx(x.grad.item(), abs=1e-4)


@pytest.mark.checklist(56)
def test_a_class_with_a_sequential_inside_is_a_box(desk):
    desk.run(
        "import torch\n"
        "from torch import nn\n"
        "\n"
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.layers = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))\n"
        "\n"
        "    def forward(self, x):\n"
        "        return self.layers(x).squeeze(1)\n"
        "\n"
        "net = Net()\n"
        "loss = net(torch.ones(5, 3)).sum()\n"
        "loss.backward()\n"
    )
    desk.session.open_calls(frozenset())
    boxes = [card for card in desk.cards if card.kind == "module"]
    assert [card.title for card in boxes] == ["net: Net"]
    desk.session.open_calls(frozenset({boxes[0].key}))
    assert len(desk.window.presenter.picture.frames) == 1
    assert "layers: Sequential" in [card.title for card in desk.cards]


@pytest.mark.checklist(216)
def test_a_deep_network_folds(desk):
    desk.run(
        "import torch\n"
        "from torch import nn\n"
        "net = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in range(20)])\n"
        "loss = net(torch.ones(2, 4)).sum()\nloss.backward()\n"
    )
    desk.session.open_calls(frozenset())
    assert len(desk.tape.ops) > 40
    assert len(desk.cards) < 6


@pytest.mark.checklist(75)
def test_modes_and_recording_are_separate(desk):
    start = "import torch\nfrom torch import nn\nnet = nn.Linear(2, 1)\nx = torch.ones(1, 2)\n"
    desk.run(start + "net.eval()\nnet(x).sum().backward()\n")
    assert [leaf.name for leaf in desk.tape.leaves if leaf.grad is not None] == [
        "net.weight",
        "net.bias",
    ]
    desk.run(start + "net.train()\nwith torch.no_grad():\n    y = net(x)\n")
    assert desk.card("y").cut or all(
        card.cut for card in desk.cards if card.kind in ("op", "module", "loss")
    )
    assert not desk.tape.nodes


@pytest.mark.checklist(241, 242)
def test_a_loop_without_backward_holds_nothing_more_after_each_round(desk):
    source = (
        "import torch\n"
        "w = torch.ones(1000, requires_grad=True)\n"
        "for _ in range(4):\n"
        "    y = (w * w).sum()\n"
    )
    desk.run(source)
    held = desk.window.status.held.text()
    assert "kB" in held
    desk.run(source.replace("range(4)", "range(8)"))
    assert desk.window.status.held.text() == held
    desk.run(
        "import torch\n"
        "w = torch.ones(1000, requires_grad=True)\n"
        "for _ in range(8):\n"
        "    with torch.no_grad():\n"
        "        y = (w * w).sum()\n"
    )
    assert "kB" not in desk.window.status.held.text()


@pytest.mark.checklist(53)
def test_all_parameters_have_full_names_and_are_counted(desk):
    desk.run(
        "import torch\n"
        "from torch import nn\n"
        "net = nn.Sequential(nn.Linear(3, 16), nn.Sequential(nn.Linear(16, 8), nn.Linear(8, 1)))\n"
        "net(torch.ones(2, 3)).sum().backward()\n"
    )
    assert {leaf.name for leaf in desk.tape.leaves} >= {
        "net.0.weight",
        "net.1.0.weight",
        "net.1.1.bias",
    }
    assert "209" in desk.window.top.counts.text()
