"""Lessons: parsed from text files, with questions that are answered by the tape. Without Qt."""
