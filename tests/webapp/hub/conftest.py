"""Downloads from a hub on this machine, none of which outlives its test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.hub.hub import Hub
from webapp.hub import HubJobs
from webapp.settings import get_settings
from webapp.tokenizers.base import TokenizerInfo

MakeJobs = Callable[..., HubJobs]


@pytest.fixture
def hub() -> Iterator[Hub]:
    made = Hub()
    yield made
    made.close()


@pytest.fixture
def kept() -> dict[str, tuple[bytes, bytes | None]]:
    """What was handed over, by repository."""
    return {}


@pytest.fixture
def make_jobs(
    tmp_path: Path, hub: Hub, kept: dict[str, tuple[bytes, bytes | None]], monkeypatch: pytest.MonkeyPatch
) -> Iterator[MakeJobs]:
    for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        for spelling in (proxy, proxy.lower()):
            monkeypatch.delenv(spelling, raising=False)
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_operator")
    made: list[HubJobs] = []

    def keep(repository: str, model: bytes, config: bytes | None) -> TokenizerInfo:
        kept[repository] = (model, config)
        return TokenizerInfo(
            name=f"hub:{repository}",
            kind="hub",
            vocab_size=1,
            label="",
            realism="real",
            decoder="byte_level",
            fingerprint="",
        )

    def make(keep: Any = keep, endpoint: str = hub.url, **settings: Any) -> HubJobs:
        given = get_settings(data_dir=tmp_path, **{"hub": True, **settings})
        made.append(HubJobs(given, keep, endpoint=endpoint, cache=tmp_path / "cache"))
        return made[-1]

    yield make
    hub.go.set()
    for jobs in made:
        jobs.close()
