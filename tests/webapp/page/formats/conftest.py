"""An application with a formats folder: one format of its own, and one file that is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from webapp.app import create_app
from webapp.formats.format_text import skeleton
from webapp.services import EXTENSION
from webapp.settings import Settings


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("formats")
    own = {**json.loads(skeleton()), "name": "folder_format", "title": "Of the folder", "aliases": ["mine"]}
    (path / "own.json").write_text(json.dumps(own), encoding="utf-8")
    (path / "broken.json").write_text("{", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Iterator[Flask]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("data"), max_text_bytes=2_000, max_tokens=500, formats=folder)
    app = create_app(settings)
    yield app
    app.extensions[EXTENSION].store.close()
