# A single example
# The mean of one gradient is that
# gradient.

from torch.func import grad, vmap

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
x, y = torch.randn(1, 3), torch.randn(1)


def loss_of(w, x, y):
    return (x @ w - y).square()


over = (None, 0, 0)
each = vmap(grad(loss_of), over)(w, x, y)

loss = (x @ w - y).square().mean()
loss.backward()

print(each.mean(0).detach() - w.grad)
