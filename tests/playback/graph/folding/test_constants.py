"""Constants inside folded modules: masks, rotary tables, plain attributes, made in forward."""

import pytest

from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.layout.place import place
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.scenes import scenes

DEPTH = 12
GPT = """
def causal(n):
    m = torch.ones(n, n)
    return torch.triu(m, 1).bool()

class Attention(nn.Module):
    def __init__(self, d, h, n):
        super().__init__()
        self.qkv, self.proj, self.h = nn.Linear(d, 3 * d), nn.Linear(d, d), h
        {made}

    def forward(self, x{arg}):
        b, n, d = x.shape
        q, k, v = (t.view(b, n, self.h, -1).transpose(1, 2) for t in self.qkv(x).split(d, 2))
        a = q @ k.transpose(-2, -1) / (d // self.h) ** 0.5
        {used}
        return self.proj((a.softmax(-1) @ v).transpose(1, 2).reshape(b, n, d))

class Block(nn.Module):
    def __init__(self, d, h, n):
        super().__init__()
        self.norm, self.attend = nn.LayerNorm(d), Attention(d, h, n)
        self.feed = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x{arg}):
        x = x + self.attend(self.norm(x){arg})
        return x + self.feed(x)

class GPT(nn.Module):
    def __init__(self, words=10, d=8, h=2, n=6):
        super().__init__()
        self.embed = nn.Embedding(words, d)
        self.blocks = nn.ModuleList(Block(d, h, n) for _ in range({depth}))
        self.head = nn.Linear(d, words)
        {above}

    def forward(self, tokens):
        x = self.embed(tokens)
        {passed}
        for block in self.blocks:
            x = block(x{arg})
        return self.head(x)

net = GPT()
loss = F.cross_entropy(net(torch.randint(0, 10, (2, 6))).flatten(0, 1), torch.randint(0, 10, (12,)))
loss.backward()
"""
FILL = "a = a.masked_fill({}, -1e9)"
TRIL = "torch.tril(torch.ones(n, n))"
ROTARY = (
    "f = 1 / 10 ** (torch.arange(d // h) / d); t = torch.outer(torch.arange(n), f); "
    "self.register_buffer('cos', t.cos()); self.register_buffer('sin', t.sin())"
)
IN_BLOCKS = {
    "buffer": (f"self.register_buffer('mask', {TRIL})", FILL.format("self.mask[:n, :n] == 0")),
    "whole buffer": ("self.register_buffer('mask', causal(n))", FILL.format("self.mask")),
    "not persistent": (
        "self.register_buffer('bias', torch.triu(torch.full((n, n), -1e9), 1), persistent=False)",
        "a = a + self.bias",
    ),
    "attribute": (f"self.mask = {TRIL}", FILL.format("self.mask == 0")),
    "other first argument": ("me = self; me.mask = causal(n)", FILL.format("self.mask")),
    "in a dict": (f"self.masks = {{'causal': {TRIL}}}", FILL.format("self.masks['causal'] == 0")),
    "in a list": (f"self.masks = [{TRIL}]", FILL.format("self.masks[0] == 0")),
    "frozen": (
        f"self.mask = nn.Parameter({TRIL}, requires_grad=False)",
        FILL.format("self.mask == 0"),
    ),
    "changed in place": (
        "m = torch.zeros(n, n); m[causal(n)] = -1e9; self.register_buffer('mask', m)",
        "a = a + self.mask",
    ),
    "in place, attribute": (
        "m = torch.ones(n, n); m.tril_(); self.m = m",
        FILL.format("self.m == 0"),
    ),
    "rotary": (
        ROTARY,
        "a = (q * self.cos + q.flip(-1) * self.sin) @ k.transpose(-2, -1)",
    ),
    "scalar": ("self.scale = torch.tensor(0.5)", "a = a * self.scale"),
    "made in forward": ("pass", FILL.format("causal(n)")),
    "made once in forward": (
        "self.mask = None",
        "self.mask = causal(n) if self.mask is None else self.mask; " + FILL.format("self.mask"),
    ),
}  # fmt: skip
ABOVE = {
    "buffer": (f"self.register_buffer('mask', {TRIL})", "mask = self.mask[:6, :6] == 0"),
    "attribute": ("self.mask = causal(n)", "mask = self.mask[:6, :6]"),
    "made in forward": ("pass", "mask = causal(tokens.shape[1])"),
    "made of ops": ("pass", "mask = torch.ones(6, 6, dtype=torch.bool).tril()[None, None] == 0"),
}


def program(made="pass", used="pass", arg="", above="pass", passed="pass"):
    return GPT.format(
        made=made, used=used, arg=arg, above=above, passed=passed, depth=DEPTH
    )  # fmt: skip


def folded(tape, opened=None):
    """Return the picture of a tape, and its width as placed."""
    index = index_of(tape)
    picture = build_picture(index, scenes(index)[0], opened)
    return picture, place(picture).width


def with_blocks_listed(picture):
    """Return the keys that open the repeated blocks, each of them folded."""
    row = next(card.key for card in picture.cards if card.repeats == DEPTH)
    return frozenset([row, *(frame.key for frame in picture.frames)])


@pytest.fixture(scope="module")
def plain(recorded):
    """The widths of the GPT without masks, with its blocks in one card and in twelve."""
    picture, width = folded(recorded(program()))
    return width, folded(recorded(program()), with_blocks_listed(picture))[1]


@pytest.mark.parametrize("made", IN_BLOCKS)
def test_a_mask_in_each_block_makes_the_picture_no_wider(made, recorded, plain):
    tape = recorded(program(*IN_BLOCKS[made]))
    picture, width = folded(tape)
    assert width <= plain[0]
    assert folded(tape, with_blocks_listed(picture))[1] <= plain[1]


@pytest.mark.parametrize("made", ABOVE)
def test_a_mask_that_all_blocks_are_given_makes_the_picture_no_wider(made, recorded, plain):
    above, passed = ABOVE[made]
    tape = recorded(program("pass", FILL.format("mask"), ", mask", above, passed))
    picture, width = folded(tape)
    assert width <= plain[0]
    assert folded(tape, with_blocks_listed(picture))[1] <= plain[1]


def test_an_opened_block_shows_its_mask_again(recorded):
    picture, _ = folded(recorded(program(*IN_BLOCKS["attribute"])))
    opened = with_blocks_listed(picture)
    again = folded(recorded(program(*IN_BLOCKS["attribute"])), opened)[0]
    block = next(card.key for card in again.cards if card.key.startswith("call:net.blocks.3"))
    whole = {card.key for card in again.cards if card.kind == "module"}
    inner = folded(
        recorded(program(*IN_BLOCKS["attribute"])),
        opened | {block, "call:net.blocks.3.attend#0"},
    )[0]
    shown = {card.key for card in inner.cards} - whole
    assert any("tril" in key for key in shown)


MASKED = """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)
    def forward(self, x, m):
        return self.b(torch.tanh(self.a(x * m)) + x)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()
    def forward(self, x):
        {body}
net = Net()
y = net(torch.randn(2, 3)).sum()
"""


def titles(recorded, source, opened=frozenset(["call:net#0"])):
    return [card.title for card in folded(recorded(source), opened)[0].cards]


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("m = torch.rand(2, 3); return self.layer(x, m)", "m"),
        ("m = torch.ones(2, 3); return self.layer(x * m, m)", "m"),
        ("m = (x > 0).float(); return self.layer(x, m)", "float"),
        ("m = torch.ones(2, 3); return self.layer(m, m)", "m"),
    ],
    ids=["noise", "also used outside", "of the data", "the only input"],
)
def test_an_input_of_a_folded_module_stays_a_card(recorded, body, shown):
    assert titles(recorded, MASKED.format(body=body)).count(shown) == 1


def test_the_programs_own_input_stays_a_card(recorded):
    source = MASKED.format(body="return self.layer(x, torch.ones(2, 3))")
    source = source.replace("torch.randn(2, 3)", "x").replace(
        "net = ", "x = torch.zeros(2, 3)\nnet = "
    )
    assert titles(recorded, source)[0] == "x"
    assert "ones" not in titles(recorded, source)


def test_a_failed_call_has_the_mask_that_it_failed_with(recorded):
    body = "m = torch.zeros(2, 3); y = self.layer(x, m); return y @ m"
    picture = folded(recorded(MASKED.format(body=body)), frozenset(["call:net#0"]))[0]
    (wrong,) = (card.key for card in picture.cards if card.failed)
    sources = {wire.source for wire in picture.wires if wire.target == wrong}
    assert {"leaf:m", "call:net.layer#0"} <= sources


def test_lines_and_values_of_a_hidden_constant_lead_to_the_folded_module(recorded):
    tape = recorded(MASKED.format(body="m = torch.ones(2, 3) * 2; return self.layer(x, m)"))
    picture = folded(tape, frozenset(["call:net#0"]))[0]
    index = index_of(tape)
    made = next(value.id for value in index.tape.values if value.name == "m")
    assert picture.value_cards[made] == "call:net.layer#0"
    assert not [wire for wire in picture.wires if wire.value == made]


def test_an_input_that_requires_a_gradient_stays_a_card(recorded):
    source = MASKED.format(body="return self.layer(x, x)")
    source = source.replace("torch.randn(2, 3)", "x")
    source = source.replace("net = ", "x = torch.zeros(2, 3, requires_grad=True)\nnet = ")
    assert titles(recorded, source, frozenset())[0] == "x"


def test_modules_in_turn_that_fold_together_contain_their_parameters(recorded):
    source = (
        "net = nn.Sequential(*(nn.Sequential(nn.Linear(2, 2 + n % 2), nn.Tanh(), "
        "nn.Linear(2 + n % 2, 2)) for n in range(40)))\nnet(torch.ones(1, 2)).sum().backward()"
    )
    picture, width = folded(recorded(source))
    assert not [card for card in picture.cards if card.kind == "parameter"]
    assert width < 1000
    assert sum(len(card.leaves) for card in picture.cards) == 4 * 40
