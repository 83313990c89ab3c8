"""Every construct of torch.nn and torch.optim: what the tape tells, compared with plain torch."""

import pytest

from gradscribe.engine.protocol import frames, messages
from gradscribe.engine.run.run import record
from tests.engine.mirror import gradient, mirror, ops

LAYERS = {
    "RNN": ("nn.RNN(3, 4, nonlinearity='relu')", "torch.randn(5, 2, 3)"),
    "LSTM": ("nn.LSTM(3, 4, bidirectional=True, num_layers=2)", "torch.randn(5, 2, 3)"),
    "GRU": ("nn.GRU(3, 4, batch_first=True)", "torch.randn(2, 5, 3)"),
    "Conv1d": ("nn.Conv1d(2, 3, 3, padding=1)", "torch.randn(1, 2, 6)"),
    "Conv2d": ("nn.Conv2d(2, 4, 3, stride=2, groups=2)", "torch.randn(1, 2, 7, 7)"),
    "ConvTranspose2d": ("nn.ConvTranspose2d(2, 1, 3)", "torch.randn(1, 2, 3, 3)"),
    "BatchNorm1d": ("nn.BatchNorm1d(3)", "torch.randn(6, 3)"),
    "LayerNorm": ("nn.LayerNorm(3)", "torch.randn(2, 3)"),
    "GroupNorm": ("nn.GroupNorm(2, 4)", "torch.randn(2, 4, 3)"),
    "Dropout": ("nn.Dropout(0.4)", "torch.randn(10, requires_grad=True)"),
    "MultiheadAttention": ("nn.MultiheadAttention(4, 2)", "*[torch.randn(3, 2, 4)] * 3"),
    "TransformerEncoder": (
        "nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2)",
        "torch.randn(3, 2, 4)",
    ),
    "Bilinear": ("nn.Bilinear(2, 3, 2)", "torch.randn(4, 2), torch.randn(4, 3)"),
    "PReLU": ("nn.PReLU()", "torch.randn(4)"),
    "Embedding": ("nn.Embedding(5, 2, padding_idx=0)", "tensor([[0, 2], [2, 4]])"),
    "EmbeddingBag": ("nn.EmbeddingBag(5, 2)", "tensor([[0, 2], [2, 4]])"),
    "LSTMCell": ("nn.LSTMCell(3, 2)", "torch.randn(1, 3)"),
    "Upsample": ("nn.Upsample(scale_factor=2)", "torch.randn(1, 1, 2, 2, requires_grad=True)"),
}


@pytest.mark.parametrize(("layer", "arguments"), LAYERS.values(), ids=LAYERS)
@pytest.mark.parametrize("mode", ["train", "eval"])
def test_layers_compute_as_ever(layer, arguments, mode):
    tape = mirror(
        f"layer = {layer}.{mode}()\nout = layer({arguments})\n"
        "out = out[0] if isinstance(out, tuple) else out\n(out * out).sum().backward()"
    )
    assert tape.calls[0].name == "layer"
    assert tape.calls[0].training == (mode == "train")


LOSSES = {
    "mse": "F.mse_loss(x, torch.zeros(3, 4))",
    "l1": "nn.L1Loss()(x, torch.ones(3, 4))",
    "huber": "nn.SmoothL1Loss()(x, torch.ones(3, 4))",
    "cross entropy": "nn.CrossEntropyLoss(label_smoothing=0.1)(x, tensor([0, 3, 1]))",
    "nll": "F.nll_loss(F.log_softmax(x, 1), tensor([0, 3, 1]))",
    "binary": "F.binary_cross_entropy_with_logits(x, torch.ones(3, 4))",
    "divergence": "F.kl_div(F.log_softmax(x, 1), torch.full((3, 4), 0.25), reduction='batchmean')",
    "cosine": "F.cosine_embedding_loss(x, torch.ones(3, 4), torch.ones(3))",
    "triplet": "F.triplet_margin_loss(x, x * 0.5, torch.ones(3, 4))",
}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_losses_compute_as_ever(loss):
    mirror(
        f"x = torch.randn(3, 4, requires_grad=True)\nloss = {loss}\nloss.backward()\nprint(loss)"
    )


def test_an_lstm_is_one_op_with_three_results_and_two_that_are_used():
    tape = mirror(
        "lstm = nn.LSTM(3, 4)\nout, (h, c) = lstm(torch.randn(5, 1, 3))\n"
        "(out.sum() + (h * c).sum()).backward()"
    )
    lstm = tape.ops[0]
    assert (lstm.op, lstm.scope, len(lstm.outputs)) == ("lstm", "lstm", 3)
    assert {v.name for v in tape.values if v.id in lstm.outputs} >= {"out"}
    assert len(lstm.nodes) > 1


def test_running_statistics_move_in_training_and_rest_in_evaluation():
    tape = mirror(
        "bn = nn.BatchNorm1d(2)\nx = torch.randn(4, 2) * 3\nbn(x)\n"
        "bn.eval()\ny = bn(x)\nprint(bn.running_mean, bn.num_batches_tracked)"
    )
    means = [v for v in tape.values if v.name == "bn.running_mean"]
    assert len({tape.snapshots[v.snapshot].data for v in means}) == 2
    assert means[0].role == "data"


def test_tied_weights_are_one_leaf_with_two_shares():
    tape = mirror(
        "class Tied(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.emb = nn.Embedding(5, 3)\n        self.out = nn.Linear(3, 5, bias=False)\n"
        "        self.out.weight = self.emb.weight\n"
        "    def forward(self, i):\n        return self.out(self.emb(i))\n"
        "net = Tied()\nnet(tensor([1, 3])).sum().backward()"
    )
    (leaf,) = tape.leaves
    assert leaf.name == "net.emb.weight"
    assert len([e for e in tape.edges if e.target == leaf.value]) == 2
    assert len(tape.accumulations) == 1


def test_scopes_follow_the_nesting_of_modules_and_containers():
    tape = mirror(
        "class Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.ways = nn.ModuleDict({'a': nn.Linear(2, 2), 'b': nn.Tanh()})\n"
        "    def forward(self, x):\n"
        "        for way in self.ways.values():\n            x = way(x)\n"
        "        return x + 1\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.blocks = nn.ModuleList([Block(), Block()])\n"
        "        self.scale = nn.Parameter(torch.ones(2))\n"
        "    def forward(self, x):\n"
        "        for b in self.blocks:\n            x = b(x) * self.scale\n"
        "        return x\nmodel = Net()\nmodel(torch.ones(1, 2)).sum().backward()"
    )
    assert [(o.op, o.scope) for o in tape.ops[:4]] == [
        ("linear", "model.blocks.0.ways.a"),
        ("tanh", "model.blocks.0.ways.b"),
        ("add", "model.blocks.0"),
        ("mul", "model"),
    ]
    assert {c.kind for c in tape.calls} == {"Net", "Block", "Linear", "Tanh"}
    scale = next(leaf for leaf in tape.leaves if leaf.name == "model.scale")
    assert len([e for e in tape.edges if e.target == scale.value]) == 2


def test_calling_forward_directly_leaves_the_scope_out():
    tape = mirror("net = nn.Linear(2, 1)\nnet.forward(torch.ones(1, 2)).sum().backward()")
    assert (tape.calls, tape.ops[0].scope) == ((), "")


def test_parametrized_weights_are_computed_in_their_own_scope():
    tape = mirror(
        "import torch.nn.utils.parametrize as P\nclass Sym(nn.Module):\n"
        "    def forward(self, w):\n        return w.triu() + w.triu(1).T\n"
        "layer = nn.Linear(2, 2)\nP.register_parametrization(layer, 'weight', Sym())\n"
        "layer(torch.ones(1, 2)).sum().backward()"
    )
    assert "triu" in ops(tape)
    assert gradient(tape, "layer.parametrizations.weight.original") is not None


OPTIMIZERS = {
    "SGD": "optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)",
    "Adam": "optim.Adam(p, lr=0.1, amsgrad=True)",
    "AdamW foreach": "optim.AdamW(p, foreach=True)",
    "Adam fused": "optim.Adam(p, fused=True)",
    "one by one": "optim.Adam(p, foreach=False)",
    "Adamax": "optim.Adamax(p)",
    "NAdam": "optim.NAdam(p)",
    "RAdam": "optim.RAdam(p)",
    "RMSprop": "optim.RMSprop(p, centered=True)",
    "Rprop": "optim.Rprop(p)",
    "Adadelta": "optim.Adadelta(p)",
    "Adagrad": "optim.Adagrad(p)",
    "ASGD": "optim.ASGD(p)",
    "Adafactor": "optim.Adafactor(p)",
    "LBFGS": "optim.LBFGS(p, lr=0.1, max_iter=3)",
    "SparseAdam": "optim.SparseAdam(list(emb.parameters()))",
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_optimizers_step_as_ever_and_tell_what_they_changed(optimizer):
    tape = mirror(
        "net, emb = nn.Linear(2, 1), nn.Embedding(3, 2, sparse=True)\np = list(net.parameters())\n"
        f"opt = {optimizer}\nfor _ in range(3):\n    def closure():\n        opt.zero_grad()\n"
        "        loss = net(emb(tensor([0, 2]))).pow(2).sum()\n        loss.backward()\n"
        "        return loss\n    print(opt.step(closure).item())"
    )
    assert len(tape.steps) == 3
    ids = {v.id: v for v in tape.values}
    for step in tape.steps:
        assert step.changes
        for change in step.changes:
            before, after = ids[change.before], ids[change.after]
            assert before.name == after.name
            assert tape.snapshots[before.snapshot].data != tape.snapshots[after.snapshot].data, (
                before.name
            )


def test_schedules_are_seen_in_the_steps():
    tape = mirror(
        "x = param(4.0)\nopt = optim.SGD([x], lr=1.0)\n"
        "sched = optim.lr_scheduler.ExponentialLR(opt, 0.5)\nfor _ in range(3):\n"
        "    opt.zero_grad()\n    (x**2).backward()\n    opt.step()\n    sched.step()\nprint(x)"
    )
    assert [s.lr for s in tape.steps] == [1.0, 0.5, 0.25]


def test_groups_clipping_and_accumulation_over_small_batches():
    tape = mirror(
        "net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))\n"
        "opt = optim.AdamW([{'params': net[0].parameters(), 'weight_decay': 0.1},\n"
        "    {'params': net[1].parameters(), 'lr': 0.5}], lr=0.1)\n"
        "for i in range(4):\n    (net(torch.full((3, 2), float(i))).mean() / 2).backward()\n"
        "    if i % 2:\n        print(nn.utils.clip_grad_norm_(net.parameters(), 0.1))\n"
        "        nn.utils.clip_grad_value_(net.parameters(), 0.05)\n"
        "        opt.step()\n        opt.zero_grad()"
    )
    assert len(tape.steps) == len(tape.resets) == 2
    assert len(tape.passes) == 4


def test_mixed_precision_with_a_scaler():
    tape = mirror(
        "net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))\n"
        "opt, scaler = optim.SGD(net.parameters(), lr=0.1), torch.amp.GradScaler('cpu')\n"
        "for _ in range(2):\n    opt.zero_grad()\n"
        "    with torch.autocast('cpu', dtype=torch.bfloat16):\n"
        "        out = net(torch.ones(3, 4))\n"
        "        loss = F.cross_entropy(out, tensor([0, 1, 1]))\n"
        "    print(out.dtype, loss.dtype)\n    scaler.scale(loss).backward()\n"
        "    scaler.unscale_(opt)\n    scaler.step(opt)\n    scaler.update()\n"
        "print(scaler.get_scale())"
    )
    made = {v.name: v.dtype for v in tape.values}
    assert (made["out"], made["loss"]) == ("bfloat16", "float32")
    assert len(tape.steps) == 2


def test_batches_from_a_loader():
    tape = mirror(
        "from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split\n"
        "class Squares(Dataset):\n    def __len__(self):\n        return 6\n"
        "    def __getitem__(self, i):\n        return tensor([float(i)]), tensor([float(i * i)])\n"
        "train, test = random_split(Squares(), [4, 2])\nnet = nn.Linear(1, 1)\n"
        "for xb, yb in DataLoader(train, batch_size=2, shuffle=True):\n"
        "    loss = F.mse_loss(net(xb), yb)\n    loss.backward()\n    print(xb.tolist())\n"
        "for (a,) in DataLoader(TensorDataset(torch.arange(4.0)), batch_size=3):\n    print(a)"
    )
    assert len(tape.passes) == 2
    for name in ("xb", "yb"):
        assert [v.shape for v in tape.values if v.name == name] == [(2, 1)] * 2


def test_saving_and_loading_a_model_and_its_optimizer():
    mirror(
        "import copy, io\nnet = nn.Linear(2, 1)\nopt = optim.Adam(net.parameters())\n"
        "net(torch.ones(1, 2)).sum().backward()\nopt.step()\nbuf = io.BytesIO()\n"
        "torch.save({'net': net.state_dict(), 'opt': opt.state_dict()}, buf)\nbuf.seek(0)\n"
        "kept = torch.load(buf)\nnet2 = nn.Linear(2, 1)\nprint(net2.load_state_dict(kept['net']))\n"
        "opt2 = optim.Adam(net2.parameters())\nopt2.load_state_dict(kept['opt'])\n"
        "ema = optim.swa_utils.AveragedModel(net)\nema.update_parameters(net)\n"
        "twin = copy.deepcopy(net)\nprint(twin.weight, twin.weight.grad, ema(torch.ones(1, 2)))"
    )


def test_a_target_network_that_follows_slowly():
    mirror(
        "policy, target = nn.Linear(2, 2), nn.Linear(2, 2)\n"
        "target.load_state_dict(policy.state_dict())\nopt = optim.AdamW(policy.parameters(), 0.1)\n"
        "for _ in range(2):\n    q = policy(torch.ones(3, 2)).gather(1, tensor([[0], [1], [0]]))\n"
        "    with torch.no_grad():\n        best = target(torch.ones(3, 2)).max(1).values\n"
        "    opt.zero_grad()\n    F.smooth_l1_loss(q, best.unsqueeze(1) * 0.9 + 1).backward()\n"
        "    opt.step()\n    state = target.state_dict()\n"
        "    for k, v in policy.state_dict().items():\n"
        "        state[k] = v * 0.1 + state[k] * 0.9\n    target.load_state_dict(state)"
    )


def test_distributions_and_a_policy_gradient():
    mirror(
        "from torch.distributions import Categorical, Normal, kl_divergence\n"
        "net = nn.Linear(2, 3)\nd = Categorical(logits=net(torch.ones(4, 2)))\na = d.sample()\n"
        "mu = param([0.5])\nz = Normal(mu, 1.0).rsample((3,))\n"
        "loss = -(d.log_prob(a) * torch.arange(4.0)).sum() - d.entropy().mean() + z.mean()\n"
        "(loss + kl_divergence(Normal(mu, 1.0), Normal(0.0, 2.0)).sum()).backward()\nprint(a, loss)"
    )


@pytest.mark.filterwarnings("ignore")
def test_ragged_tensors_are_attended_to_and_their_tape_travels():
    tape = mirror(
        "def work():\n"
        "    parts = [torch.randn(n, 4) for n in (2, 5, 3)]\n"
        "    ragged = torch.nested.nested_tensor(parts, layout=torch.jagged, requires_grad=True)\n"
        "    layer = nn.Linear(4, 4)\n"
        "    q = layer(ragged).unflatten(-1, (2, 2)).transpose(1, 2)\n"
        "    y = F.scaled_dot_product_attention(q, q, q).transpose(1, 2).flatten(-2)\n"
        "    y.values().sum().backward()\n"
        "    print(layer.weight.grad, ragged.grad.values())\n"
        "work()"
    )
    assert {"linear", "attention"} <= {op.op for op in tape.ops}
    # A size that differs from row to row is no number that could be told.
    assert all(type(size) is int for value in tape.values for size in value.shape)
    received = frames.MessageReader(messages.Reply).feed(
        b"".join(frames.encode_frames(messages.Recorded(1, tape, 0.0)))
    )
    assert next(iter(received)).tape == tape


def test_a_gradient_without_numbers_is_there_all_the_same():
    tape = record(
        "x = torch.empty(2, 3, device='meta', requires_grad=True)\nother = param(2.0)\n"
        "x.grad = torch.empty_like(x)"
    )
    leaves = {leaf.name: leaf for leaf in tape.leaves}
    gradient = tape.snapshots[leaves["x"].grad]
    assert (gradient.shape, gradient.dtype, gradient.data) == ((2, 3), "float32", None)
    assert leaves["other"].grad is None
