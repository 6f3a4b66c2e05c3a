"""The engines a case may name: those of `parsers`, and those that need what is installed here."""

from __future__ import annotations

from collections.abc import Mapping

from parsers.cases.case import Case
from parsers.cases.engines import ENGINES as PURE
from parsers.cases.engines import Choice, Engine
from parsers.cases.engines import choose as choose_among
from parsers.selection.registry import Evidence
from webapp.engines.response_template import NAME as RESPONSE_TEMPLATE
from webapp.engines.response_template import template_engine

__all__ = ["ENGINES", "RESPONSE_TEMPLATE", "Choice", "choose"]

ENGINES: Mapping[str, Engine] = {**PURE, RESPONSE_TEMPLATE: template_engine}


def choose(case: Case, evidence: Evidence | None = None) -> Choice:
    """Return what a case is parsed with; see parsers.cases.engines.choose."""
    return choose_among(case, evidence, ENGINES)
