"""Findings on the steps of training: their order, the optimizer, the learning rate."""
