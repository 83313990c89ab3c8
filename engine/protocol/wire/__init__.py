"""Parts of the encoding of messages: columns of rows, long tapes and long bytes in pieces."""
