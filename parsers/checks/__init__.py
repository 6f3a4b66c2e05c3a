"""Checks: what can be said about a replay without knowing the right answer.

`CHECKS` is the registry, in the order in which checks are listed; `run_checks` runs them on a `Subject`. A check
holds when it ran and found neither error nor warning: a note breaks nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from parsers.checks.accounting import (
    all_output_lost,
    no_double_ownership,
    nothing_invented,
    spans_cover_input,
    tool_call_dropped,
)
from parsers.checks.argument_text import arguments_closed, arguments_json, arguments_prefix, strings_whole
from parsers.checks.check import LIMIT, Check, CheckReport, Subject, missing_need
from parsers.checks.chunkings import chunking, whole_equals_streamed
from parsers.checks.deltas import (
    calls_apart,
    deltas_build_message,
    id_once,
    index_dense,
    monotone,
    name_once_before_arguments,
    no_empty_delta,
)
from parsers.checks.leaks import (
    answer_only_in_reasoning,
    no_argument_leak,
    no_control_tokens,
    no_early_leak,
    no_reasoning_leak,
    no_terminal_leak,
    reasoning_boundary,
)
from parsers.checks.robust import (
    changed_output_raised,
    escapes,
    linear_arguments,
    no_length_cap,
    recovers,
    reusable,
    truncation,
)
from parsers.checks.robust_request import neighbours, schema_changes, start_state, tool_choice
from parsers.checks.running import (
    emission_lag,
    ends_idle,
    finish_reason,
    held_bounded,
    linear_time,
    parser_raised,
)
from parsers.checks.server_stream import (
    bookkeeping,
    chunk_shape,
    decodes_alike,
    ids_with_text,
    rerenders,
    server_agrees,
)
from parsers.checks.text import utf8_clean
from parsers.checks.values import arguments_schema, known_tool, values_kept
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import UsageError

__all__ = ["CHECKS", "Check", "CheckReport", "Subject", "run_checks"]

CHECKS: dict[str, Check] = {
    checker.name: checker
    for checker in (
        chunking,
        whole_equals_streamed,
        monotone,
        decodes_alike,
        spans_cover_input,
        all_output_lost,
        nothing_invented,
        no_double_ownership,
        ids_with_text,
        no_terminal_leak,
        no_reasoning_leak,
        no_argument_leak,
        no_early_leak,
        no_control_tokens,
        tool_call_dropped,
        held_bounded,
        name_once_before_arguments,
        no_empty_delta,
        known_tool,
        index_dense,
        id_once,
        calls_apart,
        arguments_json,
        arguments_prefix,
        arguments_closed,
        arguments_schema,
        strings_whole,
        values_kept,
        utf8_clean,
        answer_only_in_reasoning,
        reasoning_boundary,
        ends_idle,
        finish_reason,
        parser_raised,
        linear_time,
        emission_lag,
        deltas_build_message,
        server_agrees,
        chunk_shape,
        bookkeeping,
        rerenders,
        changed_output_raised,
        truncation,
        recovers,
        reusable,
        escapes,
        no_length_cap,
        linear_arguments,
        neighbours,
        start_state,
        schema_changes,
        tool_choice,
    )
}

_RANK = {"error": 0, "warning": 1, "info": 2}


def run_checks(subject: Subject, only: Sequence[str] | None = None) -> CheckReport:
    """Run the checks (those named in `only`, or all) and sort what they find, worst first, then by step.

    Raises UsageError for a name in `only` that is no check.
    """
    report = CheckReport([], [], [])
    for checker in _chosen(only):
        why = missing_need(checker, subject)
        if why is not None:
            report.skipped.append((checker.name, why))
            continue
        found = checker(subject)
        report.findings += _limited(checker, found)
        if all(finding.severity == "info" for finding in found):
            report.holding.append(checker.name)
    report.findings.sort(key=_order)
    return report


def _chosen(only: Sequence[str] | None) -> list[Check]:
    unknown = [name for name in only or () if name not in CHECKS]
    if unknown:
        raise UsageError(f"there is no check named {unknown[0]!r}; the checks are {', '.join(CHECKS)}")
    return [checker for name, checker in CHECKS.items() if only is None or name in only]


def _limited(checker: Check, found: list[Finding]) -> list[Finding]:
    """The worst LIMIT findings and one line that says how many more there are."""
    if len(found) <= LIMIT:
        return found
    found = sorted(found, key=_order)
    rest = found[LIMIT:]
    more = checker.finding(f"{len(rest)} more findings of this kind are not listed.", severity=rest[0].severity)
    more.about = rest[0].about
    return [*found[:LIMIT], more]


def _order(finding: Finding) -> tuple[int, bool, int]:
    return _RANK[finding.severity], finding.step is None, finding.step or 0
