"""Cases that are kept and cannot be run here: their parser is one of an engine that is not entered on this server.

Nothing is asked to run them. They are stored as they were written, with what they say themselves of what came out; who
has that engine opens the case file there. Asking for a replay of one is refused, as any name that is not entered is.
"""

from __future__ import annotations

from parsers.cases.case import Case
from parsers.cases.engines import engine_of
from parsers.cases.io import identified
from webapp.engines import ENGINES
from webapp.engines.entered import entered
from webapp.release import installed_version
from webapp.runs.exports import put
from webapp.security import check_limit
from webapp.settings import Settings
from webapp.store import CaseStore, Listing, Saved, Sharing

NOT_RUN = "not_run"  # the verdict of one in the library
_NO_OUTCOME = ""  # in place of the digest of what came out


def is_unrun(case: Case, settings: Settings) -> bool:
    """Return whether the engine of a case is neither ours nor entered. Raises UsageError where the file of the entries
    cannot be used."""
    name = engine_of(case)
    return name not in ENGINES and name not in entered(settings).entries()


def save_unrun(
    store: CaseStore,
    case: Case,
    settings: Settings,
    *,
    listed: bool = False,
    sharing: Sharing = Sharing(),  # noqa: B008 - it does not change
) -> Saved:
    """Store a case as it is written. Raises TooLarge over a limit of outputs, and what `exports.put` raises."""
    check_limit(settings, "max_text_bytes", len(case.text().encode("utf-8", "surrogatepass")), "The output text")
    for many in (case.input.tokens, case.input.deltas, case.input.stream):
        check_limit(settings, "max_tokens", len(many or ()), "The output")
    case_id, body = identified(case)
    kept = (case_id, body, _NO_OUTCOME, installed_version())
    return put(store, case, kept, listing=_listing(case) if listed else None, sharing=sharing)


def _listing(case: Case) -> Listing:
    """What the library shows of it: no picture, and no check."""
    return Listing(
        title=case.title or "",
        parser=case.parser.name,
        engine=engine_of(case),
        verdict=NOT_RUN,
        severity="info",
        text=case.text(),
        tags=case.flags,
    )
