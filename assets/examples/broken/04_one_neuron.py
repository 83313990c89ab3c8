# A result changed too late
# tanh needs its result for backward,
# and += has changed it.

x1, x2 = tensor(2.0), tensor(0.0)
w1 = param(-3.0)
w2 = param(1.0)
b = param(6.8814)

n = x1*w1 + x2*w2 + b
o = torch.tanh(n)
o += 0.1
L = (o - 0.5) ** 2

L.backward()
