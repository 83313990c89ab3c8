"""The form that edits a training setup."""
