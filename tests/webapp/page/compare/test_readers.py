"""Which parsers are offered for an output, in which group and order."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.formats.model import builtin_formats
from tests.webapp.page.streams import TEXT, stream_case
from webapp.page.compare import readers
from webapp.page.compare.asked import Asked, CompareLinks, Side
from webapp.page.compare.picker import picker
from webapp.page.compare.readers import ENGINES, OTHERS, OWN, READ, offered_parsers, reader_groups, reading_formats
from webapp.page.compare.sides import Replayed, replayed
from webapp.page.form.form_page import Option
from webapp.runs.runner import Runner

CALL = 'Hi. <tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'


def side(runner: Runner, make: Any, text: str) -> Replayed:
    return replayed(runner, make.case(text), "a", Side())


@pytest.mark.replays
@pytest.mark.parametrize(
    ("text", "first", "calls"),
    [
        (CALL, "qwen", "1 call"),
        (CALL * 2, "qwen", "2 calls"),
        (CALL[:-18], "qwen", "1 call"),
        ("Words alone.", None, ""),
    ],
)
def test_formats_that_find_a_call_read_an_output(
    runner: Runner, make: Any, text: str, first: str | None, calls: str
) -> None:
    found = reading_formats(runner, side(runner, make, text))
    assert next(iter(found.items()), (None, "")) == (first, calls)
    assert "kimik2" not in found


def test_a_format_that_would_read_another_spelling_does_not_read_this_one(runner: Runner, make: Any) -> None:
    text = CALL.replace("<tool_call>", "<tool_cal>")
    found = reading_formats(runner, side(runner, make, text))
    assert "qwen" not in found
    assert found["json"] == "1 call"


def test_of_a_long_output_the_claims_alone_are_asked(
    runner: Runner, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "READ_BY_ALL", 10)
    found = reading_formats(runner, side(runner, make, f"{CALL} Bye."))
    assert "qwen" in found
    assert set(found.values()) == {""}


def test_every_parser_is_in_one_group_and_an_engine_reads_what_the_format_of_its_name_does() -> None:
    offered = [Option(name, name) for name in ("auto", "kimik2", "hermes:qwen", "own:Mine", "longcat", "qwen")]
    found = reader_groups(offered, {"qwen": "2 calls", "longcat": ""}, "kimik2")
    groups = {group.heading: group.options for group in found}
    assert [option.value for option in groups.pop(OWN)] == ["kimik2"]
    assert [option.value for option in groups[READ]] == ["hermes:qwen", "qwen", "longcat"]
    assert [option.words for option in groups[READ]] == ["hermes:qwen", "qwen: 2 calls", "longcat"]
    assert [option.value for option in groups[ENGINES]] == ["own:Mine"]
    assert [option.value for option in groups[OTHERS]] == ["auto"]


def test_the_picker_offers_every_parser_that_of_a_last_and_says_why_a_few(runner: Runner, make: Any) -> None:
    one = side(runner, make, CALL)
    found = picker(runner, one.case, [one], CompareLinks("/x", Asked((one.side, Side(chunk="whole")))))
    values = [option.value for group in found.parsers for option in group.options]
    assert sorted(values) == sorted({option.value for option in offered_parsers(runner)})
    assert {*builtin_formats()} <= {*values}
    assert values[-1] == "qwen"
    assert found.parsers[0].heading == READ
    notes = [choice.note for choice in dict(found.groups)["Same text, another parser"]]
    assert notes == sorted(
        notes, key=["reads 1 call", "reads a call", "shares markers", "all is text", "built in"].index
    )
    assert "reads 1 call" in notes
    assert (found.name, found.words) == ("c", {"c_chunk": one.side.chunk})


def test_what_reads_the_known_output_of_a_recording_is_offered_beside_it(runner: Runner) -> None:
    recording = replayed(runner, stream_case(parser="qwen", text=TEXT), "a", Side(parser="recorded"))
    assert reading_formats(runner, recording)["qwen"] == "1 call"
    assert reading_formats(runner, replayed(runner, stream_case(), "a", Side())) == {}
