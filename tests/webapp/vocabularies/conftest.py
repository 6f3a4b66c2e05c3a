"""The small tokenizers as fixtures."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.webapp.vocabularies.toys import Data, byte_fallback, byte_level, unigram, word_piece


@pytest.fixture
def toy() -> Data:
    return byte_level()


@pytest.fixture
def spm() -> Data:
    return byte_fallback()


@pytest.fixture
def metaspace() -> Data:
    return unigram()


@pytest.fixture
def words() -> Data:
    return word_piece()


@pytest.fixture
def encoded() -> Callable[[Data], bytes]:
    return lambda data: json.dumps(data, ensure_ascii=False).encode()
