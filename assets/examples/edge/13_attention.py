# Two words
# Each has a share, and the other has
# what is left of 1.

torch.manual_seed(0)

words = torch.randn(2, 3)
wq, wk, wv = (
    torch.randn(3, 3, requires_grad=True)
    for _ in range(3)
)

q, k = words @ wq, words @ wk
v = words @ wv
scores = q @ k.T / math.sqrt(3)
looks_at = scores.softmax(-1)
out = looks_at @ v

loss = out.square().mean()
loss.backward()

print(looks_at.detach())
