"""An application of its own per module, and short ways to replay things."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from parsers.cases.case import Case
from parsers.cases.io import load_case
from webapp.app import create_app
from webapp.runs.runner import Run, Runner
from webapp.services import EXTENSION
from webapp.settings import Settings


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    folder: Path = tmp_path_factory.mktemp("data")
    app = create_app(Settings(data_dir=folder, max_text_bytes=5_000, max_tokens=2_000))
    yield app
    app.extensions[EXTENSION].store.close()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


NUMBERS = count()


def case(text: str, parser: str = "qwen", **more: Any) -> Case:
    return load_case({"schema": 1, "parser": {"name": parser}, "input": {"text": text}, **more})


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(Settings(data_dir=tmp_path_factory.mktemp("unused")))


class Make:
    """Cases and runs for tests."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner

    def case(self, text: str, parser: str = "qwen", **more: Any) -> Case:
        return case(text, parser, **more)

    def run(self, text: str, parser: str = "qwen", **more: Any) -> Run:
        return self.runner.run(case(text, parser, **more))

    def fresh(self, text: str, parser: str = "qwen") -> Run:
        """A run that no other test sees, to be changed."""
        return self.runner._run(case(text, parser), f"fresh {next(NUMBERS)}")


@pytest.fixture(scope="session")
def make(runner: Runner) -> Make:
    return Make(runner)
