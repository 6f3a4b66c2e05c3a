"""What the tests of a comparison share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.webapp.page.compare.pages import Pages
from webapp.runs.runner import Runner
from webapp.settings import Settings


@pytest.fixture
def pages(tmp_path: Path) -> Pages:
    return Pages(Runner(Settings(data_dir=tmp_path)))
