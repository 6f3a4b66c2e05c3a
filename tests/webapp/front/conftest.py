"""The application behind a front whose children do as they are told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.front import scripted
from webapp.app import create_app
from webapp.front import front as module
from webapp.front.front import Front
from webapp.services import EXTENSION
from webapp.settings import get_settings

MakeFront = Callable[..., Front]


@pytest.fixture
def make_front(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeFront]:
    """A front with some settings changed, to which no request is a small one."""
    monkeypatch.setattr(module, "SMALL", -1)
    made: list[tuple[Any, Front]] = []

    def make(program: str = scripted.__name__, **settings: Any) -> Front:
        found = get_settings(**{"data_dir": tmp_path, "replay_processes": 2, **settings})
        app = create_app(found)
        made.append((app, Front(app, found, program)))
        return made[-1][1]

    yield make
    for app, front in made:
        front.close()
        app.extensions[EXTENSION].searches.close()
        app.extensions[EXTENSION].store.close()
