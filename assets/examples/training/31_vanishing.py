# A gradient that vanishes
# Ten sigmoids: every layer takes most of
# it away.
# tags: vanishing gradient, sigmoid, deep
# tags: loop

x = param(0.5)
h = x
for layer in range(10):
    h = torch.sigmoid(h)
h.backward()

print(x.grad)
