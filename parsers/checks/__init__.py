"""Checks: what can be said about a replay without knowing the right answer.

`CHECKS` is the registry, in the order in which checks are listed; `run_checks` runs them on a `Subject`. A check
holds when it ran and found neither error nor warning: a note breaks nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from parsers.checks import (  # noqa: F401  their checks are registered
    accounting,
    argument_text,
    argument_values,
    characters,
    chunkings,
    declared,
    deltas,
    departures,
    leaks,
    left_over,
    metamorphic_output,
    metamorphic_request,
    origins,
    running,
    said_again,
    server_stream,
    structure,
)
from parsers.checks.check import LIMIT, REGISTERED, Check, CheckReport
from parsers.checks.gaps import blamed_on_recording
from parsers.checks.ill_formed import blamed_on_output
from parsers.checks.subject import Subject
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import UsageError

__all__ = ["CHECKS", "Check", "CheckReport", "Subject", "run_checks", "run_each_check"]

# How they are listed: what every replay must hold first, then what needs more than the output itself.
_LISTED = (
    "chunking", "whole_equals_streamed", "monotone", "decodes_alike", "spans_cover_input", "all_output_lost",
    "nothing_invented", "no_double_ownership", "spaces_kept", "ids_with_text", "no_terminal_leak", "no_reasoning_leak",
    "no_argument_leak", "no_early_leak", "no_structure_sent", "no_control_tokens", "tool_call_dropped", "held_bounded",
    "name_once_before_arguments", "no_empty_delta", "known_tool", "names_kept", "calls_as_promised", "index_dense",
    "id_once", "calls_apart", "arguments_json", "arguments_prefix", "arguments_closed", "arguments_schema",
    "strings_whole", "values_kept", "utf8_clean", "answer_only_in_reasoning", "reasoning_boundary", "channels_kept",
    "ends_idle", "finish_reason", "call_as_asked", "parser_raised", "linear_time", "emission_lag",
    "deltas_build_message", "server_agrees", "chunk_shape", "sent_once", "nothing_left_over", "bookkeeping",
    "rerenders", "changed_output_raised", "truncation", "recovers", "reusable", "escapes", "no_length_cap",
    "linear_arguments", "neighbours", "start_state", "schema_changes", "tool_choice",
)  # fmt: skip

CHECKS: dict[str, Check] = {name: REGISTERED[name] for name in sorted(REGISTERED, key=_LISTED.index)}

_RANK = {"error": 0, "warning": 1, "info": 2}


def run_checks(subject: Subject, only: Sequence[str] | None = None) -> CheckReport:
    """Run the checks (those named in `only`, or all) and sort what they find, worst first, then by step.

    Raises UsageError for a name in `only` that is no check.
    """
    report = CheckReport([], [], [])
    for _ in run_each_check(report, subject, only):
        pass
    return report


def run_each_check(report: CheckReport, subject: Subject, only: Sequence[str] | None = None) -> Iterator[float]:
    """The same check by check, into `report`; yields how much is done before each of them, from 0 to 1."""
    unknown = [name for name in only or () if name not in CHECKS]
    if unknown:
        raise UsageError(f"there is no check named {unknown[0]!r}; the checks are {', '.join(CHECKS)}")
    checks = [check for name, check in CHECKS.items() if only is None or name in only]
    for number, check in enumerate(checks):
        yield number / len(checks)
        lacking = next((need for need in check.needs if not need.is_met(subject)), None)
        if lacking is not None:
            report.skipped.append((check.name, lacking))
            continue
        found = blamed_on_recording(subject, blamed_on_output(subject, check(subject)))
        report.findings += _limited(check, found)
        if all(finding.severity == "info" for finding in found):
            report.holding.append(check.name)
    report.findings.sort(key=_order)


def _limited(check: Check, found: list[Finding]) -> list[Finding]:
    """The worst LIMIT findings and one line that says how many more there are."""
    if len(found) <= LIMIT:
        return found
    found = sorted(found, key=_order)
    rest = found[LIMIT:]
    message = f"{len(rest)} more findings of this kind are not listed."
    return [*found[:LIMIT], check.finding(message, severity=rest[0].severity, about=rest[0].about)]


def _order(finding: Finding) -> tuple[int, bool, int]:
    return _RANK[finding.severity], finding.step is None, finding.step or 0
