"""The stand-alone test that a case was exported as, as that case again (`parsers.cases.export.pytest_file`).

Its constants are literals, and nothing of it is run. Where its first chunking is none that the tokens give by
themselves, as where a decode policy held text back, the deltas of that are the case's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from parsers.cases.case import Case
from parsers.cases.export.suite_subject import numbered
from parsers.cases.io import dumps, load_case, to_data
from parsers.intake.evidence import Intake, Payload, Skipped, skipped_warnings
from parsers.intake.python_literals import constants
from parsers.intake.python_modules import parsed
from parsers.replays.chunking import RECORDED, TRACED, Chunking, apply, label
from parsers.search.sweep import json_of
from parsers.vocabulary.types import UsageError

_SIGNS = ("Exported by Toolcall Inspector.", "\nCASE = ", "\nEXPECT = ", "\nCHUNKINGS = ")
_WHY = "It is a test that a case was exported as; it was read and not run."


def read_own_test(text: str) -> Intake | None:
    """Read the case of a test; None where it is no such test."""
    tree = parsed(text) if all(sign in text for sign in _SIGNS) else None
    known = {} if tree is None else constants(tree)
    if not isinstance(known.get("CASE"), dict) or not _are_chunkings(known.get("CHUNKINGS")):
        return None
    cases, skipped = dict[str, str](), tuple[Skipped, ...]()
    try:
        case = _case(known)
        cases[case.title or "case"] = dumps(case)
    except UsageError as error:  # a case that is none, or cuts that do not fit it
        skipped = (Skipped(1, str(error)),)
    return Intake(
        kind="corpus",
        title="exported test",
        advice="Replay it." if cases else "Its case cannot be read.",
        usable=bool(cases),
        cases=cases,
        why=(_WHY,),
        warnings=skipped_warnings(skipped, "Line"),
        skipped=skipped,
    )


def _are_chunkings(given: Any) -> bool:
    """Return whether a value is deltas by the words for a chunking."""
    return isinstance(given, dict) and all(
        isinstance(rows, list) and all(map(_is_delta, rows)) for rows in given.values()
    )


def _is_delta(row: Any) -> bool:
    return isinstance(row, list) and len(row) == 2 and isinstance(row[0], str) and isinstance(row[1], list)


def _case(known: Mapping[str, Any]) -> Case:
    """The case, with the deltas of its first chunking where that is none of the tokens alone. Raises CaseError."""
    rest = known.get("REST")
    said = {"expect": known.get("EXPECT"), "title": known.get("TITLE") or None}
    data = {**known["CASE"], **(rest if isinstance(rest, dict) else {}), **said}
    data.setdefault("compare", _compare(known))
    case, rows = load_case(data), known["CHUNKINGS"]
    asked = case.replay or (TRACED,)
    sent: Sequence[Any] = rows.get(label(RECORDED)) or next(iter(rows.values()), [])
    if RECORDED in asked:
        return _with_deltas(case, sent, asked)
    if case.compare.cuts == "honest" and label(asked[0]) not in rows:  # of its cuts no server makes all
        return case
    theirs = "VOCABULARY" in known  # the test makes the parser of an engine, for which all tokens have ids
    pieces = numbered(case.pieces() or ()) if theirs else case.pieces() or ()
    if [text for text, _ in sent] == [delta.text for delta in apply(asked[0], pieces, case.mode(), halves=theirs)]:
        return case
    return _with_deltas(case, sent, (RECORDED, *asked[1:]))


def _with_deltas(case: Case, rows: Sequence[Any], replay: Sequence[Chunking]) -> Case:
    """The case with these deltas, with their ids where they are those of the tokens. Raises CaseError."""
    own = [token.id for token in case.input.tokens or () if token.id is not None]
    same = own == [number for _, ids in rows for number in ids]
    deltas = [{"text": text, "ids": ids} if same else {"text": text} for text, ids in rows]
    data = to_data(case)
    return load_case({**data, "replay": [json_of(one) for one in replay], "input": {**data["input"], "deltas": deltas}})


def _compare(known: Mapping[str, Any]) -> Payload:
    """How results compare, as tests say it that do not have all of their case."""
    soft, index = known.get("SOFT_WHITESPACE"), known.get("CALLS_BY_INDEX")
    return {**({"whitespace": "soft"} if soft else {}), **({"calls": "index"} if index else {})}
