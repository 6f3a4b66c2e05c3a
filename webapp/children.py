"""What a child process is told of our environment: where programs and libraries are. No password, no token.

A child works on what strangers gave us; whoever takes it over finds nothing in it.
"""

from __future__ import annotations

import os

NEEDED = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TZ")


def bare_environment(*more: str) -> dict[str, str]:
    """The environment for a child: the NEEDED variables, and those named in `more` (upper case)."""
    wanted = {*NEEDED, *more}
    return {name: value for name, value in os.environ.items() if name.upper() in wanted}
