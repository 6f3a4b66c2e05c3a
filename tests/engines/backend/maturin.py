"""What pip asks of the backend of a source that is only looked at: its name and version, which the real one would ask
Cargo for, and that the index of crates, which nobody here reaches."""

from __future__ import annotations

import os
import tomllib
from typing import Any


def get_requires_for_build_wheel(_settings: Any = None) -> list[str]:
    """Nothing is built."""
    return []


def prepare_metadata_for_build_wheel(folder: str, _settings: Any = None) -> str:
    """Name and version, as the project file has them."""
    with open("pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    made = f"{project['name']}-{project['version']}.dist-info"
    os.makedirs(os.path.join(folder, made))
    with open(os.path.join(folder, made, "METADATA"), "w", encoding="utf-8") as file:
        file.write(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    return made
