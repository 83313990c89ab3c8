# A gradient without a graph
# Without create_graph the first gradient
# is only a number.

x = param(2.0)
y = x**3

(first,) = torch.autograd.grad(
    y, x, retain_graph=True
)
(second,) = torch.autograd.grad(first, x)

print(first.item(), second.item())
