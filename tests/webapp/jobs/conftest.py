"""Searches of cases that script them, none of which outlives its test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.jobs import searches as scripts
from webapp.jobs.searches import Searches
from webapp.settings import get_settings


@pytest.fixture
def make_searches(tmp_path: Path) -> Iterator[Callable[..., Searches]]:
    """Searches with some settings changed."""
    made: list[Searches] = []

    def make(program: str = scripts.__name__, **settings: Any) -> Searches:
        made.append(Searches(get_settings(data_dir=tmp_path, **settings), program))
        return made[-1]

    yield make
    for searches in made:
        searches.close()


@pytest.fixture
def searches(make_searches: Callable[..., Searches]) -> Searches:
    return make_searches()
