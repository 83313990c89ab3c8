# An embedding
# Only the rows that were looked up get a
# gradient.
# tags: embedding, lookup, tokens, nn

torch.manual_seed(0)

table = nn.Embedding(6, 3)
words = tensor([1, 4, 1])

found = table(words)
loss = found.square().sum()
loss.backward()

print(table.weight.grad)
