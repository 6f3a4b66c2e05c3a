"""Saved cases: a repository over one SQL table, on SQLite by default and PostgreSQL by URL."""

from __future__ import annotations

from webapp.store.cases import CaseStore, Gone, Saved, Sharing, StoredCase, TakenDown, open_store
from webapp.store.engine import make_engine
from webapp.store.listings import Listing
from webapp.store.migrate import Upgraded, upgrade
from webapp.store.spending import Client, Cost, OverQuota

__all__ = [
    "CaseStore",
    "Client",
    "Cost",
    "Gone",
    "Listing",
    "OverQuota",
    "Saved",
    "Sharing",
    "StoredCase",
    "TakenDown",
    "Upgraded",
    "make_engine",
    "open_store",
    "upgrade",
]
