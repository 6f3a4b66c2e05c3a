"""The findings pane: every finding in words, its place, what shows it, and what to make of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Literal
from urllib.parse import urlencode

from parsers.cases.departure import Departure
from parsers.checks import CHECKS
from parsers.checks.check import Need
from parsers.compare.divergence import shared_prefix
from parsers.formats.contract_words import policy_words
from parsers.replays.chunking import Chunking, spec
from parsers.search import found
from parsers.search.found import Found, Verdict
from parsers.search.verdict_blame import BLAME
from parsers.vocabulary.events import Severity
from parsers.vocabulary.trace import Finding, Proof, Trace
from parsers.vocabulary.types import Span
from webapp.glyphs import count, shorten

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
WORDS = {"error": "Error", "warning": "Warning", "info": "Note"}
_GRADES = {
    "calls": "the calls differ",
    "text": "the text differs",
    "key_order": "only the order of keys differs",
    "whitespace": "only whitespace differs",
    "spelling": "the same arguments are written otherwise",
}
SHOWN = 200
_PROOF_CHARACTERS = 20_000
_BEFORE, _AROUND = 40, 160  # characters shown of what was expected and what came


def beside(chunk: str, at: int | None = None) -> str:
    """The query of the page that compares the traced replay with a chunking, at a character of the output."""
    return urlencode({"b_chunk": chunk} | ({} if at is None else {"at": at}), safe=":,")


@dataclass(slots=True, frozen=True)
class FindingLine:
    """One finding as the page says it. `number` counts from 1 down the pane, `index` from 0 in the search. `played`: of
    a stream that was played back. `led`: the verdict that it leads, where that says what brings it about."""

    finding: Finding
    number: int
    index: int
    played: bool = False
    led: Verdict | None = None

    @property
    def message(self) -> str:
        """What it says: the same as the verdict that it leads."""
        return self.led.cause if self.led is not None else self.finding.message

    @property
    def beside_message(self) -> str:
        """What the check itself says besides."""
        return "" if self.led is None else self.finding.message

    @property
    def decided(self) -> str:
        """What the contract decides of it, in words; "" where it decides nothing."""
        return "; ".join(map(policy_words, self.finding.policy.split(", "))) if self.finding.policy else ""

    @property
    def blamed(self) -> str:
        return self.finding.blamed(played=self.played)

    @property
    def severity(self) -> Severity:
        """How bad it is: as bad as what it brings about, where the verdict says that."""
        said = None if self.led is None else self.led.severity
        return self.finding.severity if said is None or said == "pass" else said

    @property
    def word(self) -> str:
        return WORDS[self.severity]

    @property
    def known(self) -> bool:
        """True for a check that the list of checks has."""
        return self.finding.check in CHECKS

    @property
    def span(self) -> str:
        if self.finding.span is None:
            return ""
        start, end = self.finding.span
        return f"characters {start:,}–{end:,}" if end - start > 1 else f"character {start:,}"

    @property
    def grade(self) -> str:
        return _GRADES.get(self.finding.grade or "", "")

    @property
    def texts(self) -> tuple[str, str]:
        """Return what was expected and what came, from shortly before they part; nothing of two that are the same."""
        if self.led is not None:  # they are of another chunking
            return "", ""
        expected, actual = self.finding.expected or "", self.finding.actual or ""
        if expected == actual:
            return "", ""
        start = max(0, shared_prefix(expected, actual) - _BEFORE) if expected and actual else 0
        first, other = (f"…{text[start:]}" if start > _BEFORE else text[start:] for text in (expected, actual))
        return shorten(first, _AROUND), shorten(other, _AROUND)

    @property
    def chunk(self) -> str:
        """The word of the chunking that shows it, where the output as it is shows it."""
        proof = self.led.proof if self.led is not None else self.finding.proof
        return "" if proof is None or proof.changes_case else _word(proof)

    @property
    def beside(self) -> str:
        """The query of the comparison that shows it."""
        return beside(self.chunk, self.finding.span.start if self.finding.span else None) if self.chunk else ""

    @property
    def cut(self) -> int | None:
        """The character that a finding about cut outputs cuts this one at."""
        edits = self.finding.proof.edits if self.finding.proof and self.finding.check == "truncation" else ()
        return edits[0][0] or None if len(edits) == 1 and not edits[0][2] else None

    @property
    def proof(self) -> str:
        """The changed case that shows it, as JSON, where it is small enough to travel in a button."""
        proof = self.finding.proof
        return "" if proof is None or not proof.changes_case else _carried(proof)


@dataclass(slots=True, frozen=True)
class _FindingGroup:
    """Findings of one check with one severity: the first is shown, the others fold."""

    first: FindingLine
    others: list[FindingLine]

    @property
    def explained(self) -> _Explained:
        return explained(self.first.finding, played=self.first.played)


@dataclass(slots=True, frozen=True)
class Findings:
    """Everything the pane shows. `following` are those the verdict's cause explains, `robustness` what changed outputs
    show. `holding` are the checks that hold with their definitions. `steps` are those the finding buttons lead to, as
    JSON. `judged`: there was an output to check."""

    lines: list[FindingLine]
    groups: list[_FindingGroup]
    following: list[_FindingGroup]
    robustness: list[_FindingGroup]
    more: int
    holding: list[tuple[str, str]]
    skipped: list[tuple[str, str]]
    note: str
    steps: str
    judged: bool

    @property
    def own(self) -> int:
        """How many there are about this output as it is."""
        return sum([1 + len(group.others) for group in (*self.groups, *self.following)])

    @property
    def changed(self) -> int:
        """How many there are that only changed outputs show."""
        return sum([1 + len(group.others) for group in self.robustness])

    @property
    def has_errors(self) -> bool:
        """Return whether the worst about this output is an error."""
        return any(group.first.severity == "error" for group in (*self.groups, *self.following))

    @property
    def follow(self) -> str:
        """Return how many there are that the verdict's cause explains."""
        many = sum([1 + len(group.others) for group in self.following])
        if not self.groups:
            return f"{count(many, 'finding')} that the wrong parser explains"
        return f"{many:,} more that {'follows' if many == 1 else 'follow'} from it"


@dataclass(slots=True)
class Checked:
    """Holds what the checks said: of the quick look at a page, or of a whole search. `replays` is how many were run.

    `played`: of a stream that was played back. `first`: what of the verdict is known before the search.
    """

    findings: Sequence[Finding]
    holding: Sequence[str]
    skipped: Sequence[tuple[str, Need]]
    replays: int
    found: Found | None = field(default=None)
    played: bool = False
    first: Verdict | None = None

    @property
    def said(self) -> Verdict | None:
        """The verdict of a search, or what is known of it before."""
        return self.first if self.found is None else self.found.verdict

    @property
    def chunkings(self) -> int:
        """How many ways to cut this output were replayed: a search counts those of changed outputs too."""
        outcomes = self.found.outcomes if self.found is not None else ()
        return sum([one.count for one in outcomes]) or self.replays

    @property
    def robustness(self) -> Sequence[Finding]:
        """What only changed outputs show: a search makes them."""
        return self.found.robustness if self.found is not None else ()

    @property
    def steps(self) -> list[int]:
        """The steps at which something begins."""
        return sorted({finding.step for finding in (*self.findings, *self.robustness) if finding.step})


def findings(checked: Checked) -> Findings:
    """The pane: first what the verdict names, then the worst."""
    named = checked.said.findings if checked.said else ()
    after = following(checked)
    ranked = sorted(enumerate(checked.findings), key=lambda pair: (pair[0] in after, *_rank(pair[0] in named, pair[1])))
    ranked += enumerate(checked.robustness, start=len(checked.findings))
    said = checked.found.verdict if checked.found and checked.found.verdict.cause else None
    lines = [
        FindingLine(item, number, index, checked.played, said if number == 1 and index in named else None)
        for number, (index, item) in enumerate(ranked[:SHOWN], 1)
    ]
    own = [line for line in lines if line.index < len(checked.findings)]
    held, judged = len(checked.holding), checked.found is None or checked.found.judged
    worse = [replace(line.finding, severity=line.severity) for line in own]
    rest = [item for index, item in ranked[SHOWN:] if index < len(checked.findings)]
    note = ", ".join([*_counts([*worse, *rest]), f"{count(held, 'check')} hold" + "s" * (held == 1)])
    return Findings(
        lines=lines,
        groups=_groups([line for line in own if line.index not in after]),
        following=_groups([line for line in own if line.index in after]),
        robustness=_groups(lines[len(own) :]),
        more=len(ranked) - len(lines),
        holding=[(name, CHECKS[name].definition if name in CHECKS else "") for name in checked.holding],
        skipped=[(name, need.words) for name, need in checked.skipped],
        note=note if judged else "nothing to check",
        steps=json.dumps(checked.steps[:SHOWN]),
        judged=judged,
    )


def _counts(found: Sequence[Finding]) -> list[str]:
    many = {level: sum(item.severity == level for item in found) for level in SEVERITIES}
    return [count(many[level], WORDS[level].lower()) for level in SEVERITIES if many[level]]


def following(checked: Checked) -> set[int]:
    """The findings that the verdict's cause explains, by their number from 0; none without such a verdict.

    A parser of another format gets everything wrong. Of one that fails or depends on cuts every other fault may come
    of that, and of one with a fault in the output itself those that are seen only in changed outputs.
    """
    said = checked.found.verdict if checked.found else None
    if said is None or not (said.findings or said.kind == "wrong_parser"):
        return set()
    first = None if said.kind == "wrong_parser" else checked.findings[said.findings[0]]
    own = {item.check for item in checked.findings if item is first}
    return {
        number
        for number, item in enumerate(checked.findings)
        if item.policy is None and item.check not in own and _follows(item, number, said, first)
    }


def _follows(item: Finding, number: int, said: Verdict, first: Finding | None) -> bool:
    if first is None:
        return item.about != "request"
    if said.about != "parser" or item.about != "parser":
        return False
    if said.kind in ("parser_failed", "chunk_boundary"):
        return number not in said.findings or _changed(item)
    return _changed(item) and not _changed(first)


def _changed(item: Finding) -> bool:
    return item.proof is not None and item.proof.changes_case


def _rank(named: bool, item: Finding) -> tuple[bool, int, bool, int]:
    return not named, SEVERITIES.index(item.severity), item.policy is not None, item.step or 0


def _groups(lines: Sequence[FindingLine]) -> list[_FindingGroup]:
    groups: dict[tuple[str, str, str | None], _FindingGroup] = {}
    for line in lines:
        key = line.finding.check, line.finding.severity, line.finding.policy
        if key in groups:
            groups[key].others.append(line)
        else:
            groups[key] = _FindingGroup(line, [])
    return list(groups.values())


# What a finding means: the check's definition, why it matters, and what to do about it.

_MATTERS = resources.files("webapp.page.search") / "matters.json"
MATTERS: dict[str, str] = json.loads(_MATTERS.read_text(encoding="utf-8"))  # by the ids of the checks
_DO = {
    "parser": "Share this case, or take the smallest failing form if there is one, and send it to the project whose "
    "parser this is. Until it is mended, another chunking or a later check on the client may help.",
    "output": "The parser is right: the model wrote this. Look at the prompt, the tool's schema and the sampling "
    "settings, or let a policy say what should happen to it.",
    "server": "Share this recording with the project whose server sent it, best with the raw output: without that "
    "nobody can say whether its parser or the model is at fault.",
    "request": "Change the request (its tools, its tool_choice, what it says about the end of the prompt), or "
    "the parser and the chat template that the server runs with.",
}
CONTRACT = "Nothing has to be mended: a policy of the parser says that this is how it works. Another value of the " \
    "policy, in the setup above, gives another result."  # fmt: skip


@dataclass(slots=True, frozen=True)
class _Explained:
    """One check, explained for one kind of finding. `word` is what production logs call it."""

    definition: str
    why: str
    todo: str
    word: str


def explained(finding: Finding, *, played: bool = False) -> _Explained:
    """Return what a finding means. A check of a parser's own notes is not in the list and has no definition.

    `played`: it is about a stream that was played back.
    """
    known = CHECKS.get(finding.check)
    blamed = finding.blamed(played=played)
    todo = CONTRACT if finding.policy else _DO["server" if played and blamed == "output" else blamed]
    return _Explained(known.definition, MATTERS[known.id], todo, known.word) if known else _Explained("", "", todo, "")


# The verdict line: one sentence about the whole, whose fault it looks like, and where to see it.

_DETAILS = 2  # sentences beside the headline; the rest folds
_FIRST = 3  # findings named beside it
# What can be said where nothing was found, by the check that must have run for it.
_HELD = (
    ("spans_cover_input", "nothing lost"),
    ("no_terminal_leak", "nothing leaked"),
    ("chunking", "the same message every time"),
)
UNKNOWN = "The raw output is unknown, so nobody can say whether the server lost any of it."


@dataclass(slots=True)
class _Action:
    """Something to click. `kind`: step and chunk move this page, beside compares, open runs a variation, find is text,
    proof runs the changed output, and offer what was put together to one; edit is for an output that is at fault.

    `value` is a step, a chunking's word, a query, or a proof as JSON.
    """

    kind: str
    words: str
    value: str


@dataclass(slots=True, frozen=True)
class Place:
    """The characters [start, end) of the output that the headline names, and the step that was fed the first."""

    start: int
    end: int
    step: int

    @property
    def words(self) -> str:
        """Return what a link there is called."""
        many = f"characters {self.start:,}–{self.end:,}" if self.end - self.start > 1 else f"character {self.start:,}"
        return f"{many}, step {self.step:,}" if self.end > self.start else f"the end, step {self.step:,}"


@dataclass(slots=True)
class VerdictLine:
    """One sentence on top, and what proves it. `more` are sentences that fold; `facts` counts the checks. `departs`: it
    is what the case expects that says so, and no check. `place` is what it names of the output, where it names
    something. `ruled`: a rule of the verdict says it."""

    severity: Severity | Literal["pass"]
    headline: str
    sentences: list[str]
    more: list[str] = field(default_factory=list)
    actions: list[_Action] = field(default_factory=list)
    facts: str = ""
    departs: bool = False
    place: Place | None = None
    ruled: bool = False

    @property
    def grounds(self) -> str:
        """What stands first below the headline, with what it announces."""
        first, *others = self.sentences or [""]
        return f"{first} {others[0]}" if first.endswith(":") and others else first


def with_departure(said: VerdictLine, found: Departure | None) -> VerdictLine:
    """The verdict on a message that is not what its case expects, whether or not a check knows it: that leads, unless
    what a check found is as bad."""
    if found is None:
        return said
    if not found.leads(said.severity):
        return replace(said, more=[*said.more, found.headline]) if found.parsed else said
    told = [said.headline] if found.parsed or said.severity != "pass" else []
    sentences = [one for one in (found.places, *told) if one]
    return VerdictLine(found.severity, found.headline, sentences, facts=said.facts, departs=True)


FIXED = (
    "Fixed: the case says that this is a known bug, and all that was tried comes out as it expects. Set its verdict to"
    " required."
)


def with_fixed(said: VerdictLine, *, is_fixed: bool) -> VerdictLine:
    """The verdict on what the case calls a known bug, where it is gone."""
    return replace(said, sentences=[FIXED, *said.sentences]) if is_fixed else said


def verdict(checked: Checked, lines: Findings, trace: Trace | None = None) -> VerdictLine:
    """Return what a search says, or, before there is one, what the quick look says. With the `trace` of the replay on
    the page it says which step was fed what the headline names."""
    said = checked.said
    if said is None:
        return _quick(checked, lines, trace)
    place = None if checked.played else _place(said.span, trace)
    details = [detail.words for detail in said.details if detail.finding is None]
    if said.kind == "all_hold" and not details and lines.lines:
        details = _noted(checked, lines)
    return VerdictLine(
        severity=said.severity,
        headline=said.cause or said.headline,
        sentences=_grounds(said, details[:_DETAILS]),
        more=details[_DETAILS:],
        actions=_actions(said, lines, place),
        facts="" if checked.found is None else _facts(checked, checked.found),
        ruled=True,
        place=place,
    )


def _grounds(said: Verdict, details: Sequence[str]) -> list[str]:
    """What stands under the headline: the kind of fault first, where that names only the cause."""
    kind = f"{BLAME[said.kind]}." if said.kind == "chunk_boundary" else said.headline
    return [kind, *details] if said.cause else [*details]


def _place(span: Span | None, trace: Trace | None) -> Place | None:
    step = None if span is None or trace is None else trace.step_at(span.start)
    return None if span is None or step is None else Place(span.start, span.end, step)


def _facts(checked: Checked, found: Found) -> str:
    """Return how many checks hold, which a headline that says so does not want said again, and what was not tried."""
    held = [] if found.verdict.kind == "all_hold" else [_held(checked)]
    tried = [sample.words for sample in found.samples]
    if tried:
        return " ".join([*held, f"Not all was tried: {'; '.join(tried)}."])
    return " ".join(held if found.complete else [*held, "The search was not finished."])


def _held(checked: Checked) -> str:
    failed = {item.check for item in checked.findings if item.severity != "info"}
    ran = len({item.check for item in checked.findings} | set(checked.holding))
    if not ran:
        return "No check ran."
    under = count(checked.chunkings, "replay" if checked.found is None else "chunking")
    return f"{ran - len(failed)} of {ran} checks hold under {under}."


def _quick(checked: Checked, lines: Findings, trace: Trace | None) -> VerdictLine:
    if not lines.lines:
        return VerdictLine("pass", _held(checked), [_nothing(checked)])
    first = lines.lines[0].finding
    place = _place(first.span, trace)
    actions = _steps([first.step] if first.step else [], place)
    return VerdictLine(first.severity, _held(checked), _noted(checked, lines), actions=actions, place=place)


def _noted(checked: Checked, lines: Findings) -> list[str]:
    """How many findings there are, and the first of them."""
    ordered = sorted(checked.findings, key=lambda item: SEVERITIES.index(item.severity))
    return [_sentence(checked, ordered), lines.lines[0].finding.message]


def _steps(steps: Sequence[int], place: Place | None) -> list[_Action]:
    """The way to the place that is named, and to the first step, where that is another one."""
    ways = [] if place is None else [_Action("step", place.words, str(place.step))]
    return ways + [_Action("step", f"step {at:,}", str(at)) for at in steps[:1] if place is None or at != place.step]


def _nothing(checked: Checked) -> str:
    words = ", ".join([words for check, words in _HELD if check in checked.holding])
    said = f"{words[:1].upper()}{words[1:]}." if words else "No check found anything."
    return f"{said} {UNKNOWN}" if _is_blind(checked) else said


def _is_blind(checked: Checked) -> bool:
    """Return whether only the server's stream is known, so that its parser cannot be told from its model."""
    return dict(checked.skipped).get("spans_cover_input") is Need.RAW


def _sentence(checked: Checked, ordered: Sequence[Finding]) -> str:
    abouts = {item.blamed(played=checked.played) for item in ordered if item.severity == ordered[0].severity}
    if _is_blind(checked) and "server" in abouts:
        return f"{' and '.join(_counts(ordered)[:2])} in what the server sent:"
    blame = f", about the {next(iter(abouts))}" if len(abouts) == 1 else ""
    exempt = ", not the parser" if abouts.isdisjoint(("parser", "server")) and not checked.played else ""
    return f"{' and '.join(_counts(ordered)[:2])}{blame}{exempt}:"


def _actions(said: found.Verdict, lines: Findings, place: Place | None) -> list[_Action]:
    """Return what proves it: the findings it names, then what its kind calls for. One of several that fold stands for
    all."""
    named = [line for line in lines.lines if line.index in said.findings]
    unfolded = [group.first for group in lines.groups if group.first in named][:_FIRST]
    actions = [_Action("find", f"finding {line.number}", f"finding-{line.number}") for line in unfolded]
    actions += _steps([line.finding.step for line in named if line.finding.step], place)
    return [*actions, *_shown(said, named), *_variations(said)]


def _shown(said: found.Verdict, named: Sequence[FindingLine]) -> list[_Action]:
    """The chunking that shows it, alone and beside the traced replay."""
    chunk, query = next(((line.chunk, line.beside) for line in named if line.chunk), ("", ""))
    if said.proof is not None and said.proof.chunking and not said.proof.changes_case:
        word = _word(said.proof)
        chunk, query = word, query if word == chunk else beside(word)
    if not chunk:
        changed = named[0].proof if named and said.about == "parser" else ""
        return [_Action("proof", "see it", changed)] if changed else []
    return [_Action("chunk", "replay it so", chunk), _Action("beside", "side by side", query)]


def _carried(proof: Proof) -> str:
    """A proof as a button carries it; nothing where it is too long."""
    text = json.dumps(proof.to_json(), separators=(",", ":"))
    return text if len(text) <= _PROOF_CHARACTERS else ""


def _word(proof: Proof) -> str:
    return spec(Chunking.model_validate(proof.chunking)) if proof.chunking else ""


def _variations(said: found.Verdict) -> list[_Action]:
    other = said.proof.parser if said.proof is not None else None
    if said.proof is not None and said.offer is not None:
        text = _carried(said.proof)
        return [_Action("offer", f"replay what leaked with {other}", text)] if text else []
    if other is not None:
        query = urlencode({"b_parser": other})
        return [_Action("open", f"run it with {other}", f"side=b&{query}"), _Action("beside", "both parsers", query)]
    if said.kind == "prompt_state_unknown":
        starts = [_Action("open", f"start in {state}", f"side=b&b_start={state}") for state in ("content", "reasoning")]
        return [*starts, _Action("beside", "both side by side", "a_start=content&b_start=reasoning")]
    return [_Action("edit", "edit the output", "")] if said.about == "output" else []
