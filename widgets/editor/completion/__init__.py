"""Completion in the editor: a list of names, and the signature of the call at the caret."""
