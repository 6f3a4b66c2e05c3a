"""Importing: each case is run, saved and, where its giver says so, listed, one after the other.

An import can be given again: what is stored already stays as it is. One that had no time for all says how many it came
to, and goes on there where it is told so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Literal

from werkzeug.exceptions import HTTPException

from parsers.cases.case import Case
from parsers.cases.io import identified, loads
from parsers.vocabulary.types import FormatError, UsageError
from webapp.page.library.incoming import Incoming
from webapp.page.library.listed_case import listing_of
from webapp.runs.exports import save
from webapp.runs.prepare import with_defaults
from webapp.runs.runner import CHECKS_SHARE, Runner
from webapp.runs.time_left import TimeLeft
from webapp.runs.unrun import is_unrun, save_unrun
from webapp.store import CaseStore, OverQuota, Saved, Sharing
from webapp.trouble import TROUBLES, Trouble, trouble_of

Outcome = Literal["stored", "known", "failed"]
MOST_TAGS = 20
LONGEST_TAG = 60
LEFT_ALONE = Sharing(joins=False)  # but where an import lists what is not listed yet
Keys = Callable[[str], str | None]  # the delete key of a case by its name in the import; None: one is made up


@dataclass(slots=True, frozen=True)
class Imported:
    """What came of one case. `case_id` is "" for one that failed, which says `why`; one that is new, and one that was
    known and that this lists, has a key, which withdraws what was given here."""

    name: str
    outcome: Outcome
    case_id: str = ""
    why: str = ""
    delete_key: str = ""


@dataclass(slots=True)
class Report:
    """What came of an import: how many are new and how many were known, those that have a key, those that failed, and
    how many are left: there was no time for them, they were `over` a quota, or the database was in `trouble`."""

    stored: int = 0
    known: int = 0
    keyed: list[Imported] = field(default_factory=list)
    failed: list[Imported] = field(default_factory=list)
    left: int = 0
    over: OverQuota | None = None
    trouble: Trouble | None = None

    @property
    def done(self) -> int:
        """How many it came to."""
        return self.stored + self.known + len(self.failed)

    def add(self, one: Imported) -> None:
        """Count a case."""
        if one.outcome == "failed":
            self.failed.append(one)
            return
        self.stored += one.outcome == "stored"
        self.known += one.outcome == "known"
        if one.delete_key:
            self.keyed.append(one)


@dataclass(slots=True, frozen=True)
class ImportForm:
    """What the page of imports shows: the report of the file `name` that was given before, where there was one, and a
    form that goes on after the first `skip` cases of it. `said` is why cases were left, but for time."""

    ticked: bool
    name: str = ""
    report: Report | None = None
    problem: str = ""
    said: str = ""
    skip: int = 0
    tags: str = ""


def tags_of(words: str) -> tuple[str, ...]:
    """The tags in a line of text: separated by commas, each once."""
    parts = [" ".join(part.split())[:LONGEST_TAG] for part in words.split(",")]
    return tuple(dict.fromkeys([part for part in parts if part]))[:MOST_TAGS]


def imported(
    given: Iterable[Incoming], runner: Runner, store: CaseStore, *, listed: bool, tags: Sequence[str] = (),
    sharing: Sharing = LEFT_ALONE, keys: Keys = lambda _name: None,
) -> Iterator[Imported]:  # fmt: skip
    """Import one case after the other. What is wrong with one is in what it gives. Raises OverQuota, and what the
    database raises."""
    for one in given:
        try:
            if isinstance(one.text, UsageError):
                raise one.text
            case = _told(loads(one.text, one.line), one.name, tags)
            own = replace(sharing, delete_key=keys(one.name))
            yield _one(one.name, case, runner, store, listed=listed, sharing=own)
        except HTTPException as error:
            yield Imported(one.name, "failed", why=error.description or error.name)
        except (UsageError, FormatError) as error:
            yield Imported(one.name, "failed", why=str(error))


def import_some(
    given: Iterator[Incoming], runner: Runner, store: CaseStore, *, listed: bool, tags: Sequence[str] = (),
    skip: int = 0, most: int | None = None, sharing: Sharing = LEFT_ALONE, keys: Keys = lambda _name: None,
) -> Report:  # fmt: skip
    """Import as long as a request has time, at most so many, and count the rest. The first `skip` were done before.

    Raises OverQuota, or what the database raises, where nothing at all was done for it: what was stored is told, with
    its keys.
    """
    report, given = Report(), islice(given, skip, None)
    left = TimeLeft.of_request(runner.settings, CHECKS_SHARE)
    try:
        for one in imported(given, runner, store, listed=listed, tags=tags, sharing=sharing, keys=keys):
            report.add(one)
            if not left.seconds or report.done == most:
                break
    except OverQuota as over:
        if not report.done:
            raise
        report.left, report.over = 1, over
    except TROUBLES as error:
        report.left, report.trouble = 1, trouble_of(error)
        if not report.done or report.trouble is None:
            raise
    report.left += sum(1 for _ in given)
    return report


def _told(case: Case, name: str, tags: Sequence[str]) -> Case:
    """The case with these tags besides its own, and with its name in the corpus as its title where it has none."""
    own = name.rpartition("::")[2] if "::" in name else ""
    title = case.title or (own if own and not own.isdigit() else None)
    return case.model_copy(update={"title": title, "flags": tuple(dict.fromkeys([*case.flags, *tags]))})


def _one(
    name: str, case: Case, runner: Runner, store: CaseStore, *, listed: bool, sharing: Sharing
) -> Imported:  # fmt: skip
    case = with_defaults(case, runner.settings)
    known = _known(case, store)
    is_ours = known is not None and sharing.delete_key is not None and store.has_key(known, sharing.delete_key)
    if known is not None and not is_ours and (not listed or store.library.is_listed(known)):
        return Imported(name, "known", known)
    if is_unrun(case, runner.settings):
        return _told_of(name, save_unrun(store, case, runner.settings, listed=listed, sharing=sharing))
    run, checked = runner.run(case), runner.cheaply_checked(case)
    findings = None if checked is None else checked.findings
    listing = listing_of(run, case, findings) if listed else None
    return _told_of(name, save(store, run, findings, listing=listing, sharing=sharing))


def _told_of(name: str, saved: Saved) -> Imported:
    """What came of a case that is stored now."""
    return Imported(name, "stored" if saved.created else "known", saved.id, delete_key=saved.delete_key)


def _known(case: Case, store: CaseStore) -> str | None:
    """The id under which a case is stored already, where that can be told without a run: it names its parser and holds
    its tokens, as every export of a stored case does."""
    if case.parser.name == "auto" or case.input.tokens is None:
        return None
    case_id, _ = identified(case)
    return case_id if store.is_live(case_id) else None
