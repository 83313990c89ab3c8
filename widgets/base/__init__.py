"""Basics that every widget uses: theme, labels, timers, painting helpers."""
