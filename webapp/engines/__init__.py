"""The engines a case may name: those of `parsers`, those that need what is installed here, and those that the operator
entered (`entered.py`), which run in processes of their own."""

from __future__ import annotations

from collections.abc import Mapping

from parsers.cases.case import Case
from parsers.cases.engines import ENGINES as PURE
from parsers.cases.engines import Choice, Engine, engine_of
from parsers.cases.engines import choose as choose_among
from parsers.selection.registry import Evidence
from webapp.engines.entered import engines_entered
from webapp.engines.response_template import NAME as RESPONSE_TEMPLATE
from webapp.engines.response_template import template_engine
from webapp.settings import Settings

__all__ = ["ENGINES", "RESPONSE_TEMPLATE", "Choice", "choose", "engines_of"]

ENGINES: Mapping[str, Engine] = {**PURE, RESPONSE_TEMPLATE: template_engine}


def engines_of(settings: Settings | None = None) -> Mapping[str, Engine]:
    """Every engine a case may name under these settings, or those of this process."""
    return {**ENGINES, **engines_entered(settings)}


def choose(case: Case, evidence: Evidence | None = None) -> Choice:
    """Return what a case is parsed with; see parsers.cases.engines.choose."""
    return choose_among(case, evidence, ENGINES if engine_of(case) in ENGINES else engines_of())
