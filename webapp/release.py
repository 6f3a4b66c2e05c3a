"""What this program is called, and which version of it is installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

NAME = "toolcall-inspector"


def installed_version() -> str:
    """The version of this program, as installed."""
    try:
        return version(NAME)
    except PackageNotFoundError:
        return "0"
