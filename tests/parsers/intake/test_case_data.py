"""What of a recording goes into a case."""

from __future__ import annotations

from parsers.intake.case_data import case_data
from parsers.vocabulary.types import Recording


def test_when_chunks_came_goes_into_the_case() -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]}
    taken = case_data(Recording("", kind="sse_log", stream=(chunk,), times=(0.25,)))
    assert taken.data["input"]["times"] == [0.25]
