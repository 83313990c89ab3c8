# At 0
# The cube is flat there: first and second
# derivative are 0.

x = param(0.0)
y = x**3

(first,) = torch.autograd.grad(
    y, x, create_graph=True
)
(second,) = torch.autograd.grad(first, x)

print(first.item(), second.item())
