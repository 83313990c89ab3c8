# Softmax and cross-entropy
# The gradient is the probability minus
# the truth.
# tags: softmax, cross-entropy
# tags: classification, loss

scores = param([2.0, 1.0, 0.1])
truth = tensor([1.0, 0.0, 0.0])

p = scores.softmax(0)
loss = -(truth * p.log()).sum()
loss.backward()

print(scores.grad)
print((p - truth).detach())
