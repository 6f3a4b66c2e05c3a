"""The search over a case: what it runs on, and its result as JSON and as a smaller case.

The smaller case is the smallest failing form of the one it came from: it names it as its parent, says in its notes
what fails and how that was found, and replays first under the failing chunking, so that a plain run of it shows the
finding again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from typing import Any

from parsers.cases.case import Case, Expect
from parsers.cases.departure import Departure, departure
from parsers.cases.engines import ENGINES, Engine, choose, traced_chunking
from parsers.cases.expect import accept
from parsers.cases.input import Input, ToolObject
from parsers.cases.io import id_if_any, load_case, to_data
from parsers.cases.jsontext import halves_spelled
from parsers.cases.known import known_json
from parsers.cases.run import characters, chunkings_of, replayer_of, settled_case
from parsers.compare.divergence import Divergence
from parsers.replays.budget import Budget
from parsers.replays.chunking import Chunking, by_tokens
from parsers.replays.replay import finish_reason
from parsers.replays.replayer import Rerender
from parsers.search.found import Found, Group, Guess, Minimized, OutcomeClass, Progress, Verdict
from parsers.search.search import Played, Search
from parsers.search.shrink import SHRINKS
from parsers.search.sweep import MAX_REPLAYS, json_of
from parsers.search.variants import CountLines
from parsers.selection.registry import Evidence
from parsers.vocabulary.types import Context, Piece, Tool, joined


@dataclass(slots=True)
class CaseFound:
    """Holds what a search of a case found, the smallest case that shows the worst of it, and where the message under
    study is not what the case expects."""

    case: Case
    found: Found
    minimized: Case | None = None
    departs: Departure | None = None

    @property
    def fails(self) -> bool:
        """Return whether something is an error: a finding, or that the case expects something else."""
        departs = self.departs is not None and self.departs.severity == "error"
        return departs or any(finding.severity == "error" for finding in self.found.findings)


class CaseSearch:
    """A search over a case, with the arguments of run_case. The same seed finds the same. `shrinks` are the replays
    that make a finding small: with 0 none is made small.

    Raises UsageError where run_case does.
    """

    def __init__(
        self,
        case: Case,
        *,
        pieces: Sequence[Piece] | None = None,
        evidence: Evidence | None = None,
        engines: Mapping[str, Engine] = ENGINES,
        seed: int = 0,
        max_replays: int = MAX_REPLAYS,
        shrinks: int = SHRINKS,
        clock: Callable[[], float] | None = None,
        lines: CountLines | None = None,
        budget: Budget | None = None,
        rerender: Rerender | None = None,
    ) -> None:
        self.case = case
        choice = choose(case, evidence, engines)
        self._traced = traced_chunking(case)
        self._replayer = replayer = replayer_of(case, choice, pieces or case.pieces() or characters(case.text()))
        chunkings_of(case, choice)
        if replayer.plays:
            self._search: Search | Played = Played(replayer, rules=case.compare.rules(), only=case.checks)
            return
        self._search = Search(
            replace(replayer, rerender=rerender),
            rules=case.compare.rules(),
            asked=case.replay,
            recorded=recorded_cuts(case),
            seed=seed,
            only=case.checks,
            max_replays=max_replays,
            shrinks=shrinks,
            honest_only=case.compare.cuts == "honest",
            clock=clock,
            lines=lines,
            budget=budget,
        )

    def run(self) -> Iterator[Progress]:
        """Search. Stop iterating at any time."""
        return self._search.run()

    def result(self) -> CaseFound:
        """Return what is known by now."""
        found = self._search.found()
        smaller = None if found.minimized is None else minimized_case(self.case, found.minimized)
        return CaseFound(self.case, found, smaller, self._departs(judged=found.judged))

    def _departs(self, *, judged: bool) -> Departure | None:
        if self.case.known.expect is None or not judged:
            return None
        return departure(self.case, self._replayer.trace(self._traced))


def recorded_cuts(case: Case) -> tuple[int, ...]:
    """Return where the deltas met that a server sent."""
    return tuple(accumulate([len(delta.text) for delta in case.input.deltas or ()]))[:-1]


def minimized_case(case: Case, small: Minimized) -> Case:
    """The case for a minimised output. It replays first under the failing chunking, then under those that differ."""
    said = halves_spelled(small.finding.message)  # a parser may send half a pair
    notes = f"{small.check}: {said}", found_by_search(case.text(), small.text)
    beside = tuple([chunking for chunking in small.beside if chunking.by != "recorded"])
    form = Smaller(small.pieces, small.chunking, small.context, beside, _expect(small), called=f" {small.check}")
    if small.soft:
        case = case.model_copy(update={"compare": case.compare.model_copy(update={"whitespace": "soft"})})
    return smaller_case(case, form, "smallest failing form", notes)


@dataclass(slots=True, frozen=True)
class Smaller:
    """A smaller output: how it is cut first, its request, other chunkings of it, and what is right.

    `called`: what tells it from others of its parser where the case that it came from has no title.
    """

    pieces: tuple[Piece, ...]
    chunking: Chunking
    context: Context
    beside: tuple[Chunking, ...] = ()
    expect: Expect | None = None
    called: str = ""


def smaller_case(case: Case, form: Smaller, title: str, notes: tuple[str, ...]) -> Case:
    """The case for a smaller output than its own."""
    own, said = case.title or case.parser.words + form.called, f"({title})"
    changed: dict[str, Any] = {
        "title": own if own.endswith(said) else f"{own} {said}",
        "notes": notes,
        "flags": (),
        "verdict": "required",
        "source": case.source,
        "parent": id_if_any(case),
        "input": Input(text=joined(form.pieces)),
        "tools": _tools(case, form.context),
        "replay": (form.chunking, *form.beside),
        "expect": form.expect,
        "decode": None,
        "engines": {},
    }
    smaller = case.model_copy(update=changed)
    if case.mode() == "ids":
        smaller = _with_tokens(smaller, case, form)
    return load_case(to_data(smaller))  # a model that was put together is checked like one that was read


def _with_tokens(smaller: Case, case: Case, form: Smaller) -> Case:
    """With the tokens that are left. What a decode policy did to them is done; only how late it is may matter still."""
    if case.decode is not None:
        late = case.decode.again() if by_tokens(form.chunking) else None
        return settled_case(smaller, form.pieces).model_copy(update={"decode": late})
    stored = smaller.with_pieces(form.pieces)
    return stored.model_copy(update={"input": Input(tokens=stored.input.tokens)})


def found_by_search(text: str, small: str) -> str:
    """How a smaller output was found."""
    return f"Found by a search of an output of {len(text)} characters; {len(small)} of them are left here."


def _tools(case: Case, context: Context) -> tuple[ToolObject, ...]:
    """The declared tools that the smaller request still has, with the schemas it has."""
    kept = {tool.name: tool.parameters for tool in context.tools}
    named = zip(case.tools, case.to_context().tools, strict=True)
    return tuple([_with_schema(tool, known, kept[known.name]) for tool, known in named if known.name in kept])


def _with_schema(tool: ToolObject, known: Tool, schema: Mapping[str, Any] | None) -> ToolObject:
    if schema == known.parameters:
        return tool
    inner = tool.get("function")
    if isinstance(inner, dict):
        return {**tool, "function": {**inner, "parameters": schema}}
    return {**tool, "parameters": schema}


def _expect(small: Minimized) -> Expect | None:
    right = small.right
    return None if right is None else accept(right, finish_reason(right, small.context.finish_reason))


def find_json(result: CaseFound) -> dict[str, Any]:
    """Return what `find --json` prints. Keys beside the contract's own say more of the same."""
    found = result.found
    return {
        "findings": [finding.to_json() for finding in found.findings],
        "outcomes": [_outcome(one) for one in found.outcomes],
        "minimized": None if result.minimized is None else to_data(result.minimized),
        "replays": found.replays,
        "complete": found.complete,
        "known": known_json(result.case, result.departs),
        "verdict": _verdict(found.verdict),
        "groups": [_group(group) for group in found.groups],
        "holding": found.holding,
        "skipped": [{"check": name, "reason": need.words} for name, need in found.skipped],
        "variants": dict(found.variants),
        "samples": [asdict(sample) for sample in found.samples],
        "robustness": [finding.to_json() for finding in found.robustness],
    }


def parting_json(divergence: Divergence) -> dict[str, Any]:
    """Where two messages part."""
    return asdict(divergence) | {"channel": str(divergence.channel)}


def _outcome(one: OutcomeClass) -> dict[str, Any]:
    return {
        "message": one.message.to_json(),
        "finish_reason": one.finish_reason,
        "count": one.count,
        "honest": one.honest,
        "assumed": one.assumed,
        "hostile": one.hostile,
        "allowed": one.allowed,
        "one_shot": one.one_shot,
        "smallest": one.smallest.model_dump(mode="json", exclude_defaults=True),
        "grade": one.grade,
        "divergence": None if one.divergence is None else parting_json(one.divergence),
        "raised": None if one.raised is None else str(one.raised),
    }


def _group(group: Group) -> dict[str, Any]:
    counts = [[number, count] for number, count in sorted(group.counts.items())]
    return {
        "name": group.name,
        "label": group.label,
        "honest": group.honest,
        "grade": group.grade.value,
        "counts": counts,
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        **{name: getattr(verdict, name) for name in ("kind", "severity", "about", "headline", "cause")},
        "details": list(verdict.sentences),
        "findings": list(verdict.findings),
        "proof": None if verdict.proof is None else verdict.proof.to_json(),
        "right": None if verdict.right is None else json_of(verdict.right),
        "offer": verdict.offer,
        "span": None if verdict.span is None else list(verdict.span),
        "guesses": [_guess(guess) for guess in verdict.guesses],
    }


def _guess(guess: Guess) -> dict[str, Any]:
    leaves = guess.leaves
    return {
        **{name: getattr(guess, name) for name in ("name", "title", "score", "calls", "complete")},
        "evidence": list(guess.evidence),
        "leaves_at": None if leaves is None else leaves.at,
        "missing": None if leaves is None else leaves.missing,
        "good": guess.good,
        "same": list(guess.same),
    }
