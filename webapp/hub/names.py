"""Names of repositories. The same arguments name local folders elsewhere, so what looks like a path is no name."""

from __future__ import annotations

import re

from parsers.vocabulary.types import UsageError

PREFIXES = ("hub:", "https://huggingface.co/", "huggingface.co/", "https://hf.co/")
SHOWN = 80

_PART = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,94}[A-Za-z0-9_])?"
_NAME = re.compile(rf"{_PART}/{_PART}")


def repository(text: str) -> str:
    """OWNER/NAME in what was typed, which may be an address of it. Raises UsageError for anything else."""
    name = text.strip()
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    name = name.removesuffix("/")
    wrong = ".." in name or "--" in name or name.endswith(".git")
    if wrong or not _NAME.fullmatch(name):
        shown = repr(text.strip()[:SHOWN]) if text.strip() else "nothing"
        raise UsageError(f"{shown} is no name of a repository: give OWNER/NAME, for example Qwen/Qwen3-0.6B")
    return name
