"""JSON arguments passed through, where they are none."""

from __future__ import annotations

import pytest

from tests.parsers.parsing import calls, dropped, small, trace_of


@pytest.mark.parametrize(
    ("text", "arguments", "lost"),
    [
        ("<c>f|word", "{}", [("word", "cut off: it is no JSON")]),
        ("<c>f|two words</c>", "two words", []),
    ],
)
def test_words_instead_of_json_wait_where_a_cut_off_call_is_to_be_closed(
    text: str, arguments: str, lost: list[tuple[str, str]]
) -> None:
    states = {
        "TOP": {"text": "content", "rows": [{"on": "CALL", "to": "NAME", "emit": ["CallStart"]}]},
        "NAME": {"text": "name", "rows": [{"on": "BAR", "to": "ARGS"}]},
        "ARGS": {
            "codec": {"name": "json_span"},
            "rows": [{"on": on, "to": "TOP", "emit": ["CallEnd"]} for on in ("CLOSE", "END")],
        },
    }
    fmt = small(states, {"CALL": "<c>", "BAR": "|", "CLOSE": "</c>"})
    trace = trace_of(fmt, *text, policy={"truncated_call": "close"})
    assert (calls(trace.message), dropped(trace)) == ([("f", arguments)], lost)
    reason = "It is no JSON, and closing here must leave valid JSON."
    assert reason in [hold.reason for hold in trace.steps[8].holds]
