# Gradient accumulation
# Four small batches add up to the large
# one.
# tags: gradient accumulation, batches
# tags: zero_grad, nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
x = torch.randn(8, 3)
y = torch.randn(8, 1)

for part in range(4):
    rows = slice(2 * part, 2 * part + 2)
    out = net(x[rows])
    loss = F.mse_loss(out, y[rows])
    (loss / 4).backward()
small = net.weight.grad.clone()

net.zero_grad()
F.mse_loss(net(x), y).backward()
print(small - net.weight.grad)
