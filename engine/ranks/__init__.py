"""One process of several that run a script together under torch.distributed, with its recorder."""
