"""The children that are alive: at most two, the least recently used one goes first, all within one memory budget.

A call waits for nobody but a call to the same tokenizer, or for a place where two others are at work. The pool's own
lock is held only to look at its table.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition
from time import monotonic

from parsers.vocabulary.types import UsageError
from webapp.tokenizers.host import COMMAND, Host, Limits

ALIVE = 2


class Pool:
    """Hosts by key. Safe to share between threads."""

    def __init__(self, limits: Limits, command: tuple[str, ...] = COMMAND) -> None:
        self._limits = limits
        self._command = command
        self._hosts: dict[str, Host] = {}
        self._users: dict[str, int] = {}
        self._change = Condition()

    @contextmanager
    def host(self, key: str, label: str, path: Path) -> Iterator[Host]:
        """The host of a tokenizer, which stays alive inside the block. Raises UsageError where no place gets free."""
        found = self._take(key, label, path)
        try:
            yield found
        finally:
            self._give_back(key)

    def pids(self) -> list[int]:
        """The processes that are alive."""
        with self._change:
            return [host.pid for host in self._hosts.values() if host.pid is not None]

    def drop(self, key: str) -> None:
        """End the child of a tokenizer that is no more."""
        with self._change:
            host = self._hosts.pop(key, None)
        if host is not None:
            host.close()

    def close(self) -> None:
        """End all children."""
        for key in list(self._hosts):
            self.drop(key)

    def _take(self, key: str, label: str, path: Path) -> Host:
        latest = monotonic() + self._limits.seconds
        with self._change:
            while key not in self._hosts and len(self._hosts) >= ALIVE and not self._drop_oldest():
                if not self._change.wait(max(latest - monotonic(), 0)):
                    raise UsageError(f"{label} has to wait: two other tokenizers are at work; try again in a moment")
            host = self._hosts.pop(key, None) or Host(label, self._limits, path, self._command)
            self._hosts[key] = host
            self._users[key] = self._users.get(key, 0) + 1
            return host

    def _give_back(self, key: str) -> None:
        with self._change:
            self._users[key] -= 1
            if not self._users[key]:
                del self._users[key]
            while len(self._hosts) > 1 and sum(h.rss for h in self._hosts.values()) > self._limits.cache:
                if not self._drop_oldest(but=key):
                    break
            self._change.notify_all()

    def _drop_oldest(self, but: str = "") -> bool:
        """End the least recently used child that nobody uses; False where all are in use."""
        for key in self._hosts:
            if key not in self._users and key != but:
                self._hosts.pop(key).close()
                return True
        return False
