"""The engine process: pipes, mailbox and the serve loop."""
