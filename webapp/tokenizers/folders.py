"""Tokenizers in folders that the settings name: a folder or its subfolders with tokenizer files, or single files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from webapp.tokenizers.chat_template import TEMPLATE
from webapp.tokenizers.vocabulary import Source

MOST = 200
# In the order of preference, where a folder has several.
FILES = ("tokenizer.json", "tekken.json", "*.tiktoken", "tokenizer.model")
CONFIG = "tokenizer_config.json"


def found(folders: Sequence[Path]) -> list[Source]:
    """What there is to choose from, in the order of the folders and of names. A second one of a name gets a number."""
    rows: dict[str, Source] = {}
    for file, title in (row for folder in folders for row in _in_folder(folder)):
        name, number = title, 2
        while name in rows:
            name, number = f"{title}-{number}", number + 1
        config, template = (_beside(file, other) for other in (CONFIG, TEMPLATE))
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
        if path.is_file() and path.name != CONFIG:
            yield path, path.stem


def _best(folder: Path) -> Path | None:
    """The file to take of a model's folder."""
    return next((path for shape in FILES for path in sorted(folder.glob(shape)) if path.is_file()), None)


def _beside(file: Path, name: str) -> Path | None:
    """Another file of a model's folder; a single file among others has none."""
    other = file.with_name(name)
    model = file.name in FILES or file.suffix == ".tiktoken"
    return other if model and other.is_file() else None
