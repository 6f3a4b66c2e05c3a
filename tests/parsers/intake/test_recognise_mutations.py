"""Whatever is done to a recording, it is recognised as something: no bytes raise, and what is said holds together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.intake import Intake, Kind, recognise
from parsers.intake.evidence import About, Certainty
from tests.parsers.intake.test_curl_traces import events, trace
from tests.parsers.intake.test_moments import CHUNKS

pytestmark = pytest.mark.replays

FILES = sorted((Path(__file__).parent / "files").iterdir())
TEXTS = {path.name: path.read_bytes() for path in FILES}
TEXTS |= {
    f"{'ascii' if readable else 'hex'}.trace": trace(events(CHUNKS), readable=readable).encode()
    for readable in (True, False)
}
NAMES = sorted(TEXTS)
LINES = [line + b"\n" for name in NAMES for line in TEXTS[name].split(b"\n")[:12]]
NOISE = [
    b"",
    b"\n",
    b"\r\n",
    b'"',
    b"{",
    b"}",
    b"\\",
    b"\x00",
    b"\xf0\x9f",
    b"data: ",
    b"[DONE]",
    b"'",
    b"```\n",
    b"null",
    b"\n0000: 12 apples",
    b"\n<= Recv header, ",
]


def holds_together(found: Intake) -> None:
    """What every Intake keeps, whatever it is of."""
    assert found.usable == bool(found.outputs or found.cases)
    assert found.title in found.message
    assert "\n" not in found.message
    assert found.kind in get_args(Kind)
    assert [fact.about for fact in found.facts] == (list(get_args(About)) if found.outputs else [])
    assert all(fact.certainty in get_args(Certainty) for fact in found.facts)
    assert found.kind not in [reading.kind for reading in found.readings]
    labels = [output.label for output in found.outputs]
    assert len(set(labels)) == len(labels)
    assert "" not in labels or len(labels) == 1
    for output in found.outputs:
        text, deltas = output.text, output.deltas
        assert deltas is None or text == "".join(delta.text for delta in deltas)
        assert output.pieces is None or text == "".join(piece.text for piece in output.pieces)
        assert output.counts is None or sum(output.counts) == len(output.ids or ())
        assert not (text is None and output.ids is None and output.stream is None)
        (text or "").encode()
        json.dumps(output.stream, ensure_ascii=False).encode()


@pytest.mark.parametrize("name", NAMES)
def test_each_file_holds_together_under_every_reading(name: str) -> None:
    found = recognise(TEXTS[name], pasted=True, filename=name)
    holds_together(found)
    for reading in found.readings:
        taken = recognise(TEXTS[name], pasted=True, filename=name, take_as=reading.kind)
        assert (taken.kind, taken.title) == (reading.kind, reading.title)
        holds_together(taken)


@given(st.data())
def test_a_changed_recording_is_recognised(data: st.DataObject) -> None:
    text = TEXTS[data.draw(st.sampled_from(NAMES))]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 40)))
        text = text[:start] + data.draw(st.sampled_from(NOISE) | st.binary(max_size=3)) + text[end:]
    holds_together(recognise(text, pasted=data.draw(st.booleans())))


@given(st.lists(st.sampled_from(LINES + NOISE), max_size=12).map(b"".join), st.sampled_from(get_args(Kind)))
def test_any_mixture_of_lines_is_recognised(text: bytes, kind: Kind) -> None:
    holds_together(recognise(text, pasted=False, take_as=kind))
