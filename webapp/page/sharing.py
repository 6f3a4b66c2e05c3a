"""Saving and opening shared cases: what is stored, what its digest says later, and how links are spelled."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from parsers.cases.io import outcome_digest
from parsers.cases.model import Case
from parsers.cases.run import CaseRun
from webapp.page.running import Report, Run
from webapp.runs import exports
from webapp.settings import LOOPBACK, Settings
from webapp.store import CaseStore, Saved, StoredCase


@dataclass(slots=True)
class Lead:
    """What a shared case's page says first. `changed`: today's result is not the one saved."""

    id: str
    notes: tuple[str, ...]
    parent: str
    saved: str
    version: str
    changed: bool


@dataclass(slots=True)
class Origin:
    """The case that a smaller one came from: `source` is its name in a form."""

    source: str
    title: str
    url: str


def titled(case: Case, title: str, note: str) -> Case:
    """The case with what the sharer said of it."""
    notes = tuple([part for part in (note.replace("\r\n", "\n").strip(),) if part])
    return case.model_copy(update={"title": title.strip() or case.title, "notes": notes or case.notes})


def save(store: CaseStore, run: Run, case: Case, report: Report) -> Saved:
    """Store `case`, the titled form of the replayed one, with its tokens and today's outcome."""
    found = CaseRun(case, run.format, run.selection, run.context, run.pieces, run.trace, run.trace)
    found.findings, found.stored = report.findings, run.stored
    return exports.save(store, found)


def digest(run: Run, report: Report) -> str:
    """What came out, as one value to compare later."""
    return outcome_digest(run.trace.message, run.trace.finish_reason, report.findings)


def make_lead(stored: StoredCase, case: Case, today: str | None) -> Lead:
    """The first lines of a shared case's page. `today` is today's digest, None while it is not known."""
    changed = today is not None and today != stored.outcome_digest
    return Lead(stored.id, case.notes, case.parent or "", stored.created[:10], stored.version, changed)


def link(base: str, path: str, step: int | None) -> str:
    """The address `path` below `base`, at `step`."""
    return base.rstrip("/") + path + (f"?{urlencode({'step': step})}" if step else "")


def is_loopback(settings: Settings, host_url: str) -> bool:
    """Whether links made now open on this machine only."""
    name = urlsplit(settings.public_url or host_url).hostname or ""
    return name in {host.strip("[]") for host in LOOPBACK}
