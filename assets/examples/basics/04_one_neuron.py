# One neuron
# tanh lets little gradient through
# where it is flat.
# tags: neuron, tanh, chain rule

x1, x2 = tensor(2.0), tensor(0.0)
w1 = param(-3.0)
w2 = param(1.0)
b = param(6.8814)

n = x1*w1 + x2*w2 + b
o = torch.tanh(n)
L = (o - 0.5) ** 2

L.backward()
