"""Presenting: full screen, a large graph, pointer ring, spotlight, black screen, remotes."""
