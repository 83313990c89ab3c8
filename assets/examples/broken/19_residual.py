# A sum of unlike shapes
# The layer makes 2 columns of 3: they
# cannot be added to x.

torch.manual_seed(0)

x = torch.randn(4, 3, requires_grad=True)
layer = nn.Linear(3, 2)
nn.init.normal_(layer.weight, std=0.01)

plain = torch.tanh(layer(x)).sum()
(far,) = torch.autograd.grad(plain, x)

loss = (x + torch.tanh(layer(x))).sum()
loss.backward()

print(far.norm(), x.grad.norm())
