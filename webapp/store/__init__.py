"""Saved cases: a repository over one SQL table, on SQLite by default and PostgreSQL by URL."""

from __future__ import annotations

from webapp.store.cases import CaseStore, Gone, Saved, StoredCase, TakenDown, open_store
from webapp.store.engine import make_engine
from webapp.store.listings import Listing
from webapp.store.migrate import Upgraded, upgrade

__all__ = [
    "CaseStore",
    "Gone",
    "Listing",
    "Saved",
    "StoredCase",
    "TakenDown",
    "Upgraded",
    "make_engine",
    "open_store",
    "upgrade",
]
