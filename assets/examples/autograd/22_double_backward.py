# The gradient of a gradient
# Second derivative of a cube: 6 x.
# tags: double backward, create_graph
# tags: second derivative

x = param(2.0)
y = x**3

(first,) = torch.autograd.grad(
    y, x, create_graph=True
)
(second,) = torch.autograd.grad(first, x)

print(first.item(), second.item())
