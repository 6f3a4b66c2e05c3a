"""Signatures of small cases: the same for outputs that show one bug, others for other bugs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.webapp.guests.serving import Hermes, Musing, Naive, case_text, served
from webapp.guests.narrowed import find
from webapp.guests.requests import CaseAsked
from webapp.settings import Settings

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def output(content: str, arguments: dict[str, Any]) -> str:
    return f'{content}<tool_call>\n{{"name": "f", "arguments": {json.dumps(arguments)}}}\n</tool_call>'


def signature(kind: type, content: str, arguments: dict[str, Any]) -> str:
    """That of the smallest case of an output."""
    card, ask = served(kind)
    expect = {"content": content, "tool_calls": [{"name": "f", "arguments": arguments}]}
    text = case_text(output(content, arguments), parser={"name": "qwen"}, tools=[TOOL], expect=expect)
    found = find(CaseAsked(case=text, card=card), Settings(), ask, 60, 150)
    assert found.case is not None, found.headline
    assert len(found.signature) == 10
    return found.signature


class Spelling(Hermes):
    """It writes numbers of arguments as strings, and loses the blanks of strings."""

    def finish(self, reason: str | None) -> Any:
        said = super().finish(reason)
        for call in said.get("tool_calls", ()):
            values = json.loads(call["function"]["arguments"])
            changed = {key: one.replace(" ", "") if isinstance(one, str) else str(one) for key, one in values.items()}
            call["function"]["arguments"] = json.dumps(changed)
        return said


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        (Naive, {"a": {"b": 1}}, {"city": {"in": 2}, "n": 30}),
        (Musing, {"a": {"b": 1}}, {"city": {"in": 2}, "n": 30}),
        (Spelling, {"a": 1}, {"city": "Bern", "n": 30}),
        (Spelling, {"a": "b c"}, {"city": "San Francisco", "note": "Mind the gap."}),
    ],
)
@pytest.mark.replays
def test_outputs_that_show_one_bug_have_one_signature(
    kind: type, first: dict[str, Any], second: dict[str, Any]
) -> None:
    assert signature(kind, "Sure.", first) == signature(kind, "Let me see what it is. It is\nlong.", second)


@pytest.mark.replays
def test_other_bugs_have_other_signatures() -> None:
    found = [signature(kind, "Sure.", {"a": {"b": 1}}) for kind in (Naive, Musing)]
    found += [signature(Spelling, "Sure.", {"a": 1}), signature(Spelling, "Sure.", {"a": "b c"})]
    assert len({*found}) == len(found)
