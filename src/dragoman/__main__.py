"""The program: `dragoman`, or `python -m dragoman`.

Contract: where only the library is installed, a command that needs more says what to install, without a traceback.
"""

import sys
from importlib import import_module

from .late import missing


def main() -> int:
    """Run the command line; gives the exit code."""
    try:
        code: int = import_module(".cli", __package__).main()
    except ModuleNotFoundError as error:
        told = missing(" ".join(["dragoman", *sys.argv[1:2]]), error)
        if told is error:
            raise
        print(f"Error: {told}", file=sys.stderr)
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
