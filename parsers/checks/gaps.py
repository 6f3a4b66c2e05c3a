"""What a recording with gaps says of a server: nothing that a missing chunk explains."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from parsers.checks.subject import Subject
from parsers.vocabulary.trace import Finding, Topic

_TORN = frozenset((Topic.ARGUMENTS, Topic.STREAM, Topic.SCHEMA, Topic.UNANSWERED))


def blamed_on_recording(subject: Subject, findings: Iterable[Finding]) -> list[Finding]:
    """The findings, where those that missing chunks may be the cause of are about what was recorded."""
    if subject.known.whole or not subject.server.plays:
        return [*findings]
    return [_of_recording(finding) if finding.topic in _TORN else finding for finding in findings]


def _of_recording(finding: Finding) -> Finding:
    message = f"Chunks of what was recorded are missing: {finding.message[:1].lower()}{finding.message[1:]}"
    severity = "warning" if finding.severity == "error" else finding.severity
    return replace(finding, message=message, severity=severity, about="request", topic=Topic.CUT)
