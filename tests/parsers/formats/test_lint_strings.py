from __future__ import annotations

from typing import Any

import pytest

from parsers.arguments import CODECS
from parsers.formats.lint import lint
from parsers.formats.lint_strings import closers_of
from parsers.formats.model import Format, builtin_formats, load_format

END = {"on": "END", "to": "CALL", "emit": ["CallEnd"]}


def make(codec: dict[str, Any]) -> Format:
    """A format with one call state that reads with this codec."""
    rows = [{"on": "CLOSE", "to": "CONTENT", "emit": ["CallEnd"]}, END]
    content = [{"on": "OPEN", "to": "NAME", "emit": ["CallStart"]}, {"on": "END", "to": "CONTENT"}]
    name = [{"on": "COLON", "to": "CALL"}, {"on": "END", "to": "NAME", "emit": ["CallEnd"]}]
    return load_format(
        {
            "schema": 1,
            "name": "made",
            "title": "Made",
            "initial": "CONTENT",
            "terminals": {"OPEN": "<call>", "COLON": ":", "CLOSE": "</call>"},
            "states": {
                "CONTENT": {"text": "content", "rows": content},
                "NAME": {"text": "name", "rows": name},
                "CALL": {"codec": codec, "rows": rows},
            },
            "example": "text",
        }
    )


def said(fmt: Format) -> list[tuple[str, str, str]]:
    return [(one.severity, one.code, one.pointer) for one in lint(fmt)]


def test_bare_values_cannot_hold_what_ends_them() -> None:
    fmt = make({"name": "tagged", "options": {"value_close": "</v>", "implied_close": ["<k>"]}})
    assert said(fmt) == [("warning", "cannot_round_trip", "/states/CALL/codec")]
    assert "'</v>' or '<k>'" in lint(fmt)[0].message
    assert closers_of(fmt) == [("CALL", "</v>"), ("CALL", "<k>")]


@pytest.mark.parametrize("name", ["json_span", "json_call"])
def test_json_strings_are_escaped_and_hold_everything(name: str) -> None:
    assert [one for one in said(make({"name": name})) if one[1] == "cannot_round_trip"] == []
    assert closers_of(make({"name": name})) == []


@pytest.mark.parametrize("codec", [{"name": "nonsense"}, {"name": "tagged", "options": {"value_close": 3}}])
def test_a_codec_that_cannot_work_has_only_its_own_finding(codec: dict[str, Any]) -> None:
    assert "cannot_round_trip" not in [code for _, code, _ in said(make(codec))]


def test_an_unknown_codec_has_no_closers() -> None:
    assert closers_of(make({"name": "nonsense"}), {}) == []


def test_the_message_is_one_sentence_with_advice() -> None:
    message = lint(make({"name": "tagged"}), CODECS)[0].message
    assert message.endswith(".")
    assert ": " in message
    assert ". " not in message


@pytest.mark.parametrize("name", ["qwen", "kimik2"])
def test_the_json_formats_say_everything(name: str) -> None:
    assert closers_of(builtin_formats()[name]) == []
