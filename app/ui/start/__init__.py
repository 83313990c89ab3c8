"""The start page: files, examples, lessons and set-ups to begin with."""
