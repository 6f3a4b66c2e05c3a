from __future__ import annotations

import pytest

from webapp.page.inspect.inspect_page import Links, ViewState, read_state


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, ViewState()),
        ({"step": "1,234"}, ViewState(step=1234)),
        ({"step": "-3"}, ViewState()),
        ({"chunk": "cuts:118"}, ViewState(chunk="cuts:118")),
        ({"chunk": " token holdback=3"}, ViewState(chunk="token+holdback=3")),
        ({"step": "\uff19"}, ViewState()),
        ({"input": "bytes", "result": "nonsense"}, ViewState(input="bytes")),
        ({"step": "4", "go": "step=9&result=diff"}, ViewState(step=9, result="diff")),
        ({"result": "wire"}, ViewState(dock="wire")),
        ({"report": "1"}, ViewState(report=True)),
        ({"equal": "1"}, ViewState(equal=True)),
        ({"find": "1"}, ViewState(find=True)),
        ({"where": "own.py:3"}, ViewState(where="own.py:3")),
        ({"where": "own.py"}, ViewState()),
    ],
)
def test_addresses_are_read_kindly(fields: dict[str, str], state: ViewState) -> None:
    assert read_state(fields) == state


def test_a_filter_has_a_limit() -> None:
    assert len(read_state({"filter": "x" * 1000}).filter) == 200


def test_links_keep_the_view_and_leave_defaults_out() -> None:
    links = Links("/c/x", ViewState(step=4, result="wire", report=True))
    assert links.url(step=5) == "/c/x?step=5&result=wire"
    assert links.url(step=None, result="step") == "/c/x"
    assert links.query(report=True) == "step=4&result=wire&report=1"
    assert links.query(step=None, result="step", chunk="cuts:4,118") == "chunk=cuts:4,118"
    assert Links("/c/x", ViewState(find=True)).query() == ""
    assert links.query(step=None, result="step", filter="a=b&c ü") == "filter=a%3Db%26c+%C3%BC"
    assert links.query(step=None, result="step", filter="a=b") == "filter=a%3Db"


def test_a_run_without_address_has_queries_only() -> None:
    assert Links(None, ViewState()).url(step=2) == "?step=2"
    assert Links(None, ViewState()).url() == "?"
