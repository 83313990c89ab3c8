"""A proxy command of ssh that dies after some bytes, for tests: ``cutter.py PORT BUDGETS LOG``.

Each connection takes the next number from the file BUDGETS; once none is left, the line stays.
"""

import os
import select
import socket
import sys
from pathlib import Path


def main(port: str, budgets: str, log: str) -> None:
    numbers = Path(budgets).read_text().split()
    Path(budgets).write_text(" ".join(numbers[1:]))
    left = int(numbers[0]) if numbers else sys.maxsize
    total = 0
    server = socket.create_connection(("127.0.0.1", int(port)))
    try:
        while left:
            for source in select.select([0, server], [], [])[0]:
                asked = min(left, 1 << 16)
                data = os.read(0, asked) if source == 0 else server.recv(asked)
                if not data:
                    return
                left -= len(data)
                total += len(data)
                if source == 0:
                    server.sendall(data)
                else:
                    while data:
                        data = data[os.write(1, data) :]
    finally:
        with Path(log).open("a") as file:
            file.write(f"{total} {int(not left)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
