"""A recording with gaps: what missing chunks explain is not said of the server."""

from __future__ import annotations

from dataclasses import replace

import pytest

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
