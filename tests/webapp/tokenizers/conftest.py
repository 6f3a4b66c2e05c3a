"""Libraries of their own, and the small tokenizers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.vocabularies.conftest import encoded, metaspace, spm, toy
from webapp.settings import Settings, get_settings
from webapp.tokenizers.library import TokenizerLibrary

__all__ = ["encoded", "metaspace", "spm", "toy"]

MakeLibrary = Callable[..., TokenizerLibrary]


@pytest.fixture
def make_library(tmp_path: Path) -> Iterator[MakeLibrary]:
    """A library in a data folder of its own; its processes end with the test."""
    made: list[TokenizerLibrary] = []

    def make(**settings: Any) -> TokenizerLibrary:
        made.append(TokenizerLibrary(get_settings(data_dir=tmp_path / "data", **settings)))
        return made[-1]

    yield make
    for library in made:
        library.close()


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TokenizerLibrary]:
    """The tokenizers of installed packages, converted once."""
    library = TokenizerLibrary(Settings(data_dir=tmp_path_factory.mktemp("real")))
    yield library
    library.close()
