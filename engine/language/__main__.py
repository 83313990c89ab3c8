"""The language process: ``python -m gradscribe.engine.language`` speaks `protocol.frames`."""

import sys

from gradscribe.engine.language.server import main

if __name__ == "__main__":
    main(sys.argv[1:])
