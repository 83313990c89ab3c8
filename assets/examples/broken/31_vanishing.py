# A number in between
# item() leaves the graph: backward has
# nowhere to go.

x = param(0.5)
h = x
for layer in range(10):
    h = torch.sigmoid(h)
h = tensor(h.item())
h.backward()

print(x.grad)
