"""Characters and tokens: utf8_clean, decodes_alike, ids_with_text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from parsers.checks import run_checks
from parsers.vocabulary.trace import Finding, Trace
from parsers.vocabulary.types import MessageDelta, Piece, ToolCallDelta
from tests.parsers.checks.subjects import subject

Build = Callable[..., Trace]
PIECES = (Piece("It ", 7, b"It "), Piece("rains", 8, b"rains"), Piece("", 9, b""))


def found(trace: Trace) -> list[Finding]:
    return run_checks(subject(trace), ["utf8_clean"]).findings


def stream(build: Build, *pieces: str) -> Trace:
    steps = [[("arguments", piece)] for piece in pieces]
    return build([("name", "f"), *steps[0]], *steps[1:], [("end",)])


def test_whole_characters_and_escapes_are_clean(build: Build) -> None:
    assert found(stream(build, '{"é": "\\u00e9', "\\n\\\\", "\\ud83d\\ude00", '🙂"}')) == []


def test_damage_in_the_output_is_a_note_about_it(build: Build) -> None:
    (finding,) = found(build([("content", "ab")], [("content", "c\ufffd\ufffd")]))
    assert finding.message == "The output itself has 2 characters that could not be decoded (U+FFFD)."
    assert (finding.severity, finding.about, finding.step, finding.span) == ("info", "output", 2, (3, 4))


@pytest.mark.parametrize(
    "delta",
    [
        MessageDelta(content="\ufffd"),
        MessageDelta(reasoning="a\ufffd"),
        MessageDelta(tool_calls=[ToolCallDelta(0, "i", "f\ufffd")]),
        MessageDelta(tool_calls=[ToolCallDelta(0, arguments="\ufffd")]),
    ],
)
def test_damage_that_the_output_does_not_have_is_the_parsers(build: Build, delta: MessageDelta) -> None:
    trace = build([("content", "a")], [("content", "é")], [("content", "b")], deltas={1: None, 2: delta})
    (finding,) = found(trace)
    assert finding.message.startswith("A character that could not be decoded (U+FFFD) is sent")
    assert (finding.severity, finding.about, finding.step) == ("error", "parser", 2)


def test_damage_sent_before_the_output_has_it_is_the_parsers(build: Build) -> None:
    trace = build([("content", "a")], [("content", "\ufffd")], deltas={1: MessageDelta(content="\ufffd"), 2: None})
    assert [(f.severity, f.step) for f in found(trace)] == [("error", 1), ("info", 2)]


def test_half_a_surrogate_pair_is_the_parsers_unless_the_output_has_it(build: Build) -> None:
    broken = build([("content", "a")], [("content", "🙂", "\ud83d")])
    written = build([("content", "a\ud83d")])
    assert [(f.severity, f.about, f.step, f.message) for f in [*found(broken), *found(written)]] == [
        ("error", "parser", 2, "Half a character (a lone surrogate) is sent in the content."),
        ("warning", "output", 1, "Half a character (a lone surrogate) is sent in the content."),
    ]


@pytest.mark.parametrize(
    ("pieces", "cut"),
    [
        (['{"a": "\\', 'n"}'], '{"a": "\\'),
        (['{"a": "\\u', '00e9"}'], '{"a": "\\u'),
        (['{"a": "\\u00', 'e9"}'], '{"a": "\\u00'),
        (['{"a": "\\ud83d', '\\ude00"}'], '": "\\ud83d'),
        (['{"a": "\\ud83d\\', 'ude00"}'], ': "\\ud83d\\'),
        (['{"a": "\\\\\\', '""}'], '{"a": "\\\\\\'),
    ],
)
def test_a_delta_that_ends_inside_an_escape_is_a_warning(build: Build, pieces: list[str], cut: str) -> None:
    (finding,) = found(stream(build, *pieces))
    assert finding.message == "A delta ends inside an escape of the arguments of call 0 (`f`)."
    assert (finding.severity, finding.about, finding.step) == ("warning", "parser", 1)
    assert (finding.actual or "").endswith(cut[-12:])


@pytest.mark.parametrize(
    "pieces",
    [['{"a": "\\\\', 'n"}'], ['{"a": "\\ud83d', 'x"}'], ['{"a": "\\ud83d', '\\u00e9"}'], ['{"a": "', "\\u00"], ["\\"]],
)
def test_a_delta_that_ends_at_an_escape_or_in_the_last_one_is_clean(build: Build, pieces: list[str]) -> None:
    assert found(stream(build, *pieces)) == []


def test_only_the_first_cut_of_a_call_is_told(build: Build) -> None:
    (finding,) = found(stream(build, '{"a": "', "\\", "u00", "e9 \\", 'n"}'))
    assert finding.message == "A delta ends inside an escape of the arguments of call 0 (`f`) (and 2 more)."
    assert finding.step == 2


# ids and text


def fed(build: Build, texts: Sequence[str], ids: Sequence[tuple[int, ...]], **chunking: int) -> Trace:
    trace = build(*[[("content", text)] if text else [] for text in texts])
    for step, given in zip(trace.steps, ids, strict=False):
        step.ids = given
    trace.chunking = {"by": "token", **chunking}
    return trace


def found_of(name: str, trace: Trace, pieces: Sequence[Piece] = PIECES) -> list[Finding]:
    return run_checks(subject(trace, pieces=pieces), [name]).findings


@pytest.mark.parametrize(
    ("texts", "ids", "message"),
    [
        (["It ", "rains", ""], [(7,), (8,), (9,)], None),
        (["It rains"], [(7, 8, 9)], None),
        (["I", "t ", "rains"], [(7,), (), (8, 9)], None),
        (["It ", "rains"], [(7,), (7, 8)], "The ids of this delta are not the next ones of the output."),
        (["It ", "rains"], [(7,), (8,)], "1 ids of the output never arrive in a delta."),
        (
            ["It ", "rains"],
            [(), (7, 8, 9)],
            "Ids and text are out of step: 3 characters of text arrive before their ids.",
        ),
        (
            ["", "", "It rains"],
            [(7, 8, 9), (), ()],
            "Ids and text are out of step: 8 characters of text are missing for the ids that have arrived.",
        ),
    ],
)
def test_ids_arrive_once_in_order_and_with_their_text(
    build: Build, texts: list[str], ids: list[tuple[int, ...]], message: str | None
) -> None:
    assert [finding.message for finding in found_of("ids_with_text", fed(build, texts, ids))] == (
        [message] if message else []
    )


def test_text_may_come_as_late_as_the_chunking_says(build: Build) -> None:
    late = (["", "", "It rains"], [(7, 8), (9,), ()])
    assert found_of("ids_with_text", fed(build, *late)) != []
    assert found_of("ids_with_text", fed(build, *late, holdback_chars=8)) == []
    assert found_of("ids_with_text", fed(build, *late, text_delay=2)) == []


def test_where_some_tokens_have_no_id_only_the_order_is_judged(build: Build) -> None:
    pieces = (Piece("It "), Piece("rains", 8))
    assert found_of("ids_with_text", fed(build, ["It ", "rains"], [(), (8,)]), pieces) == []


def test_an_output_of_nothing_has_nothing_to_miss() -> None:
    assert found_of("ids_with_text", Trace("demo", (), {}, "text", "")) == []


def test_tokens_decode_to_the_text(build: Build) -> None:
    split = (Piece("caf", 1, b"caf\xc3"), Piece("é", 2, b"\xa9"))
    assert found_of("decodes_alike", fed(build, ["caf", "é"], []), split) == []
    (finding,) = found_of("decodes_alike", fed(build, ["caf", "\ufffd\ufffd"], []), split)
    assert finding.message == "From character 3 of the output on, the text is not what its tokens decode to."
    assert (finding.about, finding.step, finding.expected) == ("output", 2, "é")
