"""Stored cases made ones whose result was another when they were shared."""

from __future__ import annotations

from typing import Any

from sqlalchemy import update

from webapp.store import CaseStore
from webapp.store.schema import cases


def make_stale(store: CaseStore, case_id: str, **then: Any) -> None:
    """Write what came out then: `outcome_digest`, and perhaps `message`, which is else not known."""
    row = update(cases).where(cases.c.id == case_id)
    with store.engine.begin() as connection:
        connection.execute(row.values(**{"version": "0.0.1", "message": None, **then}))
