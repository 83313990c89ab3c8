# Without the copy
# exp needs its result for backward, and
# mul_ has changed it.

x = param([1.0, 2.0, 3.0])

y = x.exp()
z = y
z.mul_(2)
loss = z.sum()
loss.backward()

print(x.grad)
