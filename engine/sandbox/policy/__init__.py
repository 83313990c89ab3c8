"""The policy that restricts untrusted programs."""
