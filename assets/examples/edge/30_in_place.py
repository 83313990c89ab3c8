# Nothing was saved
# A sum needs no result for backward, so
# it may change.

x = param([1.0, 2.0, 3.0])

y = x + 1
z = y
z.mul_(2)
loss = z.sum()
loss.backward()

print(x.grad)
