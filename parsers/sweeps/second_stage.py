"""The second stage of a sweep: the smallest output of each signature is searched, made smaller, and redacted.

There is one for each signature, so that this may take what a search takes. It is bounded by numbers of replays and
never by a clock: the same signature and the same output give the same, on any machine.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from parsers.cases.case import Case
from parsers.cases.engines import choose
from parsers.cases.find import CaseSearch
from parsers.cases.io import to_data
from parsers.cases.redaction.redact import Redaction, shown_by
from parsers.cases.run import run_case
from parsers.sweeps.first_stage import Means
from parsers.sweeps.signature import Signature

MOST_REPLAYS = 400
MOST_RUNS = 60  # of a redaction
MOST_CHARACTERS = 20_000  # of an output that is searched


@dataclass(slots=True, frozen=True)
class Studied:
    """What a search says of the smallest output of a signature: a sentence, and the smallest case that still shows it.

    `case` is decoded JSON, None where its words could not be replaced and nobody asked for them.
    """

    headline: str = ""
    length: int = 0
    case: Mapping[str, Any] | None = None
    redacted: bool = False


def studied(signature: Signature, case: Case, *, words: bool = False, means: Means | None = None) -> Studied:
    """Study one output with that signature. `words`: they may be shown as they are."""
    if len(case.text()) > MOST_CHARACTERS:
        return Studied(length=len(case.text()), case=to_data(case) if words else None)
    asked, means = case.model_copy(update={"checks": (signature.check,)}), means or Means()
    choice = choose(asked, None, means.engines)
    pieces = None if choice.replays is None else means.tokens_of(asked, choice)
    search = CaseSearch(asked, pieces=pieces, engines=means.engines, max_replays=MOST_REPLAYS)
    for _ in search.run():
        pass
    found = search.result()
    smaller = found.minimized if found.minimized is not None else asked
    headline = found.found.verdict.headline if words else ""
    if words:
        return Studied(headline, len(smaller.text()), to_data(_untitled(smaller)))
    redacted = _redacted(smaller, means)
    length = len(smaller.text())
    return Studied(headline, length) if redacted is None else Studied(headline, length, to_data(redacted), True)


def _untitled(case: Case) -> Case:
    """The case without what was said of the one that it came from."""
    return case.model_copy(update={"title": None, "notes": (), "parent": None, "source": None})


def _redacted(case: Case, means: Means) -> Case | None:
    """The case without its words, None where it does not show the same then."""
    bare = _untitled(case)

    def judged(one: Case) -> Hashable:
        return shown_by(run_case(one, compare=False, engines=means.engines))

    redaction = Redaction(bare, judged, [choose(bare, None, means.engines).cut_by], most_runs=MOST_RUNS)
    for _ in redaction.run():
        pass
    made = redaction.result()
    return made.case if made.same else None
