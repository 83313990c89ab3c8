# Weight tying
# One table reads words and writes them.
# tags: embedding, weight tying
# tags: language model, shares

torch.manual_seed(0)

table = nn.Embedding(5, 4)
words = tensor([0, 3, 2])
following = tensor([3, 2, 1])

h = torch.tanh(table(words))
scores = h @ table.weight.T
loss = F.cross_entropy(scores, following)
loss.backward()

print(table.weight.grad)
