from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.graph.folding import origins
from gradscribe.playback.tape.index import Index
from gradscribe.playback.tape.scenes import scenes


def found(tape, what):
    index = Index(tape)
    return index, what(index, range(len(tape.ops)))


def test_what_only_makes_a_parameter_is_part_of_it(recorded):
    tape = recorded("w = param(torch.randn(3))\nv = (torch.randn(3) * 0.1).requires_grad_()")
    index, prepared = found(tape, origins.leaf_preparing_ops)
    assert sorted(prepared) == list(range(len(tape.ops)))
    titles = [origins.leaf_name(index, index.values[leaf]) for leaf in prepared.values()]
    assert set(titles) == {"w", "v"}


def test_what_a_parameter_copies_is_part_of_it(recorded):
    tape = recorded(
        "A, B = (nn.Parameter(torch.randn(2, 2) / 2) for _ in range(2))\ny = A @ B\n"
        "other = torch.zeros(2) + 1\ntorch.ones(3) * 2"
    )
    index, prepared = found(tape, origins.leaf_preparing_ops)
    assert [index.op(op).op for op in sorted(prepared)] == ["div", "div"]
    titles = {origins.leaf_name(index, index.values[leaf]) for leaf in prepared.values()}
    assert titles == {"A", "B"}


def test_what_has_a_name_of_its_own_stays(recorded):
    tape = recorded("data = torch.randn(3)\nw = (data * 0.1).requires_grad_()\ny = w * 2")
    assert found(tape, origins.leaf_preparing_ops)[1] == {}


def test_what_takes_part_in_the_graph_prepares_nothing(recorded):
    tape = recorded("a = param(2.0)\nb = a * 3\nc = b.detach().requires_grad_()\nd = c * 2")
    index, prepared = found(tape, origins.leaf_preparing_ops)
    assert all(index.op(op).op == "detach" for op in prepared)


def test_a_buffer_belongs_to_the_call_that_uses_it(recorded):
    tape = recorded(
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('mask', torch.ones(2, 2).tril() == 0)\n"
        "    def forward(self, x):\n        return x.masked_fill(self.mask, 0.0)\n"
        "net = Net()\ny = net(torch.ones(2, 2))"
    )
    index, adopted = found(tape, origins.buffer_creating_ops)
    assert [index.op(op).op for op in sorted(adopted)] == ["tril", "eq"]
    assert {tape.calls[call].name for call in adopted.values()} == {"net"}


def test_what_the_user_made_belongs_to_no_module(recorded):
    tape = recorded("net = nn.Linear(2, 2)\nx = torch.ones(1, 2) / 2\ny = net(x)")
    assert found(tape, origins.buffer_creating_ops)[1] == {}


def test_only_leaves_with_a_gradient_are_somebodys_own(recorded):
    tape = recorded("a = param(1.0)\nb = torch.ones(2)\nc = a * 2")
    own = {v.name: origins.is_trainable_leaf(v) for v in tape.values}
    assert own == {"a": True, "b": False, "c": False}


def test_a_deep_copy_is_called_after_its_source(recorded):
    tape = recorded(
        "import copy\nnets = [nn.Linear(2, 1, bias=False)]\n"
        'other = copy.deepcopy(nets[0]).to("meta")'
        "\nnets[0](torch.ones(2)).sum().backward()"
    )
    picture = build_picture(tape, scenes(tape)[0])
    titles = {card.title for card in picture.cards if card.kind == "parameter"}
    assert "copy of nets[0].weight" in titles


def test_what_leads_to_several_buffers_of_a_module_belongs_to_it_under_any_name(recorded):
    tape = recorded(
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        t = torch.zeros(2)\n        t[0] = 1.0\n"
        "        self.register_buffer('cos', t.cos())\n"
        "        self.register_buffer('sin', t.sin())\n"
        "    def forward(self, x):\n        return x * self.cos + x * self.sin\n"
        "net = Net()\ny = net(torch.ones(2))"
    )
    index, adopted = found(tape, origins.buffer_creating_ops)
    assert sorted(index.op(op).op for op in adopted) == ["cos", "setitem", "sin"]


def test_what_the_program_uses_itself_belongs_to_no_module(recorded):
    tape = recorded(
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('twice', t * 2)\n"
        "    def forward(self, x):\n        return x * self.twice\n"
        "t = torch.ones(2) + 1\nnet = Net()\ny = net(t)"
    )
    index, adopted = found(tape, origins.buffer_creating_ops)
    assert [index.op(op).op for op in adopted] == ["mul"]


def test_what_a_frozen_parameter_copies_is_part_of_it(recorded):
    tape = recorded(
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.mask = nn.Parameter(torch.ones(2, 2).tril(), requires_grad=False)\n"
        "    def forward(self, x):\n        return x * self.mask\n"
        "net = Net()\ny = net(torch.ones(2, 2))"
    )
    index, prepared = found(tape, origins.leaf_preparing_ops)
    assert [index.op(op).op for op in prepared] == ["tril"]
    assert {index.values[leaf].name for leaf in prepared.values()} == {"net.mask"}
