"""Whether this server can do its work: what is in the way, in sentences.

It is asked in a child, as everything that takes work is: that there is an answer says that there are children.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from webapp.storage_trouble import SAYS
from webapp.store import CaseStore
from webapp.trouble import Trouble, trouble_of

FREE_BYTES = 50_000_000  # less on the disk of the data folder, and the next tokenizer or case may not fit


def in_the_way(store: CaseStore, folder: Path) -> list[str]:
    """What keeps the server from storing what it is sent; nothing where it can."""
    troubles = [_of_database(store), _of_disk(folder)]
    return [SAYS[trouble].what for trouble in dict.fromkeys(troubles) if trouble is not None]


def _of_database(store: CaseStore) -> Trouble | None:
    try:
        store.probe()
    except Exception as error:
        trouble = trouble_of(error)
        if trouble is None:
            raise
        return trouble
    return None


def _of_disk(folder: Path) -> Trouble | None:
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return trouble_of(error) or Trouble.AWAY
    return Trouble.FULL if free < FREE_BYTES else None
