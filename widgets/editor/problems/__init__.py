"""The error under the code: its message, its hint and the difference that fixes it."""
