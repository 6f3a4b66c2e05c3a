"""What runs the parsers of a sweep: the entered engines, and the tokenizers that cases name; here and in a child.

A child of the pool has engines of its own, so that as many replay at a time as there are children.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from parsers.sweeps.first_stage import Means
from webapp.engines import engines_of
from webapp.engines.entered import entered, use_engines
from webapp.engines.entries import Entry
from webapp.jobs.search_program import settings_of_child
from webapp.runs.prepare import tokens_of
from webapp.settings import Settings, get_settings
from webapp.tokenizers.library import use


def means_here(settings: Settings | None = None) -> Means:
    """Those of this process."""
    return Means(engines_of(settings or get_settings()), tokens_of)


def surroundings() -> str:
    """What a child must know to run parsers as this process does, as JSON."""
    settings = get_settings()
    own = {name: entry.model_dump(mode="json", by_alias=True) for name, entry in entered(settings).own.items()}
    return json.dumps({"settings": settings_of_child(settings), "own": own})


@cache
def means_of_child(told: str) -> Means:
    """Those of a child that was told what `surroundings` said."""
    data: dict[str, Any] = json.loads(told)
    settings = Settings(**data["settings"])
    use(settings)
    use_engines(settings, more={name: Entry.model_validate(entry) for name, entry in data["own"].items()})
    return means_here(settings)
