"""Features that can be made from two inputs."""

FEATURES = ("x1", "x2", "x1^2", "x2^2", "x1*x2", "sin(x1)", "sin(x2)")
