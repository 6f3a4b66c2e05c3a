"""What of a run an answer has: `steps`, `fields` and `format` of the query, and the answer they ask for.

An object is answered up to `answer_bytes`. It is written before the first byte is sent, packed as it is written, and
kept in the budget of the runs, so that it is written once. JSON Lines are written while the client reads, and have no
limit of their own: the limits on text and tokens bound them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from time import thread_time

from flask import Response
from werkzeug.datastructures import MultiDict

from parsers.cases.case import Case
from parsers.cases.run import CaseRun, run_parts
from parsers.vocabulary.types import UsageError
from webapp.api.answers import ReplayResult
from webapp.api.operations import Key
from webapp.compression import packed
from webapp.engines.entered import engine_stamp
from webapp.runs.run_text import STEP_KEYS, Part, json_lines, json_text
from webapp.runs.runner import ChecksGoOn, Run
from webapp.security import api_error
from webapp.services import services
from webapp.settings import ENV_PREFIX

FORMATS = ("json", "jsonl")
RANGE = "([1-9][0-9]{0,8})-([1-9][0-9]{0,8})"
KEYS: tuple[str, ...] = tuple(ReplayResult.__annotations__)
QUERY = {
    "steps": Key(
        "The steps and deltas in the answer: none, all, or a range of them from 1, such as 1-500.",
        {"type": "string", "pattern": f"^(none|all|{RANGE})$", "default": "all"},
    ),
    "fields": Key(
        "The keys in the answer, separated by commas, such as message,findings; else it has all.",
        {"type": "array", "minItems": 1, "items": {"enum": list(KEYS)}},
        explode=False,
    ),
    "format": Key(
        "json: one object; jsonl: JSON Lines, the object without deltas and steps, then a line for each step.",
        {"type": "string", "enum": list(FORMATS), "default": FORMATS[0]},
    ),
}
_OF_MORE_REPLAYS = frozenset({"findings", "whole"})  # all other keys tell of the one that was asked for


@dataclass(slots=True, frozen=True)
class Wanted:
    """Says what a query asks for: which part of a run, and whether as JSON Lines."""

    part: Part
    lines: bool


def wanted_of(query: MultiDict[str, str]) -> Wanted:
    """Return what a query asks for. Raises UsageError for a value that no answer can be given to."""
    form = query.get("format", "json")
    if form not in FORMATS:
        raise UsageError(f"format={_shown(form)} is not known: ask for format=json or format=jsonl")
    keys, steps = frozenset(_keys(query.get("fields"))), query.get("steps", "all")
    if steps == "none":
        if "fields" in query and keys & STEP_KEYS:
            raise UsageError("steps=none leaves out deltas and steps, which fields asks for: leave out one of the two")
        keys -= STEP_KEYS
    places = () if steps in ("none", "all") else (_places(steps),)
    return Wanted(Part(keys, *places), form == "jsonl")


def _keys(fields: str | None) -> tuple[str, ...]:
    names = KEYS if fields is None else tuple(fields.split(","))
    for name in names:
        if name not in KEYS:
            raise UsageError(f"fields={_shown(name)} is no key of a replay: give some of {', '.join(KEYS)}")
    return names


def _places(steps: str) -> range:
    found = re.fullmatch(RANGE, steps)
    if found is None or int(found[1]) > int(found[2]):
        words = "ask for none, all, or a range that counts from 1 and ascends, such as steps=1-500"
        raise UsageError(f"steps={_shown(steps)} is no part of a replay: {words}")
    return range(int(found[1]) - 1, int(found[2]))


def _shown(given: str) -> str:
    return given if len(given) <= 40 else f"{given[:40]}…"


@dataclass(slots=True, frozen=True)
class _Written:
    """An object as it was written, in gzip; None where it is larger than any answer.

    `long_summary`: it is too large even without deltas and steps.
    """

    data: bytes | None
    steps: int
    long_summary: bool = False

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        return len(self.data or b"") + 500


def replay_answer(wanted: Wanted, body: bytes, case_in_it: Callable[[], Case]) -> Response:
    """The answer to a query and a body; a body that was answered before is not read again while its engine is the same.

    Raises what reading the case raises, and `Runner.run`.
    """
    runner, began, case, digest = services().runner, thread_time(), cache(case_in_it), hashlib.sha256(body).hexdigest()
    try:
        if wanted.lines:
            told, most = _told(runner.run(case()), wanted.part, began), services().settings.most_answer_bytes
            return Response(json_lines(told, wanted.part, most), mimetype="application/jsonl")
        engine = runner.computed(f"{digest} engine", lambda: case().parser.engine or "", size=len)
        key = f"{digest} {engine_stamp(engine or None)} {sorted(wanted.part.keys)} {wanted.part.steps}"
        found = runner.computed(
            key, lambda: _written(runner.run(case()), wanted.part, began), size=lambda made: made.size
        )
    except ChecksGoOn as error:
        return _checks_go_on(error)
    if found.data is None:
        return _too_large(found)
    return Response(found.data, mimetype="application/json", headers={"Content-Encoding": "gzip"})


def _told(run: Run, part: Part, began: float) -> CaseRun:
    """What a part of an answer is written from: with the checks, which cost a dozen replays, only where it tells.

    Raises ChecksGoOn where they are not all made in time.
    """
    runner = services().runner
    return runner.checked_in_time(run, began) if part.keys & _OF_MORE_REPLAYS else runner.unchecked(run)


def _written(run: Run, part: Part, began: float) -> _Written:
    """Checks cost a dozen replays: they are left out where the steps alone are too many for an answer."""
    most, steps = services().settings.answer_bytes, len(run.trace.steps)
    if part.least_bytes(steps) > most:
        return _Written(None, steps)
    told = _told(run, part, began)
    data = packed(json_text(told, part), most)
    summary = Part(part.keys - STEP_KEYS)
    return _Written(data, steps, data is None and packed(json_text(told, summary), most) is None)


def _checks_go_on(error: ChecksGoOn) -> Response:
    """What is known of a run whose checks are not all made. Whoever asks again has them go on."""
    told = run_parts(services().runner.unchecked(error.run))
    known = {key: told[key] for key in KEYS if key not in _OF_MORE_REPLAYS and not isinstance(told[key], Iterator)}
    message = f"{error.description} `known` has the message; ?fields=message,steps asks for no findings."
    response = api_error("checks_unfinished", message, status=503, known=known)
    response.retry_after = 1
    return response


def _too_large(found: _Written) -> Response:
    fewer = f"fewer of its {found.steps:,} steps with ?steps=none or ?steps=1-500, "
    message = (
        f"The answer has more than {services().settings.answer_bytes:,} bytes ({ENV_PREFIX}ANSWER_BYTES)"
        f"{', even without its steps' * found.long_summary}: ask for {'' if found.long_summary else fewer}some of its"
        " keys with ?fields=message (findings take a dozen replays more), or JSON Lines with ?format=jsonl."
    )
    return api_error("answer_too_large", message, status=413)
