"""Answers of real engines, as they came: each output streamed token by token and in one delta, and by the path for
whole outputs where there is one. What they say in the end is known, their bugs among it."""

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
    f"{one['engine']}: {one['parser']}": one
    for one in json.loads(Path(__file__).with_name("recorded_answers.json").read_text("utf-8"))
}
BERN, DAYS = ("get_weather", '{"city": "Bern"}'), ("get_weather", '{"city": "Bern", "days": 3}')
TIME = ("get_time", '{"tz": "CET"}')
Said = tuple[str | None, str | None, list[tuple[str, str]]]

ONE: Said = (None, None, [BERN])
HI: Said = (None, "Hi.", [BERN])
TIGHT: Said = (None, "Hi.", [("get_weather", '{"city":"Bern"}')])
THINK: Said = ("Think.", None, [BERN])
THOUGHT: Said = ("Think.", "Hi.", [BERN])
MISTRAL: Said = (None, ', {"name": "get_time", "arguments": {"tz": "CET"}}', [BERN])
SAID: dict[str, tuple[Said, ...]] = {  # token by token, in one delta, as a whole: what of these there is
    "vllm 0.33.0: hermes": (HI, HI, HI),
    "vllm 0.33.0: qwen3_coder": (ONE, ONE, ONE),
    "vllm 0.33.0: deepseek_v31": ((None, None, [DAYS]), (None, None, []), (None, None, [DAYS])),
    "sglang 0.5.23: qwen25": (HI, ONE, HI),
    "sglang 0.5.23: mistral": (MISTRAL, ONE, (None, None, [BERN, TIME])),
    "lmdeploy 0.18.0: qwen3coder": (HI, HI, HI),
    "mlx-lm 0.32.2: qwen3_coder": (HI, HI),
    "openai-harmony 0.0.8: StreamableParser": (THINK, THINK, THINK),
    "mistral-common 1.13.1: mistral": ((None, "Hi.", [BERN, TIME]),),
    "transformers 5.24.0: response_template": (THOUGHT, THOUGHT, THOUGHT),
    "vllm-rust 0.27.1: KimiK2ToolParser": (HI, HI),
    "@ai-sdk-tool/parser 4.1.26: qwen3_coder": (TIGHT, TIGHT, TIGHT),
    "llama.cpp of llama-cpp-python 0.3.36: Qwen3-Coder": (TIGHT, TIGHT, TIGHT),
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
    return found.reasoning, found.content, [(call.name, call.arguments) for call in found.tool_calls]


def tapes(one: dict[str, Any]) -> list[Tape]:
    read = read_replays(one["stream"], [many + 1 for many in one["deltas"]])
    whole = [1] * len(one["whole"]["replays"])
    return [found.tape() for found in [*read, *read_replays(one["whole"], whole)]]


def test_every_recording_is_known() -> None:
    assert RECORDED.keys() == SAID.keys()


@pytest.mark.parametrize("parser", RECORDED)
def test_what_a_real_engine_answered_is_played(parser: str) -> None:
    assert tuple(said(tape) for tape in tapes(RECORDED[parser])) == SAID[parser]
