"""What real clients print is read as the message it shows; every damage of it comes off, or is named and offered."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from parsers.intake import Intake, recognise
from tests.parsers.intake.damages import BYTES, OFFERED, PREFIXES, WHOLE
from tests.parsers.intake.recorded_files import Recorded, differences, message, recorded

ALL = recorded()
BASES = (
    "curl_sN", "curl_json", "jq_whole", "jq_message", "oai_chunk_print", "oai_message", "oai_delta_dict",
    "anthropic_sse", "ollama_ndjson", "lc_print", "js_chunk_inspect", "gem_answer", "ai_full_json", "responses_json",
)  # fmt: skip
BY_SHAPE = {one.shape: one for one in ALL if one.story == "good" and one.shape in BASES}
PARTS = ("calls", "delta_fn", "call0", "invalid", "block_last", "item_last")


def test_every_base_was_recorded() -> None:
    assert sorted(BY_SHAPE) == sorted(BASES)


def faults(found: Intake, one: Recorded) -> list[str]:
    if found.recording is None or not found.usable:
        return [found.message]
    part = any(name in one.shape for name in PARTS)
    return differences(message(found.recording), one.story, part=part) if len(found.outputs) == 1 else ["several"]


@pytest.mark.parametrize("one", ALL, ids=[f"{one.client}-{one.shape}-{one.story}" for one in ALL])
def test_what_a_client_prints_is_the_message_it_shows(one: Recorded) -> None:
    found = recognise(one.text.encode(), pasted=True)
    if one.lost:
        assert "left_out" in [warn.code for warn in found.warnings]
    else:
        assert faults(found, one) == []


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("damage", [*PREFIXES, *WHOLE])
def test_every_damage_comes_off_by_itself(damage: str, base: str) -> None:
    one = BY_SHAPE[base]
    damaged = (PREFIXES | WHOLE)[damage](one.text.rstrip("\n"))
    assert faults(recognise(damaged.encode(), pasted=True), one) == []


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("damage", BYTES)
def test_bytes_of_every_encoding_are_read(damage: str, base: str) -> None:
    assert faults(recognise(BYTES[damage](BY_SHAPE[base].text), pasted=False), BY_SHAPE[base]) == []


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("damage", OFFERED)
def test_what_a_model_may_have_written_is_offered_and_not_taken_off(damage: str, base: str) -> None:
    one, text = BY_SHAPE[base], OFFERED[damage](BY_SHAPE[base].text.rstrip("\n"))
    found = recognise(text.encode(), pasted=True)
    if faults(found, one) == []:
        return  # it does no harm to this shape
    assert found.layers == ()
    assert found.offers or not found.usable or found.warnings
    for offer in found.offers[:1]:
        assert faults(recognise(text.encode(), pasted=True, layers=offer.names), one) == []


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
