"""A HAR file: what a browser's network panel saves, an entry for each request with the body that came back.

Fields: HAR 1.2 (log.entries, request.postData.text, response.content.text and its encoding). Of everything else in it,
headers and cookies above all, nothing is kept.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from parsers.intake.damage import CUT_JSON, several
from parsers.intake.jsonread import closed, whole_object
from parsers.intake.log import event_log, object_log, response_log
from parsers.intake.logs import logged
from parsers.intake.model import Payload, Recognised, Warn, number
from parsers.intake.requests import is_request, joined, request_of

_SECRET = Warn("har_secrets", "A HAR file holds cookies and keys of the whole visit. None is kept; share it with care.")


def read_har(body: str) -> Recognised | None:
    """The answers of a language model among the entries, each with its request."""
    whole = whole_object(body) if '"entries"' in body else {}
    entries = _dict(_dict(closed(body) if whole is None else whole).get("log")).get("entries")
    if not isinstance(entries, list):
        return None
    answers = [answer for entry in entries if (answer := _answer(entry)) is not None and answer.usable]
    why = f"It is a HAR file of {number(len(entries), 'request')}, {len(answers)} of them answered by a language model."
    made = _joined(answers, why) if answers else _empty(why)
    made.warnings = (*((CUT_JSON,) if whole is None else ()), *made.warnings)
    return made


def _empty(why: str) -> Recognised:
    advice = "Save the network panel again with content, and with the request to the model in it."
    return Recognised(kind="json_response", title="HAR file without a model's answer", advice=advice, why=(why,))


def _answer(entry: Any) -> Recognised | None:
    """What the body of one entry is, with what was asked for."""
    parts = _dict(entry)
    text = _body(_dict(_dict(parts.get("response")).get("content")))
    if text is None:
        return None
    whole = whole_object(text)
    found = logged(response_log(whole) if whole is not None else event_log(text) or object_log(text))
    sent = _dict(_dict(parts.get("request")).get("postData")).get("text")
    asked = whole_object(sent) if isinstance(sent, str) else None
    if found is not None and asked is not None and is_request(asked):
        for output in found.outputs:
            output.request = joined(output.request, request_of(asked))
    return found


def _body(content: Payload) -> str | None:
    text = content.get("text")
    if not isinstance(text, str) or content.get("encoding") != "base64":
        return text if isinstance(text, str) else None
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return None


def _joined(answers: list[Recognised], why: str) -> Recognised:
    """The first answer; where there are more, one with the outputs of all."""
    made = answers[0]
    made.why, made.warnings = (why, *made.why), (*made.warnings, _SECRET)
    if len(answers) == 1:
        return made
    for place, answer in enumerate(answers, 1):
        for output in answer.outputs:
            output.label = f"answer {place}, {output.label}".removesuffix(", ")
    made.outputs = tuple([output for answer in answers for output in answer.outputs])
    made.title, made.facts = f"HAR file, {number(len(answers), 'answer')}", ()
    other = [warn for answer in answers for warn in answer.warnings if warn.code != "several"]
    made.warnings = tuple(dict.fromkeys([several(len(made.outputs)), *other]))
    return made


def _dict(value: Any) -> Payload:
    return value if isinstance(value, dict) else {}
