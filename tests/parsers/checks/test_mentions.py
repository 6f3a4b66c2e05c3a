"""Where a marker is only written about, and where it may be meant."""

from __future__ import annotations

import pytest

from parsers.checks.mentions import is_shown, is_spoken_of

TAG = "<tool_call>"


@pytest.mark.parametrize(
    "text",
    [
        f"It opens with `{TAG}`.",
        f"```\n{TAG}\n```",
        f'It is "{TAG}".',
        f"The token **{TAG}** opens.",
        f"Le marqueur « {TAG} » ouvre.",
        f"Le marqueur «\u00a0{TAG}\u00a0» ouvre.",
        f"Der Marker „{TAG}“ öffnet.",
        f"标记「{TAG}」表示开始。",
        f"It ends ({TAG}) there.",
    ],
)
def test_what_is_in_code_or_in_quotes_is_shown(text: str) -> None:
    assert is_shown(text, text.index(TAG))


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        (f"The model opens a call with {TAG} and then writes it.", True),
        (f"It ends with {TAG}.", True),
        (f"It ends with {TAG}, or so.", True),
        (f"First comes {TAG} then, always.", True),
        (f"It may be {TAG} or <b>.", True),
        (f"Stops at (see {TAG}) too.", True),
        (f'I will look. {TAG} {{"name": "f"}}', False),
        (f'I will look {TAG}\n{{"name": "f"}}', False),
        (f'I will look {TAG} weather {{"a": 1}}', False),
        (f"I will look {TAG}get_weather", False),
        (f"I will look {TAG} get_weather now", False),
        (f"{TAG} and then", False),
        (f"I will look{TAG} and then", False),
        (f"I will look {TAG}", False),
    ],
)
def test_a_word_of_a_sentence_is_spoken_of(text: str, *, spoken: bool) -> None:
    start = text.index(TAG)
    assert not is_shown(text, start)
    assert is_spoken_of(text, start, start + len(TAG)) is spoken
