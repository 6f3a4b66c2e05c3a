"""What a case knows of the engine that parses it, beside what came of it, as JSON: `engines.NAME`, else what holds for
all."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from parsers.cases.case import Case
from parsers.cases.departure import Departure


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
