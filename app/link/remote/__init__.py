"""An engine on another machine, by the system's OpenSSH client."""
