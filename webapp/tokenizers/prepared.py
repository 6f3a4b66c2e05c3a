"""Tokenizer files checked and converted once, and kept by what they were made from.

One file is prepared at a time, in a child process of its own: parsing and loading take many times a file's size in
memory, for a moment.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from parsers.vocabulary.types import UsageError
from webapp.settings import ENV_PREFIX
from webapp.tokenizers.base import TokenizerInfo
from webapp.tokenizers.host import Host, Limits
from webapp.tokenizers.vocabulary import Source, Vocabulary, of_answer, read_note, write_note
from webapp.vocabularies.sources import MAX_TEMPLATE

MAKE = "1"  # another number where the same source gives another file
KEPT = 12
STEPS = 3
TRUSTED_SECONDS = 90.0  # for files of the operator: converting is slow where the machine is busy
NOTE = ".note.json"

_one_at_a_time = Lock()


def prepare(
    limits: Limits,
    source: Path,
    target: Path,
    *,
    config: Path | None = None,
    slots: Mapping[int, str] | None = None,
    seconds: float = 0,
) -> dict[str, Any]:
    """Check a file and write the rebuilt one; what the child says of it. Raises UsageError saying what is wrong.

    To check, convert, load and try a file may take several times as long as one answer of a loaded tokenizer.
    """
    request = {
        "source": str(source),
        "target": str(target),
        "config": str(config) if config else None,
        "slots": {str(slot): name for slot, name in (slots or {}).items()},
    }
    host = Host("the file", limits)
    try:
        with _one_at_a_time:
            return host.call("prepare", max(STEPS * limits.seconds, seconds), **request)
    finally:
        host.close()


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Make a folder of ours, its owner's alone, and write into it. Raises UsageError where that cannot be done."""
    try:
        for level in (*reversed(folder.parents), folder):
            if not level.exists():
                level.mkdir(mode=0o700, exist_ok=True)
        yield
    except OSError as error:
        raise UsageError(
            f"the data folder cannot be written ({error.strerror}); make room, or set {ENV_PREFIX}DATA_DIR to another"
        ) from error


class Converted:
    """The folder of converted files. The newest are kept; an older one is made again when it is asked for."""

    def __init__(self, folder: Path, limits: Limits, most_bytes: int) -> None:
        self._folder = folder
        self._limits = limits
        self._most = most_bytes
        self._keys: dict[tuple[Any, ...], str] = {}
        self._lock = Lock()

    def info(self, source: Source) -> TokenizerInfo:
        """The row of a source: all of it where this process has used it already."""
        try:
            found = self._ready(source, self._keys[_seen(source)])
        except (KeyError, OSError):
            found = None
        return source.info if found is None else found.info

    def get(self, source: Source) -> Vocabulary:
        """The converted file and what is known of it. Raises UsageError for a source that cannot be used."""
        key = self._key(source)
        found = self._ready(source, key)
        if found is not None:
            return found
        with self._lock:
            found = self._ready(source, key)
            if found is None:
                with writing(self._folder):
                    write_note(self._note(key), self._made(source, self._folder / f"{key}.json"))
                self._forget_old()
                found = self._ready(source, key)
        if found is None:
            raise UsageError(f"{source.name}: the data folder lost the converted tokenizer; try again")
        return found

    def _ready(self, source: Source, key: str) -> Vocabulary | None:
        """The vocabulary of a source that was prepared before, by this process or an earlier one."""
        if not (self._folder / f"{key}.json").is_file():
            return None
        answer = read_note(self._note(key))
        return None if answer is None else self._vocabulary(source, answer)

    def _made(self, source: Source, target: Path) -> dict[str, Any]:
        fresh = target.with_suffix(".new")
        try:
            answer = prepare(
                self._limits,
                source.file,
                fresh,
                config=source.config,
                slots=source.slots,
                seconds=TRUSTED_SECONDS,
            )
        except UsageError as error:
            raise UsageError(f"{source.name}: {error}") from error
        fresh.replace(target)
        if source.template is not None and source.template.stat().st_size <= MAX_TEMPLATE:
            answer["templates"]["chat_template"] = source.template.read_text("utf-8", "replace")
        return answer

    def _vocabulary(self, source: Source, answer: dict[str, Any]) -> Vocabulary:
        path = self._folder / f"{self._keys[_seen(source)]}.json"
        return of_answer(answer, name=source.name, title=source.title, kind=source.kind, path=path)

    def _note(self, key: str) -> Path:
        return self._folder / f"{key}{NOTE}"

    def _key(self, source: Source) -> str:
        try:
            seen = _seen(source)
            if source.file.stat().st_size > self._most:
                setting = f"{ENV_PREFIX}TOKENIZER_UPLOAD_BYTES"
                raise UsageError(
                    f"{source.name}: {source.file.name} has more bytes than {setting} allows ({self._most:,})"
                )
            if seen not in self._keys:
                parts = [path.name.encode() + path.read_bytes() for path in source.files]
                parts.append(json.dumps(sorted(source.slots.items())).encode())
                self._keys[seen] = hashlib.sha256(MAKE.encode() + b"".join(map(_digest, parts))).hexdigest()[:32]
            return self._keys[seen]
        except OSError as error:
            raise UsageError(f"{source.name}: {source.file.name} cannot be read ({error.strerror})") from error

    def _forget_old(self) -> None:
        files = [path for path in self._folder.glob("*.json") if not path.name.endswith(NOTE)]
        for path in sorted(files, key=lambda path: path.stat().st_mtime)[:-KEPT]:
            for old in (path, path.with_name(path.stem + NOTE)):
                with suppress(OSError):
                    old.unlink()


def _seen(source: Source) -> tuple[Any, ...]:
    """What changes when a source changes."""
    stats = [(path, path.stat()) for path in source.files]
    return (*source.slots.items(), *((path, stat.st_size, stat.st_mtime_ns) for path, stat in stats))


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
