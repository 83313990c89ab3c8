# Dropout
# What is dropped gets no gradient, the
# rest double.
# tags: dropout, regularization, mask, nn

torch.manual_seed(3)

x = param([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
drop = nn.Dropout(0.5)

y = drop(x)
loss = y.sum()
loss.backward()

print(y.detach())
print(x.grad)
