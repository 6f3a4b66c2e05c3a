"""What a case knows of the engine that parses it, beside what came of it, as JSON: `engines.NAME`, else what holds for
all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from parsers.cases.case import Case
from parsers.cases.expect import Difference, differences, trace_differences
from parsers.cases.message_events import MessageEvent
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Message


def known_of_trace(case: Case, trace: Trace) -> dict[str, Any]:
    """What a case knows of the engine, and where a replay is not as it expects."""
    return _known(case, trace_differences(case.known.expect, trace, case.compare))


def known_of_message(
    case: Case, message: Message | None, finish_reason: str | None, events: Sequence[MessageEvent] | None = None
) -> dict[str, Any]:
    """The same of a message alone, and its parts in order where that is known. None: nothing is compared."""
    expect = case.known.expect
    if expect is None or message is None:
        return _known(case, [])
    return _known(case, differences(expect, message, finish_reason, case.compare, events))


def _known(case: Case, found: Sequence[Difference]) -> dict[str, Any]:
    known = case.known
    return {
        "engine": case.engine_name,
        "verdict": known.verdict,
        "link": known.link,
        "notes": list(known.notes),
        "expects": known.expect is not None,
        "differences": [asdict(one) for one in found],
    }
