"""Tokenizers that come with other Python packages: their data files are read, the packages are never imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from webapp.tokenizers.vocabulary import Source


class Package(NamedTuple):
    """A tokenizer out of a package: `extra` is what to install for it; `file` finds its data, None where it is not."""

    name: str
    title: str
    extra: str
    file: Callable[[], Path | None]
    vocab_size: int
    slots: Mapping[int, str] = MappingProxyType({})

    @property
    def source(self) -> Source | None:
        """The tokenizer file, where the package is installed."""
        file = self.file()
        if file is None:
            return None
        return Source(self.name, self.title, "package", file, slots=self.slots, vocab_size=self.vocab_size)


def data_file(package: str, name: str) -> Path | None:
    """A file of an installed package, None where there is no such package or file."""
    spec = find_spec(package)
    folders = (spec.submodule_search_locations if spec is not None else None) or []
    return next((path for folder in folders if (path := Path(folder) / name).is_file()), None)
