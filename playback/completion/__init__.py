"""Completion of the word at the caret, from the text, the last run and torch's names."""
