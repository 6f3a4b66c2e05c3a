"""Chunks of Bedrock's invoke_model stream, whose bytes are the event of the model's own API.

    {'chunk': {'bytes': b'{"type": "content_block_delta", ...}'}}      boto3, printed
    {"chunk": {"bytes": "eyJ0eXBlIjoiY29udGVudF9ibG9ja19kZWx0YSJ9"}}     the same as JSON
    {"bytes": "eyJ0eXBlIjoi...", "p": "abcdef"}                           as it comes; `p` fills it up

(Amazon Bedrock API reference, InvokeModelWithResponseStream: PayloadPart.)
"""

from __future__ import annotations

import base64
import binascii

from parsers.intake.evidence import Payload
from parsers.intake.written_values import object_of, whole_object, word_of

_BESIDE = frozenset(("bytes", "p"))


def unwrapped(payload: Payload) -> Payload:
    """Return the object that stands in the bytes of a chunk; any other payload as it is."""
    part = object_of(payload.get("chunk")) if len(payload) == 1 else payload
    spelled = word_of(part.get("bytes")) if _BESIDE.issuperset(part) else None
    inner = None if spelled is None else whole_object(spelled) or whole_object(_decoded(spelled))
    return payload if inner is None else inner


def _decoded(spelled: str) -> str:
    try:
        return base64.b64decode(spelled, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""
