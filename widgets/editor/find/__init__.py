"""Find and replace in a program: the query, its matches, their highlights."""
