"""Files on the disk: documents, sessions, recovery, settings."""
