"""Programs of tutorials, run in the window: the output is that of plain Python."""

import pytest

from tests.checklist.desk import plain_output

pytestmark = pytest.mark.e2e

PRINTS = [
    pytest.param(
        "x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])\nlabels = torch.tensor([0, 1])\n"
        "print(x.shape)\n"
        "print(x.dtype)\n"
        "print(x.device)\n"
        "print(labels.dtype, labels.shape)\n"
        "print(x)\n",
        id="five lines about a tensor",
        marks=pytest.mark.checklist(5, 253),
    ),
    pytest.param(
        "a = torch.zeros(2, 3, dtype=torch.float64)\nb = torch.arange(4)\n"
        "for t in (a, b, b > 1):\n    print(t.shape, t.dtype, t.device)\n",
        id="several dtypes",
        marks=pytest.mark.checklist(19),
    ),
    pytest.param(
        "torch.manual_seed(3)\n"
        "model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))\n"
        "optimizer = torch.optim.Adam(model.parameters(), lr=0.01)\n"
        "x, y = torch.randn(5, 3), torch.randn(5, 1)\n"
        "loss = nn.functional.mse_loss(model(x), y)\n"
        "optimizer.zero_grad()\n"
        "loss.backward()\n"
        "optimizer.step()\n"
        "print(float(loss))\n",
        id="a step of adam and float(loss)",
        marks=pytest.mark.checklist(20),
    ),
    pytest.param(
        "import sys\n"
        "print('a\\tb', 1e-30, [1, 2.5], end='|')\n"
        "print()\n"
        "sys.stdout.write('x\\n')\n"
        "print('é', {'k': (1,)})\n"
        "print(torch.tensor([1.5, float('nan'), float('inf')]))\n"
        "print(f'{torch.tensor(2.0):.3f}')\n",
        id="prints of many kinds",
        marks=pytest.mark.checklist(29),
    ),
    pytest.param(
        "houses = torch.tensor([[1400.0, 3.0, 20.0], [1600.0, 3.0, 15.0], [1700.0, 4.0, 18.0],"
        " [1875.0, 4.0, 5.0]])\nprices = torch.tensor([245.0, 312.0, 279.0, 308.0])\n"
        "print(houses.shape, prices.shape, houses.dtype, houses.requires_grad)\n"
        "print(houses[0])\n",
        id="feature matrix",
    ),
    pytest.param(
        "x = torch.tensor([[1400.0, 3.0], [1600.0, 3.0], [1700.0, 4.0], [1875.0, 4.0]])\n"
        "z = (x - x.mean(dim=0)) / x.std(dim=0)\n"
        "print(z)\n"
        "print(z.mean(dim=0), z.std(dim=0))\n",
        id="normalized columns",
        marks=pytest.mark.checklist(37),
    ),
    pytest.param(
        "w = torch.randn(2, requires_grad=True)\n"
        "x = torch.ones(2)\n"
        "print(w.requires_grad, x.requires_grad)\n"
        "print((w * x).requires_grad, (x * 2).requires_grad)\n",
        id="who requires a gradient",
        marks=pytest.mark.checklist(38),
    ),
    pytest.param(
        "size = torch.tensor([1400.0, 1600.0, 1700.0, 1875.0])\n"
        "price = torch.tensor([245.0, 312.0, 279.0, 308.0])\n"
        "w = torch.zeros(1, requires_grad=True)\nb = torch.zeros(1, requires_grad=True)\n"
        "for epoch in range(6):\n"
        "    loss = ((w * size + b - price) ** 2).mean()\n"
        "    loss.backward()\n"
        "    with torch.no_grad():\n"
        "        w -= 1e-7 * w.grad\n"
        "        b -= 1e-7 * b.grad\n"
        "    if w.grad is not None:\n        w.grad.zero_()\n        b.grad.zero_()\n"
        "    print(f'{epoch + 1} {loss.item():10.2f} {w.item():.5f} {b.item():.6f}')\n"
        "with torch.no_grad():\n    print(f'{(w * 2000 + b).item():.1f}k')\n",
        id="regression by hand over six epochs",
        marks=pytest.mark.checklist(45, 50),
    ),
    pytest.param(
        "class HousePriceNet(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(),\n"
        "            nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1))\n"
        "    def forward(self, x):\n        return self.net(x).squeeze(1)\n\n"
        "torch.manual_seed(42)\nmodel = HousePriceNet()\nprint(model)\n"
        "print(sum(p.numel() for p in model.parameters()))\nx = torch.randn(200, 3)\n"
        "y = x @ torch.tensor([1.2, 0.5, -0.8]) + 0.1 * torch.randn(200)\n"
        "train, val = slice(0, 160), slice(160, 200)\n"
        "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n"
        "for epoch in range(1, 51):\n    model.train()\n    optimizer.zero_grad()\n"
        "    loss = nn.functional.mse_loss(model(x[train]), y[train])\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "    if epoch % 10 == 0:\n        model.eval()\n        with torch.no_grad():\n"
        "            held_out = nn.functional.mse_loss(model(x[val]), y[val])\n"
        "        print(epoch, f'{loss.item():.4f} {held_out.item():.4f}')\n"
        "with torch.no_grad():\n"
        "    print(f'{model(torch.tensor([[0.5, 0.3, -0.2]])).item():.4f}')\n",
        id="fifty epochs with validation and a prediction",
        marks=pytest.mark.checklist(57, 59, 60, 63),
    ),
    pytest.param(
        "class Net(nn.Module):\n"
        "    def forward(self, x):\n"
        "        print('in', tuple(x.shape))\n"
        "        y = x * 2\n"
        "        print('out', y)\n"
        "        return y\n"
        "\n"
        "print('before')\n"
        "Net()(torch.ones(2, 1).squeeze(1))\n"
        "print('after')\n",
        id="prints in forward",
        marks=pytest.mark.checklist(64, 66),
    ),
    pytest.param(
        "x = torch.ones(2, requires_grad=True)\n"
        "a = x.detach().numpy()\n"
        "b = torch.from_numpy(a * 3)\n"
        "print(a, a.dtype, b)\n",
        id="to numpy and back",
        marks=pytest.mark.checklist(83, 192),
    ),
    pytest.param(
        "torch.manual_seed(42)\n"
        "first = torch.randn(3)\n"
        "torch.manual_seed(42)\n"
        "print(first, torch.equal(first, torch.randn(3)))\n",
        id="the seed repeats",
        marks=pytest.mark.checklist(86),
    ),
    pytest.param(
        "torch.manual_seed(0)\n"
        "net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))\n"
        "x = torch.ones(1, 4)\n"
        "net.eval()\n"
        "with torch.no_grad():\n"
        "    print(torch.equal(net(x), net(x)))\n"
        "net.train()\n"
        "print(torch.equal(net(x), net(x)))\n",
        id="dropout in train and eval",
        marks=pytest.mark.checklist(87),
    ),
    pytest.param(
        "torch.manual_seed(42)\n"
        "x = torch.linspace(-2, 2, 100).unsqueeze(-1)\n"
        "print(x.shape)\n"
        "y = 2 * x + 0.05 * torch.randn_like(x)\nmodel = nn.Linear(1, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "loss_fn = nn.MSELoss()\n"
        "for step in range(250):\n"
        "    prediction = model(x)\n"
        "    loss = loss_fn(prediction, y)\n"
        "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"
        "    if step % 50 == 0:\n        print(f'{step} {loss.item():.4f}')\n"
        "print(f'{model.weight.item():.4f} {model.bias.item():.4f}')\n"
        "print([p.shape for p in model.parameters()])\n",
        id="250 steps of SGD on a line",
        marks=pytest.mark.checklist(111, 112, 113, 115),
    ),
    pytest.param(
        "model = nn.Linear(2, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "scaler = torch.amp.GradScaler('cuda')\n"
        "with torch.autocast('cuda'):\n"
        "    loss = model(torch.ones(1, 2)).sum()\n"
        "scaler.scale(loss).backward()\n"
        "scaler.step(optimizer)\n"
        "scaler.update()\n"
        "print(loss.dtype, scaler.is_enabled())\n",
        id="autocast and a scaler without CUDA",
        marks=pytest.mark.checklist(120),
    ),
    pytest.param(
        "def f(x):\n"
        "    return torch.sin(x) ** 2 + torch.cos(x) ** 2\n"
        "\n"
        "x = torch.tensor([0.5, 1.0], requires_grad=True)\n"
        "fast = torch.compile(f, backend='eager')\n"
        "print(torch.equal(f(x), fast(x)))\n"
        "fast(x).sum().backward()\n"
        "print(x.grad)\n",
        id="torch.compile",
        marks=pytest.mark.checklist(131),
    ),
    pytest.param(
        "print(torch.tensor([1, 2, 3]))\n"
        "print(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))\n"
        "print(torch.tensor(7))\n",
        id="from lists",
        marks=pytest.mark.checklist(133),
    ),
    pytest.param(
        "import numpy as np\n"
        "a = np.array([1.0, 2.0, 3.0])\n"
        "t = torch.from_numpy(a)\n"
        "t[0] = 9\n"
        "print(a)\n"
        "a[1] = 999\n"
        "print(t)\n"
        "print(t.numpy() is a, t.dtype)\n",
        id="numpy shares memory",
        marks=pytest.mark.checklist(134, 199),
    ),
    pytest.param(
        "x = torch.ones(2, 3, dtype=torch.float64)\n"
        "z = torch.zeros_like(x)\n"
        "print(z.shape == x.shape, z.dtype, z)\n",
        id="zeros_like",
        marks=pytest.mark.checklist(136),
    ),
    pytest.param(
        "print(torch.linspace(0, 10, 5))\n", id="linspace", marks=pytest.mark.checklist(137)
    ),
    pytest.param(
        "x = torch.randn(2, 3)\n"
        "print(x.shape, x.size(), x.dtype, x.device, x.requires_grad, x.is_contiguous())\n"
        "print(x.T.is_contiguous())\n",
        id="six attributes",
        marks=pytest.mark.checklist(138),
    ),
    pytest.param(
        "whole, real = (torch.int32, torch.int64), (torch.float32, torch.float64)\n"
        "for t in (*whole, *real, torch.bool, torch.complex64):\n"
        "    print(torch.tensor([1, 0], dtype=t))\n",
        id="dtypes",
        marks=pytest.mark.checklist(139, 186),
    ),
    pytest.param(
        "a, b = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0, 6.0])\n"
        "print(a + b)\nprint(a - b)\nprint(a * b)\nprint(a / b)\nprint(a**2)\n",
        id="element by element",
        marks=pytest.mark.checklist(141),
    ),
    pytest.param(
        "x = torch.tensor([1.0, 4.0, 9.0])\nprint(x.sqrt())\nprint(x.exp())\nprint(x.log())\n",
        id="sqrt exp log",
        marks=pytest.mark.checklist(143),
    ),
    pytest.param(
        "torch.manual_seed(1)\na, b = torch.randn(3, 4), torch.randn(4, 2)\n"
        "print(torch.equal(torch.matmul(a, b), a @ b), torch.equal(a @ b, torch.mm(a, b)))\n"
        "print(torch.allclose(torch.einsum('ij,jk->ik', a, b), a @ b))\n",
        id="matmul, @, mm and einsum",
        marks=pytest.mark.checklist(144, 148),
    ),
    pytest.param(
        "a, b = torch.randn(10, 3, 4), torch.randn(10, 4, 2)\n"
        "print(torch.bmm(a, b).shape, (a @ b).shape)\n"
        "print(torch.allclose(torch.bmm(a, b)[3], a[3] @ b[3]))\n",
        id="products of batches",
        marks=pytest.mark.checklist(145, 198),
    ),
    pytest.param(
        "print(torch.dot(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0, 6.0])))\n",
        id="dot",
        marks=pytest.mark.checklist(146),
    ),
    pytest.param(
        "m = torch.arange(6).reshape(2, 3)\n"
        "print(m.T)\n"
        "print(torch.equal(m.T, m.transpose(0, 1)))\n",
        id="transposition",
        marks=pytest.mark.checklist(147),
    ),
    pytest.param(
        "x = torch.arange(6)\n"
        "v = x.view(2, 3)\n"
        "r = x.reshape(3, 2)\n"
        "print(v.data_ptr() == x.data_ptr(), r.data_ptr() == x.data_ptr())\n"
        "t = v.T.reshape(-1)\n"
        "print(t.data_ptr() == x.data_ptr())\n"
        "v[0, 0] = 50\n"
        "print(x)\n",
        id="what reshape copies",
        marks=pytest.mark.checklist(153),
    ),
    pytest.param(
        "x = torch.zeros(1, 3, 1)\n"
        "print(x.squeeze().shape, x.squeeze(0).shape, torch.zeros(3).unsqueeze(0).shape)\n",
        id="squeeze and unsqueeze",
        marks=pytest.mark.checklist(154),
    ),
    pytest.param(
        "m = torch.arange(12).reshape(3, 4)\n"
        "print(m[1])\n"
        "print(m[:, 2])\n"
        "print(m[0:2, 1:3])\n"
        "print(m[m > 6])\n"
        "print(m[[0, 2]])\n",
        id="indexing",
    ),
    pytest.param(
        "if torch.cuda.is_available():\n"
        "    print(torch.cuda.get_device_name(0), torch.cuda.device_count())\n"
        "else:\n"
        "    print('No GPU available')\n"
        "if torch.backends.mps.is_available():\n"
        "    print('mps')\n"
        "else:\n    print('no mps')\n",
        id="devices that are not there",
        marks=pytest.mark.checklist(158, 159),
    ),
    pytest.param(
        "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
        "x = torch.ones(2, device=device)\n"
        "model = nn.Linear(2, 1).to(device)\n"
        "print(x.device == next(model.parameters()).device)\n",
        id="device at the top",
        marks=pytest.mark.checklist(161, 202, 235),
    ),
    pytest.param(
        "if torch.cuda.device_count() > 1:\n"
        "    x = torch.ones(2, device='cuda:1')\n"
        "else:\n"
        "    print('needs a second GPU')\n",
        id="a second GPU",
        marks=pytest.mark.checklist(201),
    ),
    pytest.param(
        "import time\n"
        "n = 60\n"
        "a = torch.randn(n, n)\n"
        "a @ a\n"
        "start = time.perf_counter()\n"
        "a @ a\n"
        "print(time.perf_counter() - start > 0, (a @ a).shape)\n",
        id="a measured time",
    ),
    pytest.param(
        "torch.manual_seed(0)\n"
        "x = torch.linspace(0, 1, 40)\n"
        "y = 3 * x + 1.5 + 0.3 * torch.randn(40)\n"
        "w = torch.randn(1, requires_grad=True)\nb = torch.zeros(1, requires_grad=True)\n"
        "for epoch in range(100):\n"
        "    loss = ((w * x + b - y) ** 2).mean()\n"
        "    loss.backward()\n"
        "    with torch.no_grad():\n"
        "        w -= 0.1 * w.grad\n"
        "        b -= 0.1 * b.grad\n"
        "    w.grad.zero_()\n"
        "    b.grad.zero_()\n"
        "    if (epoch + 1) % 10 == 0:\n"
        "        print(f'{epoch + 1} {loss.item():.4f}')\n"
        "print(f'{w.item():.4f} {b.item():.4f}')\n",
        id="linear regression from scratch",
        marks=pytest.mark.checklist(176, 179),
    ),
    pytest.param(
        "print('loss\\\\n', 'a\\\\tb')\n",
        id="a doubled backslash",
        marks=pytest.mark.checklist(180),
    ),
    pytest.param(
        "print(torch.tensor([1, 2]).dtype, torch.tensor([1.0]).dtype)\n"
        "print(torch.arange(0, 10, 2).dtype, torch.zeros(1).dtype)\n",
        id="what torch makes of numbers",
        marks=pytest.mark.checklist(140, 184),
    ),
    pytest.param(
        "x = torch.arange(24)\n"
        "print(x.view(4, 6).shape, x.reshape(6, -1).shape, x.view(2, 3, -1).shape)\n",
        id="-1",
        marks=pytest.mark.checklist(189),
    ),
    pytest.param(
        "net = nn.Linear(3, 2)\n"
        "x = torch.ones(3)\n"
        "print(net(x.unsqueeze(0)).shape, net(x).shape)\n",
        id="a batch of one",
        marks=pytest.mark.checklist(191),
    ),
    pytest.param(
        "net = nn.Linear(3, 2)\n"
        "with torch.no_grad():\n"
        "    y = net(torch.ones(1, 3))\n"
        "print(y.requires_grad, y.numpy().shape)\n",
        id="evaluation",
        marks=pytest.mark.checklist(193),
    ),
    pytest.param(
        "x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])\nx += y\ny *= 2\nprint(x, y)\n",
        id="in place",
        marks=pytest.mark.checklist(195),
    ),
    pytest.param(
        "x = torch.arange(12.0).reshape(3, 4)\nprint(x + torch.tensor([10.0, 20.0, 30.0, 40.0]))\n",
        id="a bias",
        marks=pytest.mark.checklist(196),
    ),
    pytest.param(
        "m = torch.tensor([[4.0, 7.0], [2.0, 6.0]])\n"
        "print(m.trace(), torch.det(m))\n"
        "print(torch.inverse(m))\n"
        "print(m @ m.inverse())\n",
        id="trace and inverse",
        marks=pytest.mark.checklist(197),
    ),
    pytest.param(
        "x = torch.ones(2)\n"
        "print(x.requires_grad)\n"
        "x.requires_grad_()\n"
        "print(x.requires_grad, (x * 2).requires_grad)\n"
        "with torch.no_grad():\n    print((x * 2).requires_grad)\n",
        id="requires_grad_",
        marks=pytest.mark.checklist(206),
    ),
    pytest.param(
        "torch.manual_seed(1)\n"
        "X = torch.randn(50, 3)\n"
        "Y = X @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.3\n"
        "W = torch.zeros(3, 1, requires_grad=True)\n"
        "b = torch.zeros(1, requires_grad=True)\n"
        "for epoch in range(100):\n"
        "    loss = ((X @ W + b - Y) ** 2).mean()\n"
        "    loss.backward()\n"
        "    with torch.no_grad():\n"
        "        W -= 0.1 * W.grad\n"
        "        b -= 0.1 * b.grad\n"
        "        W.grad.zero_()\n"
        "        b.grad.zero_()\n"
        "    if epoch % 20 == 0:\n"
        "        print(epoch, f'{loss.item():.6f}')\n"
        "print(W.detach().T, b)\n",
        id="training by hand",
        marks=pytest.mark.checklist(233),
    ),
    pytest.param(
        "torch.manual_seed(0)\n"
        "layer = nn.Linear(3, 2)\n"
        "x = torch.randn(4, 3)\n"
        "raw = x @ layer.weight.T + layer.bias\n"
        "print(torch.allclose(raw, layer(x)), (raw - layer(x)).abs().max() < 1e-6)\n",
        id="by hand and with nn",
        marks=pytest.mark.checklist(248),
    ),
]

BEGINNING = "import torch\nfrom torch import nn\n"
LINE = "----- next program -----\n"


@pytest.fixture(scope="module")
def outputs(shared_desk):
    """Run all programs one after the other in one run; return program -> output here, in Python."""
    sources = [param.values[0] for param in PRINTS]
    whole = BEGINNING + f"print({LINE[:-1]!r})\n".join(sources)
    shared_desk.run(whole)
    assert shared_desk.problem == ""
    shown, plain = shared_desk.output.split(LINE), plain_output(whole).split(LINE)
    return dict(zip(sources, zip(shown, plain, strict=True), strict=True))


@pytest.mark.parametrize("source", PRINTS)
def test_the_output_is_that_of_plain_python(outputs, source, qapp):
    shown, plain = outputs[source]
    assert plain
    assert shown == plain
