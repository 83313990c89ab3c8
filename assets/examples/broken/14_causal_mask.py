# A row with nothing left
# All is masked: a softmax over nothing
# is not a number.

torch.manual_seed(0)

scores = torch.randn(4, 4)
scores.requires_grad_()
later = torch.ones(4, 4).bool()

low = -math.inf
masked = scores.masked_fill(later, low)
looks_at = masked.softmax(-1)
loss = looks_at.square().sum()
loss.backward()

print(looks_at.detach())
print(scores.grad)
