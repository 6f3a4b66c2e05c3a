"""What tokenizers were asked in vain: for a while the same question is refused at once, in the same words.

A tokenizer that takes too long for a text has used up its time when that is known, and whoever asks tries again.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import Any

from webapp.tokenizers.limits import HopelessError

KNOWN_SECONDS = 600.0
MOST_KNOWN = 1_000


class Hopeless:
    """Questions by a digest of them, each with the words of its refusal and its time. Threads may share it."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._known: OrderedDict[bytes, tuple[float, str]] = OrderedDict()

    @contextmanager
    def known(self, key: str, task: str, requests: Sequence[Mapping[str, Any]]) -> Iterator[None]:
        """Inside the block the tokenizer `key` is asked. Raises HopelessError before that where it was asked the same
        in vain, and remembers one that is raised inside."""
        digest = hashlib.sha256(repr((key, task, requests)).encode("utf-8", "surrogatepass")).digest()
        with self._lock:
            since, words = self._known.get(digest, (float("-inf"), ""))
        if self._clock() < since + KNOWN_SECONDS:
            raise HopelessError(words)
        try:
            yield
        except HopelessError as error:
            with self._lock:
                self._known[digest] = self._clock(), str(error)
                if len(self._known) > MOST_KNOWN:
                    self._known.popitem(last=False)
            raise
