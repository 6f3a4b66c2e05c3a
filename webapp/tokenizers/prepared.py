"""Tokenizer files checked, made anew in a child process, and kept with a note of what is known of them.

Two kinds of folders hold them: files of the operator's that were converted (the newest are kept, an older one is made
again when it is asked for), and what was given to the application (uploads, and what came from the hub). Each has two
files for a tokenizer, KEY.json and the note.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from parsers.vocabulary.types import UsageError
from webapp.children.child import Child
from webapp.settings import ENV_PREFIX, Settings
from webapp.store.keys import digest_of
from webapp.tokenizers.adapter import Origin, Realism, Token, TokenizerInfo
from webapp.tokenizers.installed import Source
from webapp.tokenizers.limits import program, worded
from webapp.tokenizers.tables import token_of
from webapp.vocabularies.files import MAX_TEMPLATE
from webapp.vocabularies.gguf_file import MOST_HEADER
from webapp.vocabularies.spelling import Spelling, of_data

MAKE = "3"  # another number where the same source gives another file
KEPT = 12  # converted files
MOST_BYTES = 1_000_000_000
SHORT = 16  # digits of the fingerprint in a name
STEPS = 3  # to check, convert, load and try a file may take several times as long as one answer
TRUSTED_SECONDS = 90.0  # for files of the operator: converting is slow where the machine is busy
MAX_TITLE = 80
NOTE = ".note.json"
GGUF = ".gguf"

_one_at_a_time = Lock()


class WrongKey(UsageError):  # noqa: N818 - what it is
    """What was given is no key of an upload that is kept."""


class NoPlace(UsageError):  # noqa: N818 - what there is none of
    """As many tokenizers are kept as may be, or they take as much."""


@dataclass(frozen=True)
class Vocabulary:
    """A checked tokenizer.json at `path`, and what is known of it without loading it.

    `markers` are its added tokens: id, text and special flag. `size` is in bytes, `date` in ISO 8601.
    """

    info: TokenizerInfo
    path: Path
    spelling: Spelling
    markers: list[tuple[int, str, bool]]
    templates: Mapping[str, Any]
    size: int
    date: str = ""
    keys: tuple[str, ...] = ()  # of those who uploaded it, as digests

    @cached_property
    def ids(self) -> dict[str, int]:
        """The added tokens by text."""
        return {text: token_id for token_id, text, _ in self.markers}

    @cached_property
    def added(self) -> dict[int, Token]:
        """The added tokens by id. They go through the decoder as all others do: Gemma's runs of U+2581 are blanks."""
        raw = self.spelling.raw
        return {i: token_of(text, raw(text), "special" if flag else "added") for i, text, flag in self.markers}


class _Folder:
    """Tokenizers by key, each with a note."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self._folder = folder
        self._settings = settings
        self._lock = Lock()

    def _file(self, key: str) -> Path:
        return self._folder / f"{key}.json"

    def _note(self, key: str) -> Path:
        return self._folder / f"{key}{NOTE}"

    def _keep(self, key: str, made: Path, note: Mapping[str, Any]) -> None:
        """Take a file and its note over, each whole or not at all."""
        made.replace(self._file(key))
        self._write(key, note)

    def _write(self, key: str, note: Mapping[str, Any]) -> None:
        fresh = self._note(key).with_suffix(".new")
        fresh.write_text(json.dumps(note, ensure_ascii=False), encoding="utf-8")
        fresh.replace(self._note(key))

    def _read(self, key: str) -> dict[str, Any] | None:
        """The note of a file that is there; None where there is none, or nothing whole."""
        return read_note(self._note(key)) if self._file(key).is_file() else None

    def _forget(self, key: str) -> None:
        for path in (self._note(key), self._file(key)):
            path.unlink(missing_ok=True)

    def _vocabulary(self, key: str, note: Mapping[str, Any], *, name: str, title: str, kind: Origin) -> Vocabulary:
        spelling = of_data(note["spelling"])
        info = TokenizerInfo(
            name=name,
            kind=kind,
            vocab_size=note["vocab_size"],
            label=", ".join([title, f"{note['vocab_size']:,}", *filter(None, [note.get("assumed")])]),
            realism=_realism(note, spelling),
            decoder=spelling.decoder,
            fingerprint=note["fingerprint"],
            loses=note.get("loses", []),
        )
        date = note.get("date", "")
        keys = tuple(note.get("keys", ()))
        return Vocabulary(info, self._file(key), spelling, note["added"], note["templates"], note["bytes"], date, keys)


def _realism(note: Mapping[str, Any], spelling: Spelling) -> Realism:
    if spelling.decoder == "word_piece":
        return "lossy"
    return "real" if note.get("exact", spelling.decoder == "byte_level") else "approximate"


class Converted(_Folder):
    """The files of sources, by what they were made from. Safe to share between threads."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        super().__init__(folder, settings)
        self._keys: dict[tuple[Any, ...], str] = {}

    def info(self, source: Source) -> TokenizerInfo:
        """The row of a source: all of it where this process has used it already."""
        try:
            found = self._ready(source, self._keys[_state(source)])
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
                with _writing(self._folder):
                    self._make(source, key)
                self._forget_old()
                found = self._ready(source, key)
        if found is None:
            raise UsageError(f"{source.name}: the data folder lost the converted tokenizer; try again")
        return found

    def ready(self, source: Source) -> Vocabulary | None:
        """The vocabulary of a source, where it is converted already. Raises UsageError where it cannot be read."""
        return self._ready(source, self._key(source))

    def _ready(self, source: Source, key: str) -> Vocabulary | None:
        """The vocabulary of a source that was prepared before, by this process or an earlier one."""
        note = self._read(key)
        if note is None:
            return None
        return self._vocabulary(key, note, name=source.name, title=source.title, kind=source.kind)

    def _make(self, source: Source, key: str) -> None:
        fresh = self._folder / f"{key}.new"
        seconds = max(STEPS * self._settings.tokenizer_seconds, TRUSTED_SECONDS)
        files = {"source": source.file, "target": fresh, "config": source.config}
        note = _prepare(source.name, self._settings, files, seconds, source.slots)
        if source.template is not None and source.template.stat().st_size <= MAX_TEMPLATE:
            note["templates"]["chat_template"] = source.template.read_text("utf-8", "replace")
        self._keep(key, fresh, note)

    def _key(self, source: Source) -> str:
        try:
            state = _state(source)
            most = self._settings.tokenizer_upload_bytes
            if source.file.stat().st_size > most and source.file.suffix != GGUF:
                setting = f"{ENV_PREFIX}TOKENIZER_UPLOAD_BYTES"
                raise UsageError(f"{source.name}: {source.file.name} has more bytes than {setting} allows ({most:,})")
            if state not in self._keys:
                parts = [path.name.encode() + _beginning(path) for path in source.files]
                parts.append(json.dumps(sorted(source.slots.items())).encode())
                digests = b"".join([hashlib.sha256(part).digest() for part in parts])
                self._keys[state] = hashlib.sha256(MAKE.encode() + digests).hexdigest()[:32]
            return self._keys[state]
        except OSError as error:
            raise UsageError(f"{source.name}: {source.file.name} cannot be read ({error.strerror})") from error

    def _forget_old(self) -> None:
        files = [path for path in self._folder.glob("*.json") if not path.name.endswith(NOTE)]
        for path in sorted(files, key=lambda path: path.stat().st_mtime)[:-KEPT]:
            with suppress(OSError):
                self._forget(path.stem)


class Given(_Folder):
    """Tokenizers that were given, of one kind. Safe to share between threads.

    An upload is called by the beginning of its fingerprint, so giving the same one twice keeps one, with the name that
    it was given first; each who gave it has a key, and it goes when the last of them deletes it. What was uploaded
    before there were keys, whoever may upload deletes. One of the hub is called by its repository, since many share one
    tokenizer, and has no keys.
    """

    def __init__(self, kind: Literal["upload", "hub"], folder: Path, settings: Settings) -> None:
        super().__init__(folder, settings)
        self._kind: Literal["upload", "hub"] = kind

    def listing(self) -> list[Vocabulary]:
        """Return what is kept, the newest first."""
        keys = [path.name.removesuffix(NOTE) for path in self._folder.glob(f"*{NOTE}")]
        found = [vocabulary for key in keys if (vocabulary := self._kept(key)) is not None]
        return sorted(found, key=lambda vocabulary: (vocabulary.date, vocabulary.info["label"]), reverse=True)

    def find(self, name: str) -> Vocabulary | None:
        """The one of this name, without its prefix."""
        wanted = f"{self._kind}:{name}"
        return next((vocabulary for vocabulary in self.listing() if vocabulary.info["name"] == wanted), None)

    def add(self, title: str, data: bytes, config: bytes | None = None, key_hash: str | None = None) -> TokenizerInfo:
        """Keep a tokenizer, for whoever has the key of this digest. Raises UsageError saying what is wrong with it, or
        that there is no place for it."""
        title = "".join([char for char in title if char.isprintable()]).strip()[:MAX_TITLE] or "tokenizer"
        with self._lock, _writing(self._folder), tempfile.TemporaryDirectory(dir=self._folder, prefix=".new-") as place:
            source, beside, made = (Path(place) / name for name in ("source", "config", "made"))
            source.write_bytes(data)
            beside.write_bytes(config or b"")
            files = {"source": source, "target": made, "config": None if config is None else beside}
            note = _prepare(title, self._settings, files, STEPS * self._settings.tokenizer_seconds)
            by_title = hashlib.sha256(title.encode()).hexdigest()
            key: str = by_title if self._kind == "hub" else note["fingerprint"]
            self._require_place(key, note["bytes"])
            date = datetime.now(UTC).isoformat(timespec="seconds")
            known = (self._read(key) or {}) if self._kind == "upload" else {}
            keys = [*known.get("keys", ()), *([key_hash] if key_hash is not None else [])]
            kept_of = {"title": known.get("title", title), "date": known.get("date", date), "keys": keys}
            self._keep(key, made, {**note, **kept_of})
        kept = self._kept(key)
        if kept is None:
            raise UsageError(f"{title}: the data folder lost the tokenizer; give it again")
        return kept.info

    def named(self, wanted: str) -> Vocabulary | None:
        """One by its name, its fingerprint or the beginning of that; None where there is none."""
        for vocabulary in self.listing():
            begins = len(wanted) >= SHORT and vocabulary.info["fingerprint"].startswith(wanted)
            if begins or wanted == vocabulary.info["name"]:
                return vocabulary
        return None

    def remove(self, wanted: str, key: str = "") -> Vocabulary | None:
        """Forget one, named as in `named`, or of one that others gave too this key; None where there is none. Raises
        WrongKey."""
        with self._lock:
            found = self.named(wanted)
            if found is None:
                return None
            digest, stem = digest_of(key), found.path.stem
            if found.keys and digest not in found.keys:
                raise WrongKey("that is not the delete key of this tokenizer: it was shown when it was uploaded")
            left = [one for one in found.keys if one != digest]
            if left:
                self._write(stem, {**(self._read(stem) or {}), "keys": left})
            else:
                self._forget(stem)
            return found

    def _kept(self, key: str) -> Vocabulary | None:
        note = self._read(key)
        if note is None:
            return None
        short = note["title"] if self._kind == "hub" else note["fingerprint"][:SHORT]
        return self._vocabulary(key, note, name=f"{self._kind}:{short}", title=note["title"], kind=self._kind)

    def _require_place(self, key: str, size: int) -> None:
        sizes = [vocabulary.size for vocabulary in self.listing() if vocabulary.path.stem != key]
        most = self._settings.most_uploads
        if len(sizes) >= most:
            raise NoPlace(f"{most} tokenizers are kept already; delete one of them first")
        if sum(sizes) + size > MOST_BYTES:
            raise NoPlace(f"the kept tokenizers would take more than {MOST_BYTES:,} bytes; delete one of them first")


def _prepare(
    title: str,
    settings: Settings,
    files: Mapping[str, Path | None],
    seconds: float,
    slots: Mapping[int, str] | None = None,
) -> dict[str, Any]:
    """Check the file `source` and write the rebuilt one to `target`; what the child says of it. Raises UsageError.

    One at a time: parsing and loading take many times a file's size in memory, for a moment.
    """
    request: dict[str, Any] = {name: None if path is None else str(path) for name, path in files.items()}
    request["slots"] = {str(slot): name for slot, name in (slots or {}).items()}
    try:
        with _one_at_a_time, worded("the file", settings, seconds), Child(program(settings)) as child:
            return child.ask("prepare", request, seconds=seconds)
    except UsageError as error:
        Path(request["target"]).unlink(missing_ok=True)
        raise UsageError(f"{title}: {error}") from error


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
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


def _beginning(path: Path) -> bytes:
    """What decides which tokenizer a file is: all of it, but of a model the part before the tensors."""
    with path.open("rb") as file:
        return file.read(MOST_HEADER if path.suffix == GGUF else -1)


def _state(source: Source) -> tuple[Any, ...]:
    """Return what changes when a source changes."""
    stats = [(path, path.stat()) for path in source.files]
    return (*source.slots.items(), *((path, stat.st_size, stat.st_mtime_ns) for path, stat in stats))


def read_note(path: Path) -> dict[str, Any] | None:
    """A note as it was kept; None where there is nothing, or nothing whole. It must not be changed."""
    try:
        stat = path.stat()
        return _read_note(path, stat.st_mtime_ns, stat.st_size)
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=64)
def _read_note(path: Path, _changed: int, _size: int) -> dict[str, Any] | None:
    found = json.loads(path.read_text(encoding="utf-8"))
    return found if isinstance(found, dict) else None


def with_template(config: bytes | None, template: bytes | None) -> bytes | None:
    """The tokenizer_config.json with the template that is in force: the one beside it, as transformers 5 writes it.

    What is no JSON object stays as it is, to be refused where it is read.
    """
    if template is None:
        return config
    try:
        data = json.loads(config or b"{}")
    except (ValueError, RecursionError):
        return config
    if not isinstance(data, dict):
        return config
    return json.dumps({**data, "chat_template": template.decode("utf-8", "replace")}).encode()
