# Indexing with numbers and slices
x = torch.arange(20.).view(4, 5)
x[1:3, ::2]
