"""What a case knows of the engine that parses it, beside what came of it, as JSON: `engines.NAME`, else what holds for
all."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from parsers.cases.case import Case
from parsers.cases.departure import Departure

_VERDICTS = {"known_bug": "a known bug", "implementation_defined": "left to the implementation"}


def known_words(case: Case) -> str:
    """The same for a reader, on one line; "" where nothing is said but that it must come out right."""
    known, who = case.known, f" of {case.parser.engine}" if case.parser.engine else ""
    verdict = f"{_VERDICTS[known.verdict]}{who}" if known.verdict in _VERDICTS else f"required{who}"
    parts = [one for one in (known.link, *known.notes) if one]
    return ": ".join([verdict, "; ".join(parts)]) if parts else verdict * (known.verdict in _VERDICTS)


def known_json(case: Case, departs: Departure | None) -> dict[str, Any]:
    """What a case knows of the engine, and where the replay under study departs from what it expects."""
    known = case.known
    return {
        "engine": case.engine_name,
        "verdict": known.verdict,
        "link": known.link,
        "notes": list(known.notes),
        "expects": known.expect is not None,
        "departs": None if departs is None else {"severity": departs.severity, "headline": departs.headline},
        "differences": [] if departs is None else [asdict(one) for one in departs.differences],
    }
