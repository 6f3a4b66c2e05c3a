"""Standard input as a corpus: kept in a file first, for a plan must know where its shards begin."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from parsers.vocabulary.types import UsageError
from webapp.sweeps.corpus_files import STDIN


@contextmanager
def kept(names: Sequence[str], folder: Path) -> Iterator[Path | None]:
    """Where standard input is kept inside a folder, until this ends; None where it is none of the files named."""
    if STDIN not in names:
        yield None
        return
    place = folder / "stdin"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with place.open("wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out, 1 << 20)
    except OSError as error:
        raise UsageError(f"standard input cannot be kept in {folder}: {error.strerror}") from error
    try:
        yield place
    finally:
        place.unlink(missing_ok=True)
