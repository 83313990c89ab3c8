"""Images, films and tapes written to files."""
