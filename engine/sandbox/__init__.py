"""Limits on programs: confinement by the system, and the policy for foreign programs."""
