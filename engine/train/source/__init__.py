"""A setup as source text, and the text as live objects."""
