# A network of twins
# With equal weights all units get
# the same gradient for ever.

torch.manual_seed(0)

x = torch.randn(16, 2)
y = x.prod(dim=1, keepdim=True)

model = nn.Sequential(
    nn.Linear(2, 8),
    nn.Tanh(),
    nn.Linear(8, 1),
)

for p in model.parameters():
    nn.init.constant_(p, 0.5)

pred = model(x)
loss = F.mse_loss(pred, y)

loss.backward()
