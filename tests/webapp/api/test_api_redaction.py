"""POST /api/v1/redact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from parsers.cases.io import load_case


@pytest.mark.replays
def test_a_case_comes_back_without_its_words(client: Any, case: Callable[..., dict[str, Any]]) -> None:
    answer = client.post("/api/v1/redact", json=case(title="Secret"))
    assert answer.status_code == 200
    told = answer.json
    made = load_case(told["case"])
    assert (told["same"], told["stays"]) == (True, [])
    assert (told["replaced"] > 3, told["runs"] >= 2) == (True, True)
    assert "weather" not in made.text()
    assert client.get(f"/api/v1/cases/{'0' * 16}").status_code == 404


def test_what_is_no_case_is_refused(client: Any) -> None:
    assert client.post("/api/v1/redact", json={"schema": 1}).status_code == 422
