"""Answers of real engines, as they came: vLLM 0.33.0 and SGLang 0.5.23, each streamed token by token and in one delta,
and by the path for whole outputs. What they say in the end is known, their bugs among it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from parsers.replays.tapes import Played, Tape
from parsers.vocabulary.types import Context, Delta, Message, Piece
from parsers.wire.assemble import Assembler
from webapp.engines.protocol import read_replays

RECORDED = {
    one["parser"]: one for one in json.loads(Path(__file__).with_name("recorded_answers.json").read_text("utf-8"))
}
BERN, DAYS = ("get_weather", '{"city": "Bern"}'), ("get_weather", '{"city": "Bern", "days": 3}')
TIME = ("get_time", '{"tz": "CET"}')
Said = tuple[str | None, list[tuple[str, str]]]

ONE: Said = (None, [BERN])
SAID: dict[str, tuple[Said, Said, Said]] = {  # token by token, in one delta, as a whole
    "hermes": (("Hi.", [BERN]), ("Hi.", [BERN]), ("Hi.", [BERN])),
    "qwen3_coder": (ONE, ONE, ONE),
    "deepseek_v31": ((None, [DAYS]), (None, []), (None, [DAYS])),
    "qwen25": (("Hi.", [BERN]), ONE, ("Hi.", [BERN])),
    "mistral": ((', {"name": "get_time", "arguments": {"tz": "CET"}}', [BERN]), ONE, (None, [BERN, TIME])),
}


def message(tape: Tape) -> Message:
    """What a client has in the end."""
    parser, assembler = Played("recorded", tape), Assembler()
    parser.begin(Context())
    for number in range(1, len(tape.sent)):
        assembler.absorb(parser.feed(Delta(number, (Piece("x"),))))
    assembler.absorb(parser.finish())
    return assembler.message()


def said(tape: Tape) -> Said:
    found = message(tape)
    return found.content, [(call.name, call.arguments) for call in found.tool_calls]


def tapes(one: dict[str, Any]) -> list[Tape]:
    read = read_replays(one["stream"], [many + 1 for many in one["deltas"]])
    return [found.tape() for found in [*read, *read_replays(one["whole"], [1])]]


def test_every_recording_is_known() -> None:
    assert RECORDED.keys() == SAID.keys()
    assert {one["engine"] for one in RECORDED.values()} == {"vllm 0.33.0", "sglang 0.5.23"}


@pytest.mark.parametrize("parser", RECORDED)
def test_what_a_real_engine_answered_is_played(parser: str) -> None:
    assert tuple(said(tape) for tape in tapes(RECORDED[parser])) == SAID[parser]
