# A factor of 0
# Nothing gets past it to x and y;
# z itself still gets x + y.

x = param(-2.0)
y = param(5.0)
z = param(0.0)

q = x + y
L = q * z

L.backward()
