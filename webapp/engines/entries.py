"""Entered engines: the file `engines.toml`, where the operator says which programs may run, and beside it the cards.

Nothing else names a program: a case, a request and a page know names of entries alone. A card is what an engine said of
itself when it was started last, so that its parsers can be listed without starting it.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from parsers.cases.engines import ENGINES
from parsers.vocabulary.types import UsageError
from webapp.engines.protocol import Card, ProtocolError, read_card
from webapp.engines.response_template.about import NAME as RESPONSE_TEMPLATE
from webapp.engines.sources import sources_stamp
from webapp.engines.wrong_values import TOML, first_wrong, matching
from webapp.settings import Settings

ADAPTERS = ("vllm", "sglang", "lmdeploy", "mlx", "harmony", "mistral", "transformers", "vllm_rust", "class")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")
WORKER = Path(__file__).parent / "workers" / "engine_worker.py"
_MOST_BYTES = 1_000_000
TAKEN = {*ENGINES, RESPONSE_TEMPLATE, "auto"}  # the last is a parser's name that stands for any
_MEGABYTE = 1_000_000


_ClassName = Annotated[str, matching(r"[\w.]+:\w+", "must be MODULE:CLASS, as in mypackage.module:Class")]


class Entry(BaseModel):
    """One engine: an interpreter with an adapter or a class, or a command that speaks the protocol.

    `seconds` is what one replay may take, `start` what it may take to say who it is, and `memory` what its process may
    keep, in megabytes. Of a revision of a checkout `path` is where it was written, and `checkout`, `rev` and `commit`
    say of what.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    python: str | None = None
    adapter: str | None = None
    own: Annotated[_ClassName | None, Field(alias="class")] = None
    command: tuple[str, ...] = ()
    plugin: str | None = None
    tokenizer: str | None = None
    path: str | None = None
    checkout: str | None = None
    rev: str | None = None
    commit: str | None = None
    folder: str | None = None
    environment: dict[str, str] = {}
    seconds: Annotated[float, Field(gt=0, le=3_600)] = 10.0
    start: Annotated[float, Field(gt=0, le=3_600)] = 120.0  # for what an engine imports
    memory: Annotated[int, Field(ge=50, le=1_000_000)] = 4_000

    @field_validator("*")
    @classmethod
    def _can_be_given(cls, value: Any) -> Any:
        """No system gives a program a text with a NUL, nor a variable whose name has a `=`."""
        names = [*value] if isinstance(value, dict) else []
        texts = [*names, *value.values()] if isinstance(value, dict) else value if isinstance(value, tuple) else [value]
        if any("\0" in text for text in texts if isinstance(text, str)):
            raise ValueError("has a NUL character, which no program can be given")
        if any(not name or "=" in name for name in names):
            raise ValueError("has a variable without a name, or with a = in it")
        return value

    def argv(self, name: str) -> tuple[str, ...]:
        """The command line of its worker. Raises UsageError for an entry that names none, or two."""
        if self.command:
            if self.python or self.own or self.adapter or self.plugin:
                words = "a command is a whole worker; leave python, class, adapter and plugin out"
                raise UsageError(f"engine {name}: {words}")
            return self.command
        if not self.python:
            raise UsageError(f"engine {name}: give the python that has it, or the command of a worker")
        adapter = self.adapter or ("class" if self.own else name)
        if adapter not in ADAPTERS:
            known = ", ".join(ADAPTERS[:-1])
            raise UsageError(f"engine {name}: there is no adapter {adapter!r}; there are {known}, or give a class")
        if self.plugin and adapter != "vllm":
            raise UsageError(f"engine {name}: a plugin is a file for vLLM's --tool-parser-plugin; give adapter vllm")
        given = [self.own or "", self.plugin] if self.plugin else [self.own] if self.own else []
        return (self.python, "-u", str(WORKER), adapter, *given)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that its command names."""
        paths = [os.path.join(self.folder or "", one) for one in self.command]
        return tuple([path for path in paths if os.path.isfile(path)])

    @property
    def revision(self) -> str:
        """The revision that it runs, with its commit; "" where it is what is installed."""
        return f"{self.rev} ({self.commit[:10]})" if self.rev and self.commit else ""

    @property
    def memory_bytes(self) -> int:
        """What its process may keep."""
        return self.memory * _MEGABYTE

    @property
    def variables(self) -> dict[str, str]:
        """The environment it is given besides; a path goes before what its interpreter finds."""
        return {**self.environment, **({"PYTHONPATH": os.pathsep.join(self.modules)} if self.path else {})}

    @property
    def modules(self) -> tuple[str, ...]:
        """The folders that its interpreter finds modules in besides: its path, and there `src` where that is no package
        but has some."""
        if self.path is None:
            return ()
        packages = os.path.join(self.path, "src")
        is_layout = os.path.isdir(packages) and not os.path.isfile(os.path.join(packages, "__init__.py"))
        return (self.path, packages) if is_layout else (self.path,)


def file_of(settings: Settings) -> Path:
    """The file of the entries."""
    return settings.engines or settings.data_dir / "engines.toml"


def entries(settings: Settings) -> dict[str, Entry]:
    """The entered engines by name. Raises UsageError for a file that cannot be used."""
    file = file_of(settings)
    try:
        found = file.stat()
    except OSError:
        return {}
    return dict(_read(file, found.st_mtime_ns, found.st_size))


@lru_cache(maxsize=8)
def _read(file: Path, _changed: int, size: int) -> dict[str, Entry]:
    if size > _MOST_BYTES:
        raise UsageError(f"{file} has {size:,} bytes: that is no list of engines")
    try:
        data = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
    return {name: _entry(f"{file}: [{name}]", name, values) for name, values in data.items()}


def _entry(place: str, name: str, values: Any) -> Entry:
    check_name(name, place)
    try:
        entry = Entry.model_validate(values)
    except ValidationError as error:
        key, words = first_wrong(error, [Entry], TOML)
        raise UsageError(f"{place}: {key[1:].replace('/', '.') or 'it'}: {words}") from error
    entry.argv(name)
    return entry


def check_name(name: str, place: str = "") -> None:
    """Raises UsageError for what cannot be the name of an entry."""
    place = place or f"engine {name}"
    if name in TAKEN:
        raise UsageError(f"{place}: that name is taken by this program; give it another one")
    if not NAME.fullmatch(name):
        raise UsageError(f"{place}: a name has letters, digits, and . _ -, begins with a letter, and has 40 at most")


def checked_entry(name: str, values: dict[str, Any]) -> Entry:
    """An entry as somebody typed it. Raises UsageError."""
    return _entry(f"engine {name}", name, values)


def write_entry(settings: Settings, name: str, entry: Entry) -> Path:
    """Enter an engine, in the place of one of the same name; the file afterwards. Raises UsageError."""
    file, found = file_of(settings), entries(settings) | {name: entry}
    settings.make_data_dir()
    lines = ["# Engines that may be run: see docs/engine-protocol.md.", ""]
    for one, values in found.items():
        data = values.model_dump(by_alias=True, exclude_defaults=True)
        lines += [f"[{_quoted(one)}]", *[f"{key} = {_value(value)}" for key, value in data.items()], ""]
    try:
        _replaced(file, "\n".join(lines))
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error
    except UnicodeEncodeError as error:
        raise UsageError(f"engine {name}: a path or variable of it is not UTF-8; {file} can hold no other") from error
    return file


def _value(value: Any) -> str:
    """A value in TOML: its strings and lists of strings are written as in JSON."""
    if isinstance(value, dict):
        return "{ " + ", ".join([f"{_quoted(key)} = {_quoted(one)}" for key, one in value.items()]) + " }"
    return _quoted(list(value) if isinstance(value, tuple) else value)


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # TOML knows no surrogate pairs


class KnownCard(NamedTuple):
    """What an engine said of itself, and what changes with the sources that it had then."""

    card: Card
    stamp: str

    def stamp_now(self, entry: Entry) -> str:
        """That of today."""
        return _stamp(entry, self.card)

    def is_stale(self, entry: Entry) -> bool:
        """Return whether its sources are others by now: a class may have another method."""
        return self.stamp != self.stamp_now(entry)


def known_card(settings: Settings, name: str, entry: Entry) -> KnownCard | None:
    """What the engine of an entry said of itself last; None where it was not asked, or is another one by now."""
    try:
        data = json.loads(_card_file(settings, name).read_text("utf-8"))
        return KnownCard(read_card(data["card"]), data["stamp"]) if data["argv"] == [*entry.argv(name)] else None
    except (OSError, ValueError, KeyError, TypeError, ProtocolError):
        return None


def keep_card(settings: Settings, name: str, entry: Entry, card: Card) -> KnownCard:
    """Remember what an engine said of itself; where that cannot be written, it is asked again."""
    known = KnownCard(card, _stamp(entry, card))
    with suppress(OSError, UsageError):
        settings.make_data_dir()
        text = json.dumps({"argv": entry.argv(name), "card": card.model_dump(), "stamp": known.stamp})
        _replaced(_card_file(settings, name), text)
    return known


def _stamp(entry: Entry, card: Card) -> str:
    return sources_stamp((*card.sources, *entry.files))


def card_written(settings: Settings, name: str) -> int:
    """When that was written, in nanoseconds since 1970; 0 where it was not."""
    try:
        return _card_file(settings, name).stat().st_mtime_ns
    except OSError:
        return 0


def _card_file(settings: Settings, name: str) -> Path:
    return settings.data_dir / "engines" / f"{name}.json"


def _replaced(file: Path, text: str) -> None:
    """Whole or not at all, whoever else writes it at the same time; a new file is its owner's alone, for an entry may
    hold secrets in its environment. Raises OSError."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    begun = f".{file.name}."
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=file.parent, prefix=begun, delete=False) as new:
        try:
            new.write(text)
            new.close()
            if file.is_file():
                Path(new.name).chmod(file.stat().st_mode & 0o777)  # of one that others may read as well
            Path(new.name).replace(file)
        except BaseException:
            Path(new.name).unlink(missing_ok=True)
            raise
