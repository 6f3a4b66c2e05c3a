"""Text of the markup that a foreign parser sends as content: headers and names, not the answer itself."""

from __future__ import annotations

import pytest

from parsers.checks import Subject, run_checks
from parsers.checks.examples import Entry
from parsers.vocabulary.trace import Finding, Topic
from tests.growth import assert_linear, seconds
from tests.parsers.checks.test_departures import Build, beside

CALL: list[Entry] = [("marker", "<c>"), ("name", "get"), ("arguments", "{}"), ("marker", "</c>"), ("end",)]
SIZES = (400, 800, 1_600)


def found(build: Build, right: list[Entry], wrong: list[Entry], **given: object) -> list[Finding]:
    return run_checks(beside(build, right, wrong, **given), ["no_structure_sent"]).findings


@pytest.mark.parametrize(
    ("before", "after", "sent", "text"),
    [
        ([], [], [("content", "get")], "get"),
        ([("content", "Hi. ")], [], [("content", "Hi. get")], "get"),
        ([], [("content", "It rains.")], [("content", "getIt rains.")], "get"),
        ([("structure", "to=user")], [("content", "Hi.")], [("content", "to=user Hi.")], "to=user"),
        ([("structure", "to="), ("structure", "user")], [("content", "Hi.")], [("content", "to=userHi.")], "to=user"),
    ],
)
def test_text_of_the_markup_is_found_where_it_stands(
    build: Build, before: list[Entry], after: list[Entry], sent: list[Entry], text: str
) -> None:
    (finding,) = found(build, [*before, *CALL, *after], [*sent, *CALL])
    assert finding.message == f"`{text}` is sent as content; in the output it belongs to the markup."
    assert (finding.severity, finding.about, finding.topic, finding.actual) == ("warning", "parser", Topic.LEAK, text)
    start = "".join([entry[1] for entry in (*before, *CALL) if len(entry) > 1 and entry[0] != "end"]).index(text)
    assert finding.span == (start, start + len(text))


@pytest.mark.parametrize(
    "sent",
    [
        [("content", "Hi. It rains.")],  # the right one
        [("content", "Hi.")],  # less than the right one
        [("content", "Hi. {} It rains.")],  # no letters
        [("content", "Hi. It rains. get")],  # not in its place
        [("content", "Hi. gets It rains.")],  # other text
        [("content", "get It is Hi. rains.")],
    ],
)
def test_other_texts_are_matters_of_other_checks(build: Build, sent: list[Entry]) -> None:
    assert found(build, [("content", "Hi."), *CALL, ("content", "It rains.")], [*sent, *CALL]) == []


def test_where_another_call_is_sent_that_is_told_first(build: Build) -> None:
    other: list[Entry] = [("name", "put"), ("arguments", "{}"), ("end",)]
    assert found(build, CALL, [("content", "get"), *other]) == []


@pytest.mark.linear
def test_it_takes_linear_time(build: Build) -> None:
    def made(size: int) -> Subject:
        entries: list[Entry] = [*CALL, ("content", "It rains. ")] * size
        return beside(build, entries, [("content", "getIt rains. " * size), *CALL * size])

    subjects = {size: made(size) for size in SIZES}
    assert_linear(lambda size: seconds(lambda: run_checks(subjects[size], ["no_structure_sent"])), SIZES)
