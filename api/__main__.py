"""Run Gradscribe as ``python -m gradscribe``, the same as the command ``gradscribe``."""

import sys

from gradscribe.app.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
