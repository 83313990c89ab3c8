# A picture of one colour
# Inside nothing changes: the kernel finds
# only the rim.

torch.manual_seed(0)

picture = torch.zeros(1, 1, 6, 6)
picture[...] = 1.0

kernel = param([[-1.0, 0.0, 1.0]] * 3)
weight = kernel[None, None]

edges = F.conv2d(picture, weight,
                 padding=1)
seen = F.relu(edges)
small = F.max_pool2d(seen, 2)
loss = small.sum()
loss.backward()

print(edges[0, 0])
print(kernel.grad)
