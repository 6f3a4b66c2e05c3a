"""Every layer comes off a recording and is named; raw output keeps what a model may have written, and it is offered."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from parsers.intake import recognise
from tests.parsers.intake.damages import BYTES, OFFERED, PREFIXES, WHOLE
from tests.parsers.intake.recorded_files import BY_SHAPE, faults

BASE = BY_SHAPE["oai_delta_dict"]


@pytest.mark.parametrize("damage", [*PREFIXES, *WHOLE])
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
