# Scores far apart
# One probability is nearly 1, so all
# gradients are nearly 0.

scores = param([12.0, 1.0, 0.1])
truth = tensor([1.0, 0.0, 0.0])

p = scores.softmax(0)
loss = -(truth * p.log()).sum()
loss.backward()

print(scores.grad)
print((p - truth).detach())
