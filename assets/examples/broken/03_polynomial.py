# Nothing asks for a gradient
# A plain tensor is no leaf that learns:
# backward has nowhere to go.

x = tensor(2.0)

y = x**2 + 3 * x + 1

y.backward()
