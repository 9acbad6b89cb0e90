"""The program: `dragoman`, or `python -m dragoman`.

Contract: where only the library is installed, a command that needs more says what to install, without a traceback; so
does a program that cannot begin because the library beside it is of another version.
"""

import sys
from importlib import import_module

from .late import missing

PARTS = ("dragoman", "dragoman-core")


def main() -> int:
    """Run the command line; gives the exit code."""
    try:
        code: int = import_module(".cli", __package__).main()
    except ImportError as error:
        told = uneven() or _absent(error)
        if not told:
            raise
        print(f"Error: {told}", file=sys.stderr)
        return 1
    return code


def uneven() -> str:
    """What to do where program and library are installed in two versions, which pip warns of and does not prevent."""
    metadata = import_module("importlib.metadata")  # as long to load as all that a start needs, and asked for by none
    try:
        program, library = map(metadata.version, PARTS)
    except metadata.PackageNotFoundError:
        return ""
    if program == library:
        return ""
    return f"dragoman {program} stands beside dragoman-core {library}; make them one: pip install --upgrade dragoman"


def _absent(error: ImportError) -> str:
    if not isinstance(error, ModuleNotFoundError):
        return ""
    told = missing(" ".join(["dragoman", *sys.argv[1:2]]), error)
    return "" if told is error else str(told)


if __name__ == "__main__":
    sys.exit(main())
