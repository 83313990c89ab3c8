# A causal mask
# No gradient comes back from what is
# masked.
# tags: attention, mask, transformer
# tags: sequence

torch.manual_seed(0)

scores = torch.randn(4, 4)
scores.requires_grad_()
later = torch.ones(4, 4).triu(1).bool()

low = -math.inf
masked = scores.masked_fill(later, low)
looks_at = masked.softmax(-1)
loss = looks_at.square().sum()
loss.backward()

print(looks_at.detach())
print(scores.grad)
