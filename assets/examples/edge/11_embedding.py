# A row for padding
# Row 1 is looked up and gets no gradient:
# it only fills places.

torch.manual_seed(0)

table = nn.Embedding(6, 3, padding_idx=1)
words = tensor([1, 4, 1])

found = table(words)
loss = found.square().sum()
loss.backward()

print(table.weight.grad)
