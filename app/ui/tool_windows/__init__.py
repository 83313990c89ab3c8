"""Windows of their own for tensors, parameters and figures."""
