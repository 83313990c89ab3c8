"""The findings, a file each, discovered automatically."""
