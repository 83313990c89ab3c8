# Batch norm
# In training it uses the batch, later
# what it kept.
# tags: batch norm, normalization, train
# tags: eval, nn

torch.manual_seed(0)

norm = nn.BatchNorm1d(2)
x = torch.randn(8, 2) * 3 + 5

y = norm(x)
loss = (y * x).mean()
loss.backward()
print(norm.running_mean)

norm.eval()
print(norm(x).mean(0).detach())
