"""What the installed SDKs' types hold and we do not know: `python -m bench.sdk_gap [sdk …]`.

One line for each word: the API, the way it travels, what becomes of it, and the place in the SDK's types that shows it.
Ends with 1 where something is unknown; `--all` shows what the table knows too.
"""

from __future__ import annotations

import sys

from tests.support.sdk_types import gap
from tests.support.sdk_types.official import version


def main(arguments: list[str]) -> int:
    """Tell the gap of the SDKs that are named, or of all that are installed."""
    show_all = "--all" in arguments
    named = [one for one in arguments if not one.startswith("-")]
    made_for, _ = gap.table()
    missing = 0
    for sdk in named or gap.installed():
        if not version(sdk):
            print(f"{sdk}: not installed")
            continue
        unknown = gap.unknown(sdk)
        missing += len(unknown)
        newer = "" if made_for.get(sdk) == version(sdk) else f" (the table was made for {made_for.get(sdk, 'none')})"
        print(f"{sdk} {version(sdk)}{newer}: {gap.counts(sdk)}, unknown {len(unknown)}")
        for one, place in sorted((gap.found(sdk) if show_all else unknown).items()):
            print(f"  {one.api} {one.way} {one.what}: {one.word}   at {place}")
    if missing:
        print(f"{missing} unknown: {gap.WHAT_TO_DO}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
