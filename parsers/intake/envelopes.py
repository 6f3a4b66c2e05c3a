"""Envelopes in which a payload of an API comes: what stands in one is read in its place.

    {'chunk': {'bytes': b'{"type": "content_block_delta", ...}'}}      Bedrock's invoke_model, as boto3 prints it
    {"chunk": {"bytes": "eyJ0eXBlIjoiY29udGVudF9ibG9ja19kZWx0YSJ9"}}     the same as JSON
    {"bytes": "eyJ0eXBlIjoi...", "p": "abcdef"}                           as it comes; `p` fills it up
    {"custom_id": "a", "response": {"status_code": 200, "body": {...}}}   a row of what a batch of OpenAI's answers
    {"status": 200, "headers": {...}, "body": {...}}                      an answer of HTTP, as programs keep it

(Amazon Bedrock API reference, InvokeModelWithResponseStream: PayloadPart. OpenAI API reference, Batch: the request
output object.)
"""

from __future__ import annotations

import base64
import binascii

from parsers.intake.evidence import Payload
from parsers.intake.written_values import object_of, whole_object, word_of

_BESIDE = frozenset(("bytes", "p"))
_STATUS = ("status_code", "status", "statusCode")


def unwrapped(payload: Payload) -> Payload:
    """Return the object that stands in an envelope; any other payload as it is."""
    answer = payload if "body" in payload else object_of(payload.get("response"))
    if isinstance(body := answer.get("body"), dict) and any(type(answer.get(one)) is int for one in _STATUS):
        return body
    part = object_of(payload.get("chunk")) if len(payload) == 1 else payload
    spelled = word_of(part.get("bytes")) if _BESIDE.issuperset(part) else None
    inner = None if spelled is None else whole_object(spelled) or whole_object(_decoded(spelled))
    return payload if inner is None else inner


def _decoded(spelled: str) -> str:
    try:
        return base64.b64decode(spelled, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""
