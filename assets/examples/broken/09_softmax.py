# The log of 0
# Too far apart, a probability is 0:
# its log is infinite.

scores = param([200.0, 1.0, 0.1])
truth = tensor([0.0, 1.0, 0.0])

p = scores.softmax(0)
loss = -(truth * p.log()).sum()
loss.backward()

print(scores.grad)
print((p - truth).detach())
