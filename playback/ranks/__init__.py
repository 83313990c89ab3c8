"""The tapes of several ranks: their collectives joined, one tape of them all, their findings."""
