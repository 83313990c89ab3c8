"""A program that goes from object to object by public names, and prints what it meets."""

REACH = """
from torch.utils.data import DataLoader, TensorDataset
from torch.optim.lr_scheduler import StepLR
import matplotlib.pyplot as plt
import contextlib, functools, json, copy, random, decimal
roots = []
def hook(*given): roots.append(given)
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): roots.append(ctx); ctx.save_for_backward(x); return x * 2
    @staticmethod
    def backward(ctx, g): roots.append(ctx); return g
class C:
    def __enter__(self): pass
    def __exit__(self, *given): roots.append(given); return True
x = param(1.0); y = x * 2; z = F.apply(y)
net = nn.Sequential(nn.Linear(1, 2), nn.Dropout(), nn.BatchNorm1d(2))
o = optim.Adam(net.parameters()); s = StepLR(o, 1)
handles = [x.register_hook(hook), x.register_post_accumulate_grad_hook(hook),
    y.grad_fn.register_hook(hook), y.grad_fn.register_prehook(hook),
    o.register_step_post_hook(hook), net.register_forward_hook(hook),
    net.register_forward_pre_hook(hook)]
out = net(torch.ones(3, 1)); out.sum().backward(); o.step(); s.step(); z.backward()
with C(): torch.ones(2) + torch.ones(3)
with torch.autograd.graph.saved_tensors_hooks(lambda t: (roots.append(t), t)[1], lambda t: t): x * x
it = iter(DataLoader(TensorDataset(torch.ones(4, 1)), batch_size=2)); next(it)
roots += [x, y, z, net, o, s, handles, it, plt.figure(), plt.plot([1, 2]), torch.Generator(), out,
    out.grad_fn, print, param, torch, nn, optim, F, np, math, functools, contextlib, json, copy,
    random, plt, decimal, getattr]
LEFT_OUT = ("H", "T", "mT", "mH", "names", "imag", "grad", "saved_variables")
seen, met = set(), set()
todo = [(one, 0) for one in roots]
while todo:
    one, depth = todo.pop(0)
    if isinstance(one, (int, float, str, bytes, bool, complex)) or one is None or id(one) in seen:
        continue
    seen.add(id(one)); roots.append(one)
    try: kind = str(one if isinstance(one, type) else type(one))
    except Exception: continue
    if "engine." in kind and kind not in met: met.add(kind); print(kind)
    if isinstance(one, dict):
        todo += [(part, depth + 1) for pair in list(one.items())[:100] for part in pair]
    elif isinstance(one, (list, tuple, set, frozenset)):
        todo += [(part, depth + 1) for part in list(one)[:50]]
    if depth > 6 or (isinstance(one, torch.Tensor) and depth): continue
    try: names = dir(one)
    except Exception: continue
    for name in names:
        if name[:2] == "__" or name in LEFT_OUT: continue
        try: todo.append((getattr(one, name), depth + 1))
        except Exception: pass
print(len(seen) > 1000)
"""
MAY_BE_MET = ("gradscribe.engine.sandbox.policy.",)
"""Objects that a program is given on purpose: narrow twins, and plots that are its own."""
