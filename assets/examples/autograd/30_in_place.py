# Changed in place
# A copy keeps what backward needs.
# tags: in-place, version, clone
# tags: saved tensors

x = param([1.0, 2.0, 3.0])

y = x.exp()
z = y.clone()
z.mul_(2)
loss = z.sum()
loss.backward()

print(x.grad)
