"""From tape to picture: pure functions of a tape and a position."""
