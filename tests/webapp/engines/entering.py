"""Entries of engines for tests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from webapp.engines.entries import Entry

FAKE = Path(__file__).with_name("fake_engine.py")


def fake(*flags: str, **values: Any) -> Entry:
    """The engine of fake_engine.py."""
    return Entry(command=(sys.executable, "-I", str(FAKE), *flags), **{"seconds": 20, "memory": 300, **values})


def own(name: str, **values: Any) -> Entry:
    """A class of own_parsers.py, by the worker."""
    given = {"class": f"own_parsers:{name}", "python": sys.executable, "path": str(FAKE.parent)}
    return Entry.model_validate({**given, "seconds": 20, **values})
