"""Backward recording: nodes, edges, hooks and passes."""
