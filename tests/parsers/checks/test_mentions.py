"""Where a marker is only written about, and where it may be meant."""

from __future__ import annotations

import pytest

from parsers.checks.mentions import is_inline_code, is_shown, is_spoken_of

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
        f'The log has "<a>{TAG}" in it.',
        f"The log has “<a>{TAG}” in it.",
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


@pytest.mark.parametrize(
    "text", [f'It is "<a>" or {TAG}.', f'It says "<a>{TAG} and goes on.', f'It says "<a>{TAG}\nand goes on."']
)
def test_what_stands_behind_quotes_or_in_quotes_that_never_end_is_not_shown(text: str) -> None:
    assert not is_shown(text, text.index(TAG))


@pytest.mark.parametrize(
    ("text", "inline"),
    [
        (f"It sent `{TAG}` there.", True),
        (f"It sent `{TAG}`\nthere.", True),
        (f"`{TAG}` was sent.", False),
        (f"It sent `{TAG} there.", False),
        (f"It sent {TAG}` there.", False),
        (f"So ```{TAG}```", False),
    ],
)
def test_code_inside_a_line_of_words_is_told_from_a_whole_block(text: str, *, inline: bool) -> None:
    assert is_inline_code(text, text.index(TAG)) is inline
