"""What the inspector says of a client's print: whether it is the story's message, and whether the verdict is fair."""

from __future__ import annotations

import json
from dataclasses import replace

from parsers.cases.find import CaseSearch
from parsers.cases.io import load_case
from parsers.intake import recognise
from parsers.intake.evidence import Intake
from parsers.search.found import Verdict
from tests.parsers.intake.recorded_files import STORIES, Recorded, faults, message
from webapp.recordings import taken

# What clients do not print, in Node and in google-genai.
_LEFT_OUT = ("[Object]", "[Array]", "<... ")
# What a verdict may be where the message is that of the story: of calls that a client did not mend, and of one index
# for two calls where the print has indices.
_FAIR = {
    "good": {"all_hold", "recording_cut"},
    "leak": {"server_unparsed"},
    "brace": {"broken_arguments", "broken_stream", "recording_cut"},
    "dup": {"broken_arguments", "broken_stream", "recording_cut"},
    "idx": {"all_hold", "broken_stream", "broken_arguments", "recording_cut"},
    "think": {"marker_leak"},
}
# Prints of one call or block alone: of a story with two, the other one is not there.
_ONE = ("call0", "item_last", "block_last")


def as_recorded(client: str, story: str, shape: str, text: str) -> Recorded:
    """A print, as the recorded ones are."""
    return Recorded(client, shape, story, text, any(sign in text for sign in _LEFT_OUT))


def wrong_in(one: Recorded) -> list[str]:
    """What is wrong in what the inspector makes of a print."""
    found = recognise(one.text.encode(), pasted=True)
    if one.lost and "left_out" not in [warn.code for warn in found.warnings]:
        return ["nothing is said of what the client left out"]
    wrong = [] if one.lost or (one.story == "idx" and one.shape.endswith(_ONE)) else faults(found, one)
    return wrong or _unfair(found, one)


def _unfair(found: Intake, one: Recorded) -> list[str]:
    recording = found.recording
    if recording is None or recording.stream is None or not found.usable:
        return []
    search = CaseSearch(load_case(taken(replace(recording, request=None)).data))
    assert list(search.run())
    verdict, said = search.result().found.verdict, message(recording)
    fair = _FAIR[one.story]
    if one.lost:
        return (
            [_told(verdict)] if verdict.severity == "error" and said.arguments != STORIES[one.story].arguments else []
        )
    if one.story in ("brace", "dup") and _is_object(said.arguments):
        fair = {"all_hold"}  # the client mended it
    return [] if verdict.kind in fair else [_told(verdict)]


def _told(verdict: Verdict) -> str:
    return f"{verdict.severity} {verdict.kind}: {verdict.headline}"


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except ValueError:
        return False
