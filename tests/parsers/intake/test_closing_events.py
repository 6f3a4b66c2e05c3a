"""What OpenAI's Responses say twice: warned of where the event that closes a text has another one than its deltas."""

from __future__ import annotations

import json

import pytest

from parsers.intake import recognise
from parsers.intake.closing_events import unlike_deltas
from parsers.intake.evidence import Payload

TEXT, THOUGHT, CALL = "response.output_text", "response.reasoning_summary_text", "response.function_call_arguments"


def delta(stem: str, text: str, item: int = 0, **more: int) -> Payload:
    return {"type": f"{stem}.delta", "delta": text, "output_index": item, **more}


def done(stem: str, text: str, item: int = 0, **more: int) -> Payload:
    key = "arguments" if stem == CALL else "text"
    return {"type": f"{stem}.done", key: text, "output_index": item, **more}


def call_item(arguments: object, item: int = 0) -> Payload:
    body = {"type": "function_call", "name": "f", "arguments": arguments}
    return {"type": "response.output_item.done", "output_index": item, "item": body}


def message(text: str) -> Payload:
    return {"type": "message", "content": [{"type": "output_text", "text": text}]}


def end(*items: Payload) -> Payload:
    return {"type": "response.completed", "response": {"output": [*items]}}


SHORT = 'item 0 stop at `{"a":`, though the event that closes them has `{"a": 1}`. The deltas are what is replayed.'
CUT = f"The deltas of the arguments in output {SHORT}"
NAMED = f"The deltas of the arguments of `f` in output {SHORT}"


@pytest.mark.parametrize(
    ("payloads", "words"),
    [
        ([delta(TEXT, "It "), delta(TEXT, "is."), done(TEXT, "It is.")], None),
        ([delta(CALL, '{"a":'), done(CALL, '{"a": 1}')], CUT),
        ([delta(CALL, '{"a":'), done(CALL, '{"a": 1}'), call_item('{"a": 1}')], NAMED),
        ([delta(CALL, '{"a":'), call_item('{"a": 1}')], NAMED),
        ([delta(CALL, "{}"), call_item("{}"), call_item(None, 1), {"type": "response.output_item.done"}], None),
        ([delta(THOUGHT, "a", summary_index=0), done(THOUGHT, "a", summary_index=0)], None),
        (
            [delta(THOUGHT, "a", summary_index=0), done(THOUGHT, "a", summary_index=1)],
            "No delta of the reasoning summary in output item 0 came, though the event that closes them has `a`.",
        ),
        (
            [done(TEXT, "x" * 70), done(TEXT, "y", 1), done(TEXT, "z", 2)],
            f"has `…{'x' * 60}` (70 characters). The deltas are what is replayed. So it is with 2 more texts.",
        ),
        (
            [delta(CALL, "{}"), done(CALL, "{}"), end({"arguments": '{"a": 1}'})],
            "The deltas of the arguments in output item 0 come to `{}`; the event that closes them has",
        ),
        (
            [delta(TEXT, "It", 1, content_index=0), end({"type": "reasoning"}, message("It is"))],
            "The deltas of the text in output item 1 stop at `It`, though the event that closes them has `It is`.",
        ),
        ([delta(TEXT, "It", 1, content_index=0), end({"type": "reasoning"}, message("It"))], None),
        ([delta(TEXT, "It", 0, content_index=0), end({"content": [{"type": "refusal"}]}, message("of another"))], None),
        (
            [end(message("It is"))],
            "No delta of the text in output item 0 came, though the event that closes them has `It is`.",
        ),
        (
            [delta(TEXT, "It is"), done(TEXT, "It")],
            "The event that closes the text in output item 0 has only `It`, though the deltas come to `It is`:",
        ),
        ([delta(TEXT, "It is"), done(TEXT, "")], "The event that closes the text in output item 0 is empty, though"),
        ([{"type": "response.unheard_of.done", "text": "x"}, {"id": 1}], None),
    ],
)
def test_a_closing_event_that_says_something_else_is_warned_of(payloads: list[Payload], words: str | None) -> None:
    found = unlike_deltas(payloads)
    assert (found is None) is (words is None)
    assert (words or "") in (found.words if found is not None else "")


@pytest.mark.parametrize(
    ("payloads", "code"),
    [
        ([delta(TEXT, "It"), done(TEXT, "It is")], "deltas_short"),
        ([done(TEXT, "It is")], "deltas_short"),
        ([delta(TEXT, "It is"), done(TEXT, "It")], "closed_otherwise"),
        ([delta(TEXT, "It was"), done(TEXT, "It is")], "closed_otherwise"),
        ([delta(CALL, '{"a": 1}'), done(CALL, '{"a": 1')], "closed_short"),
        ([delta(CALL, '{"a": 1}'), done(CALL, "")], "closed_short"),
        ([delta(CALL, '{"a": 1'), done(CALL, '{"a"')], "closed_otherwise"),
        ([delta(CALL, '{"a": 1}\n'), done(CALL, '{"a": 1}')], "closed_otherwise"),
        ([delta(TEXT, "It", sequence_number=4), done(TEXT, "It is", sequence_number=5)], "deltas_short"),
        ([delta(TEXT, "It", sequence_number=4), done(TEXT, "It is", sequence_number=6)], "events_missing"),
        ([delta(TEXT, "It is", sequence_number=4), done(TEXT, "It", sequence_number=6)], "closed_otherwise"),
        ([delta(TEXT, "It so", sequence_number=4), done(TEXT, "It is so", sequence_number=6)], "events_missing"),
        ([delta(TEXT, "It is", sequence_number=4), done(TEXT, "It is", sequence_number=6)], "events_missing"),
    ],
)
def test_which_side_is_short_is_told_apart_and_what_the_numbers_of_events_show(
    payloads: list[Payload], code: str
) -> None:
    found = unlike_deltas(payloads)
    assert found is not None
    assert found.code == code
    assert found.words.startswith("Not all events were recorded") is (code == "events_missing")


def test_a_log_of_responses_says_so() -> None:
    events = [delta(CALL, '{"a":'), done(CALL, '{"a": 1}'), {"type": "response.completed", "response": {}}]
    found = recognise("".join(f"data: {json.dumps(one)}\n\n" for one in events).encode(), pasted=False)
    assert "deltas_short" in [warn.code for warn in found.warnings]
    assert CUT in (found.outputs[0].stream or ())[-1]["deltas_short"]
    lines = [*map(json.dumps, events[:2]), "{"]
    broken = recognise("".join(f"data: {line}\n\n" for line in lines).encode(), pasted=False)
    assert "deltas_short" in [warn.code for warn in broken.warnings]
    assert CUT in (broken.outputs[0].stream or ())[-1]["deltas_short"]
