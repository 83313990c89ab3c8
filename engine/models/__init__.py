"""Modules as files: weights written and safely read, exported programs, ONNX."""
