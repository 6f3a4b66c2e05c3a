"""The report of a sweep: one value that JSON, text, pages and tables are made of.

It follows from the summary and from what the second stage says, and from nothing else: no clock, no host, no order of
work shows in it. Measured times are another file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from parsers.sweeps.known_threads import Threads, no_threads
from parsers.sweeps.second_stage import Studied
from parsers.sweeps.signature import Signature
from parsers.sweeps.summary import Place, Skipped, Summary, Tally

SCHEMA = 1
# Whom a finding is about, in words.
FAULT = {"output": "the model", "request": "the request or its template", "parser": "the parser"}


def report_json(
    summary: Summary,
    files: Sequence[str],
    plan: Mapping[str, Any],
    studied: Mapping[str, Studied] | None = None,
    threads: Threads = no_threads,
) -> dict[str, Any]:
    """The report. `files` are the names of the corpus's files in order, `studied` what is said by signature, `threads`
    who reported it."""
    tallies = sorted(summary.tallies.items(), key=lambda one: (-one[1].count, one[0].rank))
    return {
        "schema": SCHEMA,
        "sentence": sentence(summary),
        "plan": plan,
        "rows": summary.rows,
        "outputs": summary.outputs,
        "repeated": summary.repeated,
        "wrong": summary.wrong,
        "cut_off": sum([one.cut for one in summary.readings.values()]),
        "parsers": [{"name": name, **asdict(one)} for name, one in sorted(summary.readings.items())],
        "blamed": _blamed(summary),
        "signatures": [
            {
                **_signature(signature, tally, summary, files, (studied or {}).get(signature.id)),
                "threads": [asdict(one) for one in threads(signature)],
            }
            for signature, tally in tallies
        ],
        "skipped": [
            {"reason": why.name.lower(), "words": why.value, **_skipped(one, summary, files)}
            for why, one in sorted(summary.skipped.items(), key=lambda one: one[0].name)
        ],
    }


def sentence(summary: Summary) -> str:
    """What came of it, in one sentence."""
    outputs, wrong = f"{summary.outputs:,} output{'s' * (summary.outputs != 1)}", summary.wrong
    if not summary.outputs:
        return "No output was found."
    if not wrong:
        return f"Nothing is wrong with any of {outputs}."
    most = max(summary.tallies.items(), key=lambda one: (one[1].count, one[0].id))
    kinds = len(summary.tallies)
    share = f"{percent(wrong, summary.outputs)} of {outputs} {'have' if wrong != 1 else 'has'} something wrong"
    if kinds == 1:
        return f"{share}, all of one signature: {most[0].words}."
    return f"{share}, in {kinds} signatures; {percent(most[1].count, wrong)} of them by one: {most[0].words}."


def percent(part: int, whole: int) -> str:
    """A share in words, with so many places that it is not nothing."""
    share = 100 * part / whole if whole else 0.0
    return f"{share:.1f} %" if share >= 0.95 or not part else f"{share:.2g} %"


def code_parts(words: str) -> list[str]:
    """A clause in parts, every other one code: what stands between backquotes."""
    return [str(part) for part in re.split(r"`([^`]*)`", words)]


def _blamed(summary: Summary) -> dict[str, int]:
    """How often whom: a signature of an output counts once for each."""
    found = dict.fromkeys(FAULT, 0)
    for signature, tally in summary.tallies.items():
        found[signature.about] += tally.count
    return found


def _signature(
    signature: Signature, tally: Tally, summary: Summary, files: Sequence[str], studied: Studied | None
) -> dict[str, Any]:
    said = studied or Studied(length=tally.smallest.length if tally.smallest is not None else 0)
    return {
        "id": signature.id,
        **asdict(signature),
        "words": signature.words,
        "count": tally.count,
        "share": round(tally.count / summary.outputs, 8),
        "parsers": dict(sorted(tally.parsers.items())),
        "examples": [named(place, summary, files) for place in tally.examples],
        "smallest": {
            "row": named(tally.smallest.place, summary, files) if tally.smallest is not None else None,
            **asdict(said),
        },
    }


def _skipped(skipped: Skipped, summary: Summary, files: Sequence[str]) -> dict[str, Any]:
    return {"count": skipped.count, "examples": [named(place, summary, files) for place in skipped.examples]}


def named(place: Place, summary: Summary, files: Sequence[str]) -> str:
    """The id of a row: its file, and the number of its line in that."""
    return f"{files[place.file]}:{summary.line(place)}"
