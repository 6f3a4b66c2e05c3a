"""A recording with gaps: what missing chunks explain is not said of the server."""

from __future__ import annotations

from dataclasses import replace

import pytest

from parsers.cases.io import load_case
from parsers.cases.run import run_case
from parsers.checks import CHECKS
from parsers.checks.examples import scripted
from parsers.checks.gaps import blamed_on_recording
from parsers.checks.known import Known
from parsers.vocabulary.trace import Topic
from tests.parsers.checks.subjects import subject


@pytest.mark.parametrize("topic", Topic)
@pytest.mark.parametrize(("whole", "plays"), [(True, True), (False, False), (False, True)])
def test_only_what_is_torn_is_about_the_recording(topic: Topic, whole: bool, plays: bool) -> None:
    known = replace(Known(), whole=whole)
    given = CHECKS["arguments_json"].finding("The arguments end.", topic=topic)
    (found,) = blamed_on_recording(subject(scripted([("content", "a")]), plays=plays, known=known), [given])
    torn = plays and not whole and topic in (Topic.ARGUMENTS, Topic.STREAM, Topic.SCHEMA, Topic.UNANSWERED)
    wanted = ("request", "warning", Topic.CUT) if torn else ("parser", "error", topic)
    assert (found.about, found.severity, found.topic) == wanted
    assert found.message == ("Chunks of what was recorded are missing: the arguments end." if torn else given.message)


def test_a_note_stays_a_note() -> None:
    seen = subject(scripted([("content", "a")]), plays=True, known=replace(Known(), whole=False))
    note = CHECKS["arguments_json"].finding("It is so.", severity="info", topic=Topic.ARGUMENTS)
    assert blamed_on_recording(seen, [note])[0].severity == "info"


@pytest.mark.parametrize(
    ("gaps", "about", "words"),
    [
        (False, "parser", "The finish reason is `tool_calls`, but no call came."),
        (True, "request", "Chunks of what was recorded are missing: the finish reason is `tool_calls`, and no call is"),
    ],
)
def test_a_call_that_was_announced_is_missing_from_what_was_recorded(gaps: bool, about: str, words: str) -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": "Hi."}, "finish_reason": "tool_calls"}]}
    given = {"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": [chunk], "gaps": gaps}}
    (found,) = [one for one in run_case(load_case(given)).findings if one.check == "finish_reason"]
    assert found.about == about
    assert found.message.startswith(words)
