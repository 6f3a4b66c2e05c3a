"""Jobs over scripted searches, none of which outlives its test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.finding.searches import scripted
from webapp.finding import Jobs
from webapp.settings import get_settings


@pytest.fixture
def make_jobs(tmp_path: Path) -> Iterator[Callable[..., Jobs]]:
    """Jobs with some settings changed."""
    made: list[Jobs] = []

    def make(search: Any = scripted, **settings: Any) -> Jobs:
        made.append(Jobs(get_settings(data_dir=tmp_path, **settings), search))
        return made[-1]

    yield make
    for jobs in made:
        jobs.close()


@pytest.fixture
def jobs(make_jobs: Callable[..., Jobs]) -> Jobs:
    return make_jobs()
