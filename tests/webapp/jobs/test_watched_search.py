"""A search in a child that somebody waits for: shown, stopped, and ended where a call of the parser does not return."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from parsers.cases.find import CaseFound
from parsers.search.found import Progress
from parsers.vocabulary.types import UsageError
from tests.webapp.jobs import searches as scripts
from tests.webapp.jobs.searches import case_of
from webapp.jobs import watched_search
from webapp.jobs.searches import SearchError
from webapp.jobs.watched_search import search_in_child
from webapp.settings import get_settings


@pytest.fixture
def found(tmp_path: Path) -> Any:
    def searched(text: str, *, stop: bool = False, **settings: Any) -> tuple[CaseFound, list[Progress]]:
        shown: list[Progress] = []
        given = get_settings(data_dir=tmp_path, **settings)
        result = search_in_child(case_of(text), given, shown.append, lambda: stop, scripts.__name__)
        return result, shown

    return searched


def test_a_search_is_shown_and_its_result_comes_back(found: Any) -> None:
    result, shown = found("quick")
    assert result.found.complete
    assert shown == [Progress("sweep", 0, 100, 0)]


def test_whoever_wants_no_more_gets_what_was_found_by_then(found: Any) -> None:
    result, shown = found("endless", stop=True)
    assert not result.found.complete
    assert len(shown) == 1


@pytest.mark.replays
def test_a_call_that_does_not_return_ends_with_its_process(found: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched_search, "SILENT_REPLAYS", 0)
    monkeypatch.setattr(watched_search, "_ANSWER_SECONDS", 1.2)
    with pytest.raises(SearchError, match="one call of the parser did not return: nothing was heard"):
        found("stuck")


@pytest.mark.replays
@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("usage", UsageError, "this cannot be done"),
        ("exits", SearchError, "ended without a result"),
        ("memory", SearchError, "TOOLCALL_INSPECTOR_FIND_MEMORY_BYTES"),
    ],
)
def test_what_went_wrong_is_told(found: Any, text: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        found(text)
