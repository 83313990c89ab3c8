"""The language process: it reads programs, never runs them, and answers questions about names."""
