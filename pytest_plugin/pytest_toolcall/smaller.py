"""The smaller form of a case, in a file beside it. A file that somebody wrote or changed stays as it is.

Nothing in a file says who wrote it last, so what a search wrote is known again by its digest, which pytest's cache
keeps. Where there is no cache, every file that is there is taken for somebody's.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from pathlib import Path

import pytest

from pytest_toolcall.case_files import Kept, kept

STAYS = "is there, and not as a search here wrote it, so it stays as it is (rename or delete it for the smaller case)"


def keep_smaller(path: Path, text: str, headline: str, config: pytest.Config) -> Kept:
    """Write a smaller case, unless what is there is somebody's. Whether it is written, and what is said of that."""
    there, shown = _digest(path), os.path.relpath(path, config.rootpath)
    if there == _digest_of(text.encode("utf-8")):
        _remember(path, config)
        return Kept(False, f"{shown} has the smaller case already: {headline}")
    if there is not None and there != _remembered(path, config):
        return Kept(False, f"{shown} {STAYS}: {headline}")
    made = kept(path, text, headline, config.rootpath)
    if made.is_written:
        _remember(path, config)
    return made


def _remember(path: Path, config: pytest.Config) -> None:
    cache = getattr(config, "cache", None)
    if cache is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a cache that cannot be written
            cache.set(_key(path, config), _digest(path))


def _remembered(path: Path, config: pytest.Config) -> object:
    cache = getattr(config, "cache", None)
    return None if cache is None else cache.get(_key(path, config), None)


def _key(path: Path, config: pytest.Config) -> str:
    """One for each file, for several processes write at once."""
    relative = os.path.relpath(path, config.rootpath).replace(os.sep, "/")
    return f"toolcall/smaller/{_digest_of(relative.encode('utf-8', 'surrogatepass'))}"


def _digest(path: Path) -> str | None:
    """That of a file; None where there is none, and "" where it cannot be read."""
    try:
        return _digest_of(path.read_bytes())
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None
    except OSError:
        return ""


def _digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
