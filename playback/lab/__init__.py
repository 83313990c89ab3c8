"""The shape lab in words: how a result's shape falls out of the shapes that go in."""
