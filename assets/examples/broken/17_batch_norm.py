# A batch of one
# One number has no spread to divide by:
# torch refuses.

torch.manual_seed(0)

norm = nn.BatchNorm1d(2)
x = torch.randn(1, 2) * 3 + 5

y = norm(x)
loss = (y * x).mean()
loss.backward()
print(norm.running_mean)

norm.eval()
print(norm(x).mean(0).detach())
