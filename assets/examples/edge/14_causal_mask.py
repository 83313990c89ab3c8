# A low number
# -10000 does what minus infinity does:
# the shares are 0.

torch.manual_seed(0)

scores = torch.randn(4, 4)
scores.requires_grad_()
later = torch.ones(4, 4).triu(1).bool()

low = -10000.0
masked = scores.masked_fill(later, low)
looks_at = masked.softmax(-1)
loss = looks_at.square().sum()
loss.backward()

print(looks_at.detach())
print(scores.grad)
