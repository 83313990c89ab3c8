"""One file a finding of several ranks, with its detector."""
