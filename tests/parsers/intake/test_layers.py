"""Every layer comes off a recording and is named; raw output keeps what a model may have written, and it is offered."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable

import pytest

from parsers.intake import recognise
from parsers.intake.layers import peeled
from tests.parsers.intake.damages import BYTES, OFFERED, PREFIXES, WHOLE
from tests.parsers.intake.recorded_files import BY_SHAPE, faults, message

BASE = BY_SHAPE["oai_delta_dict"]


@pytest.mark.parametrize("damage", [*PREFIXES, *WHOLE])
@pytest.mark.replays
def test_a_layer_comes_off_a_recording_by_itself(damage: str) -> None:
    damaged = (PREFIXES | WHOLE)[damage](BASE.text.rstrip("\n"))
    assert faults(recognise(damaged.encode(), pasted=True), BASE) == []


@pytest.mark.parametrize("damage", BYTES)
def test_layers_of_bytes_come_off_a_file(damage: str) -> None:
    assert faults(recognise(BYTES[damage](BASE.text), pasted=False), BASE) == []


RAW = "I check.\n<tool_call>\n{}\n</tool_call>"


@pytest.mark.parametrize("damage", [*PREFIXES, *WHOLE, *OFFERED])
def test_raw_output_is_never_altered_and_what_could_come_off_is_offered(damage: str) -> None:
    make: Callable[[str], str] = (PREFIXES | WHOLE | OFFERED)[damage]
    text = make(RAW)
    found = recognise(text.encode(), pasted=True)
    assert found.layers == ()
    if found.kind == "raw_text":
        assert found.recording is not None
        assert found.recording.text == text.replace("\r\n", "\n")
    for offer in found.offers:
        bare = recognise(text.encode(), pasted=True, layers=offer.names)
        assert [one.name for one in bare.layers] == list(offer.names)


def test_layers_are_named_counted_and_can_be_put_back() -> None:
    text = "\n".join([f"> \x1b[32m{line}\x1b[0m" for line in BY_SHAPE["jq_whole"].text.rstrip().split("\n")])
    found = recognise(text.encode(), pasted=True)
    lines = text.count("\n") + 1
    assert [(one.name, one.lines) for one in found.layers] == [("colours", lines), ("quote", lines)]
    assert "Taken off before it was read: colours of a terminal, " in found.message
    assert [one.kind for one in found.readings][-1] == "raw_text"
    back = recognise(text.encode(), pasted=True, layers=())
    assert back.recording is not None
    assert (back.kind, back.recording.text) == ("raw_text", text)


INDENTED = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hm."}}]}, indent=2)


def test_a_prefix_inside_an_object_of_many_lines_comes_off_it() -> None:
    stamped = "\n".join([f"2025-11-28 10:00:00,123 INFO {line}" for line in INDENTED.split("\n")])
    found = recognise(stamped.encode(), pasted=True)
    assert (found.kind, [one.name for one in found.layers]) == ("json_response", ["common"])


ARGUMENTS = json.dumps({"to": 'it\'s "her"', "at": "C:\\new"})
CALLED = {"id": "a", "type": "function", "function": {"name": "say", "arguments": ARGUMENTS}}
ANSWERED = {"role": "assistant", "content": "On it.", "tool_calls": [CALLED]}
CHUNK = {
    "object": "chat.completion.chunk",
    "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **CALLED}]}}],
}
WHOLE_ANSWER = {"object": "chat.completion", "choices": [{"index": 0, "message": ANSWERED, "finish_reason": "stop"}]}
CARRIED = {
    "events": f"data: {json.dumps(CHUNK)}\n\ndata: [DONE]\n",
    "events without the last end": f"data: {json.dumps(CHUNK)}\n\ndata: [DONE]",
    "an answer over many lines": json.dumps(WHOLE_ANSWER, indent=2),
    "messages": json.dumps([{"role": "user", "content": "Tell her."}, ANSWERED]),
    "messages, printed": repr([{"role": "user", "content": "Tell her."}, ANSWERED]),
}


@pytest.mark.parametrize("damage", [*PREFIXES, "HTML", "HTML, pre", "HTML of a quote"])
@pytest.mark.parametrize("carried", CARRIED)
@pytest.mark.replays
def test_whatever_is_carried_comes_out_with_its_arguments_as_they_were(carried: str, damage: str) -> None:
    found = recognise((PREFIXES | WHOLE)[damage](CARRIED[carried]).encode(), pasted=True)
    assert found.recording is not None
    assert message(found.recording).arguments == ARGUMENTS


PROSE = 'The API returns {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hm."}}]}'


def test_words_before_an_answer_are_a_models_and_stay() -> None:
    assert recognise(PROSE.encode(), pasted=True).layers == ()


# Of bytes: how they begin, and what they are nevertheless.
UNPACKED = [(b"\x1f\x8b\x08 no gzip", "not_text"), (b"\x78\x01", "raw_text"), (b"\xff\xfea", "not_text")]


@pytest.mark.parametrize(("data", "kind"), UNPACKED)
def test_bytes_that_only_begin_like_a_layer_stay(data: bytes, kind: str) -> None:
    found = recognise(data, pasted=False)
    assert (found.kind, found.layers) == (kind, ())


@pytest.mark.parametrize("packed", ["A" * 24 + "A", base64.b64encode(b"\xff" * 24).decode(), "A" * 32])
def test_letters_that_are_no_text_in_base64_stay(packed: str) -> None:
    assert recognise(packed.encode(), pasted=True, layers=("base64",)).layers == ()


@pytest.mark.parametrize("name", ["quote", "unknown"])
def test_a_layer_that_is_not_there_is_left_out(name: str) -> None:
    found = recognise(b"words", pasted=True, layers=(name,))
    assert (found.kind, found.layers) == ("raw_text", ())


def test_an_escape_character_that_an_answer_spells_is_the_models() -> None:
    answer = b'{"choices": [{"text": "\\u001b[1mtool\\\\_calls: x", "index": 0}], "object": "text_completion"}'
    found = recognise(answer, pasted=True)
    assert found.layers == ()
    assert found.recording is not None
    assert found.recording.text == "\x1b[1mtool\\_calls: x"


def test_odd_blanks_between_parts_of_a_recording_are_offered_and_those_in_its_texts_are_not() -> None:
    between = recognise(INDENTED.replace(" ", "\u00a0").encode(), pasted=True)
    assert (between.layers, [one.names for one in between.offers]) == ((), [("blanks",)])
    inside = recognise(INDENTED.replace("Hm.", "5\u00a0km,\u00a0about").encode(), pasted=True)
    assert (inside.kind, inside.layers, inside.offers) == ("json_response", (), ())


def test_percent_escapes_of_bytes_that_are_no_text_stay() -> None:
    assert recognise(b"%FF%FE%FF%FF", pasted=True, layers=("percent",)).layers == ()


@pytest.mark.replays
@pytest.mark.parametrize(
    ("part", "most"), [("\n", 60), (" \n", 60), ("a\n", 90), ("> x\n", 180)], ids=["ends", "blank", "short", "quoted"]
)
def test_a_line_is_looked_at_a_few_times_whatever_layers_there_are(part: str, most: int) -> None:
    lines, looks = 2_000, 0

    def count(_frame: object, event: str, _given: object) -> None:
        nonlocal looks
        looks += event in ("call", "c_call")

    before, data = sys.getprofile(), ("<tool_call>" + part * lines).encode()
    recognise(data, pasted=True)  # what is compiled once
    sys.setprofile(count)
    try:
        recognise(data, pasted=True)
    finally:
        sys.setprofile(before)
    assert looks < most * lines


def test_lines_that_end_with_a_carriage_return_alone_are_lines() -> None:
    assert peeled("a\rb\r", ["returns"])[0] == "a\nb\n"
    assert peeled("a\rb\rc\nd", ["returns"]) == ("a\rb\rc\nd", ())
    assert peeled("10 %\r", ["returns"]) == ("10 %\r", ())
