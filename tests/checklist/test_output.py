"""Programs of tutorials, run in the window: the output is that of plain Python, letter by letter."""

import pytest

from tests.checklist.desk import plain_output

row = pytest.mark.checklist

PRINTS = [
    pytest.param(
        "x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])\nlabels = torch.tensor([0, 1])\n"
        "print(x.shape)\nprint(x.dtype)\nprint(x.device)\nprint(labels.dtype, labels.shape)\nprint(x)\n",
        id="five lines about a tensor",
        marks=row(5, 253),
    ),
    pytest.param(
        "a = torch.zeros(2, 3, dtype=torch.float64)\nb = torch.arange(4)\n"
        "for t in (a, b, b > 1):\n    print(t.shape, t.dtype, t.device)\n",
        id="several dtypes",
        marks=row(19),
    ),
    pytest.param(
        "torch.manual_seed(3)\nmodel = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))\n"
        "optimizer = torch.optim.Adam(model.parameters(), lr=0.01)\nx, y = torch.randn(5, 3), torch.randn(5, 1)\n"
        "loss = nn.functional.mse_loss(model(x), y)\noptimizer.zero_grad()\nloss.backward()\noptimizer.step()\n"
        "print(float(loss))\n",
        id="a step of adam and float(loss)",
        marks=row(20),
    ),
    pytest.param(
        "import sys\nprint('a\\tb', 1e-30, [1, 2.5], end='|')\nprint()\nsys.stdout.write('x\\n')\nprint('é', {'k': (1,)})\n"
        "print(torch.tensor([1.5, float('nan'), float('inf')]))\nprint(f'{torch.tensor(2.0):.3f}')\n",
        id="prints of many kinds",
        marks=row(29),
    ),
    pytest.param(
        "houses = torch.tensor([[1400.0, 3.0, 20.0], [1600.0, 3.0, 15.0], [1700.0, 4.0, 18.0],"
        " [1875.0, 4.0, 5.0]])\nprices = torch.tensor([245.0, 312.0, 279.0, 308.0])\n"
        "print(houses.shape, prices.shape, houses.dtype, houses.requires_grad)\nprint(houses[0])\n",
        id="feature matrix",
    ),
    pytest.param(
        "x = torch.tensor([[1400.0, 3.0], [1600.0, 3.0], [1700.0, 4.0], [1875.0, 4.0]])\n"
        "z = (x - x.mean(dim=0)) / x.std(dim=0)\nprint(z)\nprint(z.mean(dim=0), z.std(dim=0))\n",
        id="normalized columns",
        marks=row(37),
    ),
    pytest.param(
        "w = torch.randn(2, requires_grad=True)\nx = torch.ones(2)\nprint(w.requires_grad, x.requires_grad)\n"
        "print((w * x).requires_grad, (x * 2).requires_grad)\n",
        id="who requires a gradient",
        marks=row(38),
    ),
    pytest.param(
        "size = torch.tensor([1400.0, 1600.0, 1700.0, 1875.0])\nprice = torch.tensor([245.0, 312.0, 279.0, 308.0])\n"
        "w = torch.zeros(1, requires_grad=True)\nb = torch.zeros(1, requires_grad=True)\n"
        "for epoch in range(6):\n    loss = ((w * size + b - price) ** 2).mean()\n    loss.backward()\n"
        "    with torch.no_grad():\n        w -= 1e-7 * w.grad\n        b -= 1e-7 * b.grad\n"
        "    if w.grad is not None:\n        w.grad.zero_()\n        b.grad.zero_()\n"
        "    print(f'{epoch + 1} {loss.item():10.2f} {w.item():.5f} {b.item():.6f}')\n"
        "with torch.no_grad():\n    print(f'{(w * 2000 + b).item():.1f}k')\n",
        id="regression by hand over six epochs",
        marks=row(45, 50),
    ),
    pytest.param(
        "class HousePriceNet(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1))\n"
        "    def forward(self, x):\n        return self.net(x).squeeze(1)\n\n"
        "torch.manual_seed(42)\nmodel = HousePriceNet()\nprint(model)\n"
        "print(sum(p.numel() for p in model.parameters()))\nx = torch.randn(200, 3)\n"
        "y = x @ torch.tensor([1.2, 0.5, -0.8]) + 0.1 * torch.randn(200)\n"
        "train, val = slice(0, 160), slice(160, 200)\n"
        "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n"
        "for epoch in range(1, 51):\n    model.train()\n    optimizer.zero_grad()\n"
        "    loss = nn.functional.mse_loss(model(x[train]), y[train])\n    loss.backward()\n    optimizer.step()\n"
        "    if epoch % 10 == 0:\n        model.eval()\n        with torch.no_grad():\n"
        "            held_out = nn.functional.mse_loss(model(x[val]), y[val])\n"
        "        print(epoch, f'{loss.item():.4f} {held_out.item():.4f}')\n"
        "with torch.no_grad():\n    print(f'{model(torch.tensor([[0.5, 0.3, -0.2]])).item():.4f}')\n",
        id="fifty epochs with validation and a prediction",
        marks=row(57, 59, 60, 63),
    ),
    pytest.param(
        "class Net(nn.Module):\n    def forward(self, x):\n        print('in', tuple(x.shape))\n        y = x * 2\n"
        "        print('out', y)\n        return y\n\nprint('before')\nNet()(torch.ones(2, 1).squeeze(1))\nprint('after')\n",
        id="prints in forward",
        marks=row(64, 66),
    ),
    pytest.param(
        "x = torch.ones(2, requires_grad=True)\na = x.detach().numpy()\nb = torch.from_numpy(a * 3)\nprint(a, a.dtype, b)\n",
        id="to numpy and back",
        marks=row(83, 192),
    ),
    pytest.param(
        "torch.manual_seed(42)\nfirst = torch.randn(3)\ntorch.manual_seed(42)\nprint(first, torch.equal(first, torch.randn(3)))\n",
        id="the seed repeats",
        marks=row(86),
    ),
    pytest.param(
        "torch.manual_seed(0)\nnet = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))\nx = torch.ones(1, 4)\nnet.eval()\n"
        "with torch.no_grad():\n    print(torch.equal(net(x), net(x)))\nnet.train()\nprint(torch.equal(net(x), net(x)))\n",
        id="dropout in train and eval",
        marks=row(87),
    ),
    pytest.param(
        "torch.manual_seed(42)\nx = torch.linspace(-2, 2, 100).unsqueeze(-1)\nprint(x.shape)\n"
        "y = 2 * x + 0.05 * torch.randn_like(x)\nmodel = nn.Linear(1, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nloss_fn = nn.MSELoss()\n"
        "for step in range(250):\n    prediction = model(x)\n    loss = loss_fn(prediction, y)\n"
        "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"
        "    if step % 50 == 0:\n        print(f'{step} {loss.item():.4f}')\n"
        "print(f'{model.weight.item():.4f} {model.bias.item():.4f}')\nprint([p.shape for p in model.parameters()])\n",
        id="250 steps of SGD on a line",
        marks=row(111, 112, 113, 115),
    ),
    pytest.param(
        "model = nn.Linear(2, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nscaler = torch.amp.GradScaler('cuda')\n"
        "with torch.autocast('cuda'):\n    loss = model(torch.ones(1, 2)).sum()\nscaler.scale(loss).backward()\n"
        "scaler.step(optimizer)\nscaler.update()\nprint(loss.dtype, scaler.is_enabled())\n",
        id="autocast and a scaler without CUDA",
        marks=row(120),
    ),
    pytest.param(
        "def f(x):\n    return torch.sin(x) ** 2 + torch.cos(x) ** 2\n\nx = torch.tensor([0.5, 1.0], requires_grad=True)\n"
        "fast = torch.compile(f, backend='eager')\nprint(torch.equal(f(x), fast(x)))\nfast(x).sum().backward()\nprint(x.grad)\n",
        id="torch.compile",
        marks=row(131),
    ),
    pytest.param(
        "print(torch.tensor([1, 2, 3]))\nprint(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))\nprint(torch.tensor(7))\n",
        id="from lists",
        marks=row(133),
    ),
    pytest.param(
        "import numpy as np\na = np.array([1.0, 2.0, 3.0])\nt = torch.from_numpy(a)\nt[0] = 9\nprint(a)\na[1] = 999\nprint(t)\n"
        "print(t.numpy() is a, t.dtype)\n",
        id="numpy shares memory",
        marks=row(134, 199),
    ),
    pytest.param(
        "x = torch.ones(2, 3, dtype=torch.float64)\nz = torch.zeros_like(x)\nprint(z.shape == x.shape, z.dtype, z)\n",
        id="zeros_like",
        marks=row(136),
    ),
    pytest.param("print(torch.linspace(0, 10, 5))\n", id="linspace", marks=row(137)),
    pytest.param(
        "x = torch.randn(2, 3)\nprint(x.shape, x.size(), x.dtype, x.device, x.requires_grad, x.is_contiguous())\n"
        "print(x.T.is_contiguous())\n",
        id="six attributes",
        marks=row(138),
    ),
    pytest.param(
        "for t in (torch.int32, torch.int64, torch.float32, torch.float64, torch.bool, torch.complex64):\n"
        "    print(torch.tensor([1, 0], dtype=t))\n",
        id="dtypes",
        marks=row(139, 186),
    ),
    pytest.param(
        "a, b = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0, 6.0])\n"
        "print(a + b)\nprint(a - b)\nprint(a * b)\nprint(a / b)\nprint(a**2)\n",
        id="element by element",
        marks=row(141),
    ),
    pytest.param(
        "x = torch.tensor([1.0, 4.0, 9.0])\nprint(x.sqrt())\nprint(x.exp())\nprint(x.log())\n",
        id="sqrt exp log",
        marks=row(143),
    ),
    pytest.param(
        "torch.manual_seed(1)\na, b = torch.randn(3, 4), torch.randn(4, 2)\n"
        "print(torch.equal(torch.matmul(a, b), a @ b), torch.equal(a @ b, torch.mm(a, b)), (a @ b).shape)\n"
        "print(torch.allclose(torch.einsum('ij,jk->ik', a, b), a @ b))\n",
        id="matmul, @, mm and einsum",
        marks=row(144, 148),
    ),
    pytest.param(
        "a, b = torch.randn(10, 3, 4), torch.randn(10, 4, 2)\nprint(torch.bmm(a, b).shape, (a @ b).shape)\n"
        "print(torch.allclose(torch.bmm(a, b)[3], a[3] @ b[3]))\n",
        id="products of batches",
        marks=row(145, 198),
    ),
    pytest.param(
        "print(torch.dot(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0, 6.0])))\n", id="dot", marks=row(146)
    ),
    pytest.param(
        "m = torch.arange(6).reshape(2, 3)\nprint(m.T)\nprint(torch.equal(m.T, m.transpose(0, 1)))\n",
        id="transposition",
        marks=row(147),
    ),
    pytest.param(
        "x = torch.arange(6)\nv = x.view(2, 3)\nr = x.reshape(3, 2)\nprint(v.data_ptr() == x.data_ptr(), r.data_ptr() == x.data_ptr())\n"
        "t = v.T.reshape(-1)\nprint(t.data_ptr() == x.data_ptr())\nv[0, 0] = 50\nprint(x)\n",
        id="what reshape copies",
        marks=row(153),
    ),
    pytest.param(
        "x = torch.zeros(1, 3, 1)\nprint(x.squeeze().shape, x.squeeze(0).shape, torch.zeros(3).unsqueeze(0).shape)\n",
        id="squeeze and unsqueeze",
        marks=row(154),
    ),
    pytest.param(
        "m = torch.arange(12).reshape(3, 4)\nprint(m[1])\nprint(m[:, 2])\nprint(m[0:2, 1:3])\nprint(m[m > 6])\nprint(m[[0, 2]])\n",
        id="indexing",
    ),
    pytest.param(
        "if torch.cuda.is_available():\n    print(torch.cuda.get_device_name(0), torch.cuda.device_count())\n"
        "else:\n    print('No GPU available')\nif torch.backends.mps.is_available():\n    print('mps')\n"
        "else:\n    print('no mps')\n",
        id="devices that are not there",
        marks=row(158, 159),
    ),
    pytest.param(
        "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\nx = torch.ones(2, device=device)\n"
        "model = nn.Linear(2, 1).to(device)\nprint(x.device == next(model.parameters()).device)\n",
        id="device at the top",
        marks=row(161, 202, 235),
    ),
    pytest.param(
        "if torch.cuda.device_count() > 1:\n    x = torch.ones(2, device='cuda:1')\nelse:\n    print('needs a second GPU')\n",
        id="a second GPU",
        marks=row(201),
    ),
    pytest.param(
        "import time\nn = 60\na = torch.randn(n, n)\na @ a\nstart = time.perf_counter()\na @ a\n"
        "print(time.perf_counter() - start > 0, (a @ a).shape)\n",
        id="a measured time",
    ),
    pytest.param(
        "torch.manual_seed(0)\nx = torch.linspace(0, 1, 40)\ny = 3 * x + 1.5 + 0.3 * torch.randn(40)\n"
        "w = torch.randn(1, requires_grad=True)\nb = torch.zeros(1, requires_grad=True)\n"
        "for epoch in range(100):\n    loss = ((w * x + b - y) ** 2).mean()\n    loss.backward()\n"
        "    with torch.no_grad():\n        w -= 0.1 * w.grad\n        b -= 0.1 * b.grad\n    w.grad.zero_()\n    b.grad.zero_()\n"
        "    if (epoch + 1) % 10 == 0:\n        print(f'{epoch + 1} {loss.item():.4f}')\nprint(f'{w.item():.4f} {b.item():.4f}')\n",
        id="linear regression from scratch",
        marks=row(176, 179),
    ),
    pytest.param("print('loss\\\\n', 'a\\\\tb')\n", id="a doubled backslash", marks=row(180)),
    pytest.param(
        "print(torch.tensor([1, 2]).dtype, torch.tensor([1.0]).dtype, torch.arange(0, 10, 2).dtype, torch.zeros(1).dtype)\n",
        id="what torch makes of numbers",
        marks=row(140, 184),
    ),
    pytest.param(
        "x = torch.arange(24)\nprint(x.view(4, 6).shape, x.reshape(6, -1).shape, x.view(2, 3, -1).shape)\n",
        id="-1",
        marks=row(189),
    ),
    pytest.param(
        "net = nn.Linear(3, 2)\nx = torch.ones(3)\nprint(net(x.unsqueeze(0)).shape, net(x).shape)\n",
        id="a batch of one",
        marks=row(191),
    ),
    pytest.param(
        "net = nn.Linear(3, 2)\nwith torch.no_grad():\n    y = net(torch.ones(1, 3))\nprint(y.requires_grad, y.numpy().shape)\n",
        id="evaluation",
        marks=row(193),
    ),
    pytest.param(
        "x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])\nx += y\ny *= 2\nprint(x, y)\n", id="in place", marks=row(195)
    ),
    pytest.param(
        "x = torch.arange(12.0).reshape(3, 4)\nprint(x + torch.tensor([10.0, 20.0, 30.0, 40.0]))\n", id="a bias", marks=row(196)
    ),
    pytest.param(
        "m = torch.tensor([[4.0, 7.0], [2.0, 6.0]])\nprint(m.trace(), torch.det(m))\nprint(torch.inverse(m))\nprint(m @ m.inverse())\n",
        id="trace and inverse",
        marks=row(197),
    ),
    pytest.param(
        "x = torch.ones(2)\nprint(x.requires_grad)\nx.requires_grad_()\nprint(x.requires_grad, (x * 2).requires_grad)\n"
        "with torch.no_grad():\n    print((x * 2).requires_grad)\n",
        id="requires_grad_",
        marks=row(206),
    ),
    pytest.param(
        "torch.manual_seed(1)\nX = torch.randn(50, 3)\nY = X @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.3\n"
        "W = torch.zeros(3, 1, requires_grad=True)\nb = torch.zeros(1, requires_grad=True)\nfor epoch in range(100):\n"
        "    loss = ((X @ W + b - Y) ** 2).mean()\n    loss.backward()\n    with torch.no_grad():\n"
        "        W -= 0.1 * W.grad\n        b -= 0.1 * b.grad\n        W.grad.zero_()\n        b.grad.zero_()\n"
        "    if epoch % 20 == 0:\n        print(epoch, f'{loss.item():.6f}')\nprint(W.detach().T, b)\n",
        id="training by hand",
        marks=row(233),
    ),
    pytest.param(
        "torch.manual_seed(0)\nlayer = nn.Linear(3, 2)\nx = torch.randn(4, 3)\nraw = x @ layer.weight.T + layer.bias\n"
        "print(torch.allclose(raw, layer(x)), (raw - layer(x)).abs().max() < 1e-6)\n",
        id="by hand and with nn",
        marks=row(248),
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
