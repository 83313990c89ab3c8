# backward, twice
# The first one freed the graph,
# so the second one raises.

x = param(-2.0)
y = param(5.0)
z = param(-4.0)

q = x + y
L = q * z

L.backward()
L.backward()
