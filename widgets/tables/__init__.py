"""Tables and lists: ledger, values, console, findings."""
