# The five-line training loop
# The printed loss falls in every round.
# tags: loop, optimizer, training, nn

torch.manual_seed(0)

x = torch.linspace(-1, 1, 32)[:, None]
y = x**2

model = nn.Sequential(
    nn.Linear(1, 8),
    nn.Tanh(),
    nn.Linear(8, 1),
)
parameters = model.parameters()
optimizer = optim.SGD(parameters, lr=0.1)

for step in range(10):
    optimizer.zero_grad()
    pred = model(x)
    loss = F.mse_loss(pred, y)
    loss.backward()
    optimizer.step()
    print(f"{step}: {loss.item():.4f}")
