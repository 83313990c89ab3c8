# Where tanh is steep
# At 0 its slope is 1: the whole gradient
# comes back.

x = param(0.0)
h = x
for layer in range(10):
    h = torch.tanh(h)
h.backward()

print(x.grad)
