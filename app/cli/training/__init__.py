"""Helpers of ``gradscribe train``: its options, its pictures, the table it reads."""
