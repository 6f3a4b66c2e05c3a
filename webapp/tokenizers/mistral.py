"""Mistral's vocabulary, read out of an installed mistral-common (the package itself is not imported).

Its tekken file is that of the v3 format. Later formats kept the vocabulary and gave names to more of the special slots:
[ARGS] and [CALL_ID] in v11, [THINK] and [/THINK] in v13 (mistral-common's released v11 and v13 files).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from webapp.tokenizers.packages import Package, data_file

FILES = ("data/tekken_240718.json", "data/tekken_240911.json")
V11 = {32: "[ARGS]", 33: "[CALL_ID]"}
V13 = V11 | {34: "[THINK]", 35: "[/THINK]"}
SIZE = 131_072


def file() -> Path | None:
    """The tekken file, where the package is installed."""
    return next((path for name in FILES if (path := data_file("mistral_common", name))), None)


def _package(version: str, slots: Mapping[int, str]) -> Package:
    return Package(f"mistral-{version}", f"Mistral tekken {version}", "mistral", file, SIZE, slots)


PACKAGES = (_package("v3", {}), _package("v11", V11), _package("v13", V13))
