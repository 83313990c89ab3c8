# A two-layer network
# Each parameter gets a gradient
# of its own shape.
# tags: linear, tanh, layers, nn

torch.manual_seed(0)

x = torch.randn(16, 2)
y = x.prod(dim=1, keepdim=True)

model = nn.Sequential(
    nn.Linear(2, 8),
    nn.Tanh(),
    nn.Linear(8, 1),
)

pred = model(x)
loss = F.mse_loss(pred, y)

loss.backward()
