"""docs/format-language.md names everything the format language has, and its example works."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from parsers.arguments import ARGUMENT_PARSERS
from parsers.formats.diagram import rows_table
from parsers.formats.extends import Expanded, expand
from parsers.formats.lint import lint, lint_file
from parsers.formats.model import (
    ENGINE_TRIGGERS,
    CodecRef,
    Emit,
    Format,
    MarkerToken,
    ModelHint,
    Provenance,
    Row,
    Splits,
    State,
    TextKind,
    load_format,
    policy_values,
)
from parsers.replays.chunking import Chunking, apply
from parsers.replays.replay import parse
from parsers.selection.registry import build
from parsers.vocabulary.types import Context, Piece
from webapp.formats.format_text import laid_out

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "format-language.md").read_text("utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]}
NAMED: dict[str, tuple[type[BaseModel], str]] = {
    "the keys of a format": (Format, "The keys of a format"),
    "the keys of a state": (State, "States"),
    "the keys of a codec reference": (CodecRef, "States"),
    "the keys of a row": (Row, "Rows"),
    "evidence": (ModelHint, "The keys of a format"),
    "tokens": (MarkerToken, "The keys of a format"),
    "provenance": (Provenance, "The keys of a format"),
    "splits": (Splits, "The keys of a format"),
}


def missing(names: Iterator[str] | tuple[str, ...], section: str) -> list[str]:
    return [name for name in names if f"`{name}`" not in SECTIONS[section]]


def keys(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield field.alias or name


@pytest.mark.parametrize("what", NAMED)
def test_every_key_is_named(what: str) -> None:
    model, section = NAMED[what]
    assert missing(keys(model), section) == []


def test_every_kind_of_text_event_and_way_to_keep_is_named() -> None:
    assert missing(get_args(TextKind), "States") == []
    assert missing(get_args(Emit), "Rows") == []
    assert missing(get_args(Row.model_fields["keep"].annotation), "Rows") == []


def test_every_shape_of_ids_and_content_is_named() -> None:
    values = (*get_args(Format.model_fields["ids"].annotation), *get_args(Format.model_fields["content"].annotation))
    assert missing(values, "The keys of a format") == []


def test_every_trigger_is_named() -> None:
    assert missing(ENGINE_TRIGGERS, "Rows") == []
    own = {
        name: [t for t in spec.triggers if f"`{t}`" not in SECTIONS["Codecs"]]
        for name, spec in ARGUMENT_PARSERS.items()
    }
    assert {name: triggers for name, triggers in own.items() if triggers} == {}


@pytest.mark.parametrize("name", ARGUMENT_PARSERS)
def test_every_codec_is_named_with_its_options(name: str) -> None:
    assert f"| `{name}` |" in SECTIONS["Codecs"]
    assert f"**{name}" in SECTIONS["Codecs"]
    assert missing(tuple(ARGUMENT_PARSERS[name].options), "Codecs") == []


def test_no_codec_is_named_that_does_not_exist() -> None:
    first_table = SECTIONS["Codecs"].split("\n\n")[2]
    listed = re.findall(r"^\| `(\w+)` \|", first_table, flags=re.MULTILINE)
    assert sorted(listed) == sorted(ARGUMENT_PARSERS)


@pytest.mark.parametrize("policy", policy_values())
def test_every_policy_is_named_with_its_values_the_default_first(policy: str) -> None:
    (line,) = [line for line in SECTIONS["Policies"].splitlines() if line.startswith(f"| `{policy}` |")]
    listed = re.findall(r"`(\w+)`", line.split(" | ")[1])
    default = Format.model_validate({"schema": 1, "name": "x", "title": "x", "initial": "X", "states": {}}).policy
    assert set(listed) == set(policy_values()[policy])
    assert listed[0] == getattr(default, policy)


EXAMPLE, SHORT = map(json.loads, re.findall(r"```json\n(.*?)```", PAGE, flags=re.DOTALL))


def example() -> Format:
    """The worked example of the page."""
    return load_format(EXAMPLE)


def short() -> Expanded:
    """The example that extends the first one, written out."""
    return expand(SHORT, {"call_lines": EXAMPLE}.get)


def output() -> str:
    """The output that the example is about."""
    (text,) = re.findall(r"```text\n(.*?)\n```", PAGE, flags=re.DOTALL)
    return str(text)


def test_the_example_is_sound() -> None:
    assert lint(example()) == []
    assert example().example == output()
    assert len(laid_out(EXAMPLE).splitlines()) < 45


@pytest.mark.parametrize("by", ["char", "whole"])
@pytest.mark.parametrize(
    ("text", "content", "calls"),
    [
        (output(), "Let me look.\n", [("get_weather", '{"city": "Bern", "days": 3}')]),
        ('<call>f\n{"a": "</call>"}</call>', None, [("f", '{"a": "</call>"}')]),
        ("<call>f</call>", None, [("f", "{}")]),
        ("<call>get_wea", "<call>get_wea", []),
        ("<call>f\n{} and on", "and on", [("f", "{}")]),
    ],
)
def test_the_example_reads_what_the_page_says(
    by: str, text: str, content: str | None, calls: list[tuple[str, str]]
) -> None:
    chunking = Chunking.model_validate({"by": by})
    message = parse(build(example()), apply(chunking, [Piece(text)], "text"), Context())
    assert [(call.name, call.arguments) for call in message.tool_calls] == calls
    assert message.content == content


def test_the_file_that_extends_the_example_is_sound_and_its_rows_are_those_of_the_page() -> None:
    fmt = load_format(short().data)
    assert lint_file(SHORT, {"call_lines": EXAMPLE}.get) == []
    lines = re.findall(
        r"^\| (r\d+) \| (\w+) \| (\w+) \| (.*?)\|$", SECTIONS["Files that extend another"], flags=re.MULTILINE
    )
    listed = [(row.id, row.state, row.trigger, row.source) for row in rows_table(fmt, short())]
    assert [(*line[:3], line[3].strip()) for line in lines] == listed


@pytest.mark.parametrize("by", ["char", "whole"])
@pytest.mark.parametrize(
    ("text", "reasoning", "content", "calls"),
    [
        (SHORT["example"], "Weather first.", "Let me look.\n", [("get_weather", '{"city": "Bern"}')]),
        ('<think>a<call>f\n{"b": 1}</call>', "a", None, [("f", '{"b": 1}')]),
        ("<call>f</call>", None, "<call>f</call>", []),
        ("a</think>b", None, "ab", []),
    ],
)
def test_the_file_that_extends_the_example_reads_what_the_page_says(
    by: str, text: str, reasoning: str | None, content: str | None, calls: list[tuple[str, str]]
) -> None:
    chunking = Chunking.model_validate({"by": by})
    message = parse(build(load_format(short().data)), apply(chunking, [Piece(text)], "text"), Context())
    assert (message.reasoning, message.content) == (reasoning, content)
    assert [(call.name, call.arguments) for call in message.tool_calls] == calls


def test_what_the_page_says_of_the_two_keys_is_true() -> None:
    named = ("extends", "reasoning", "start", "end", "ended_by", "schema", "name", "title", "description", "aliases")
    assert missing((*named, "models", "provenance", "example"), "Files that extend another") == []
    assert laid_out(SHORT) in PAGE
    assert laid_out(EXAMPLE) in PAGE


@pytest.mark.parametrize("file", ["README.md", "docs/design.md", "docs/cli.md"])
def test_the_page_is_linked(file: str) -> None:
    assert "format-language.md)" in (ROOT / file).read_text("utf-8")
