"""Tables as people have them: encodings, separators, numbers, dates and categories."""
