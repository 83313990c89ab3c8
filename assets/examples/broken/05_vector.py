# A vector has no gradient of its own
# backward wants one number,
# or to be told the gradient.

x = param([1.0, 2.0, 3.0])

y = x**2

y.backward()
