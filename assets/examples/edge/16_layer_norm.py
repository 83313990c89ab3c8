# A row of equal numbers
# Its variance is 0: the small number
# below saves the division.

torch.manual_seed(0)

x = torch.ones(2, 4, requires_grad=True)

mean = x.mean(-1, keepdim=True)
centred = x - mean
square = centred.square()
var = square.mean(-1, keepdim=True)
y = centred / (var + 1e-5).sqrt()

share = tensor([1.0, 2.0, 3.0, 4.0])
loss = (y * share).sum()
loss.backward()

print(x.grad.sum(-1))
print(F.layer_norm(x, (4,)) - y)
