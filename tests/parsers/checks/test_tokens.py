"""decodes_alike, ids_with_text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from parsers.checks import Subject, run_checks
from parsers.vocabulary.trace import Finding, Trace
from parsers.vocabulary.types import Piece

Build = Callable[..., Trace]
PIECES = (Piece("It ", 7, b"It "), Piece("rains", 8, b"rains"), Piece("", 9, b""))


def fed(build: Build, texts: Sequence[str], ids: Sequence[tuple[int, ...]], **chunking: int) -> Trace:
    trace = build(*[[("content", text)] if text else [] for text in texts])
    for step, given in zip(trace.steps, ids, strict=False):
        step.ids = given
    trace.chunking = {"by": "token", **chunking}
    return trace


def found(name: str, trace: Trace, pieces: Sequence[Piece] = PIECES) -> list[Finding]:
    return run_checks(Subject(trace, pieces=pieces), [name]).findings


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
    assert [finding.message for finding in found("ids_with_text", fed(build, texts, ids))] == (
        [message] if message else []
    )


def test_text_may_come_as_late_as_the_chunking_says(build: Build) -> None:
    late = (["", "", "It rains"], [(7, 8), (9,), ()])
    assert found("ids_with_text", fed(build, *late)) != []
    assert found("ids_with_text", fed(build, *late, holdback_chars=8)) == []
    assert found("ids_with_text", fed(build, *late, text_delay=2)) == []


def test_where_some_tokens_have_no_id_only_the_order_is_judged(build: Build) -> None:
    pieces = (Piece("It "), Piece("rains", 8))
    assert found("ids_with_text", fed(build, ["It ", "rains"], [(), (8,)]), pieces) == []


def test_an_output_of_nothing_has_nothing_to_miss() -> None:
    assert found("ids_with_text", Trace("demo", (), {}, "text", "")) == []


def test_tokens_decode_to_the_text(build: Build) -> None:
    split = (Piece("caf", 1, b"caf\xc3"), Piece("é", 2, b"\xa9"))
    assert found("decodes_alike", fed(build, ["caf", "é"], []), split) == []
    (finding,) = found("decodes_alike", fed(build, ["caf", "\ufffd\ufffd"], []), split)
    assert finding.message == "From character 3 on, the text is not what its tokens decode to."
    assert (finding.about, finding.step, finding.expected) == ("output", 2, "é")
