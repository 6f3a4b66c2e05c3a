"""The verdict line: one sentence about the whole, whose fault it looks like, and where to see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

from parsers.checks.check import WHY
from parsers.replays.chunking import Chunking, spec
from parsers.search import found
from parsers.vocabulary.trace import Finding
from webapp.page.findings import SEVERITIES, Checked, FindingLine, Findings, counts
from webapp.page.glyphs import count
from webapp.page.matrix import beside

DETAILS = 2  # sentences beside the headline; the rest folds
FIRST = 3  # findings named beside it
# What can be said where nothing was found, by the check that must have run for it.
HELD = (
    ("spans_cover_input", "nothing lost"),
    ("no_terminal_leak", "nothing leaked"),
    ("chunking", "the same message every time"),
)
UNKNOWN = "The raw output is unknown, so nobody can say whether the server lost any of it."


@dataclass(slots=True)
class Action:
    """Something to click. `kind`: step and chunk move this page, beside compares, open runs a variation, find is text,
    proof runs the changed output.

    `value` is a step, a chunking's word, a query, or a proof as JSON.
    """

    kind: str
    words: str
    value: str


@dataclass(slots=True)
class Verdict:
    """One sentence on top, and what proves it. `more` are sentences that fold; `facts` counts the checks."""

    severity: str
    headline: str
    sentences: list[str]
    more: list[str] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    facts: str = ""


def verdict(checked: Checked, lines: Findings) -> Verdict:
    """What a search says, or, before there is one, what the quick look says."""
    if checked.found is None:
        return _quick(checked, lines)
    said = checked.found.verdict
    listed = {item.message for item in checked.findings}
    details = [sentence for sentence in said.details if sentence not in listed]
    return Verdict(
        severity=said.severity,
        headline=said.headline,
        sentences=details[:DETAILS],
        more=details[DETAILS:],
        actions=_actions(said, lines),
        facts=_held(checked) + ("" if checked.found.complete else " The search was not finished."),
    )


def _held(checked: Checked) -> str:
    failed = {item.check for item in checked.findings if item.severity != "info"}
    ran = len({item.check for item in checked.findings} | set(checked.holding))
    if not ran:
        return "No check ran."
    return f"{ran - len(failed)} of {ran} checks hold under {count(checked.replays, 'replay')}."


def _quick(checked: Checked, lines: Findings) -> Verdict:
    first = lines.lines[0] if lines.lines else None
    ordered = sorted(checked.findings, key=lambda item: SEVERITIES.index(item.severity))
    actions = [] if first is None or first.step is None else [Action("step", f"step {first.step:,}", str(first.step))]
    sentences = [_sentence(ordered) if first else _nothing(checked), *([first.message] if first else [])]
    return Verdict(first.severity if first else "pass", _held(checked), sentences, actions=actions)


def _nothing(checked: Checked) -> str:
    """What it means that nothing was found: only what was looked at."""
    words = ", ".join([words for check, words in HELD if check in checked.holding])
    said = f"{words[:1].upper()}{words[1:]}." if words else "No check found anything."
    blind = dict(checked.skipped).get("spans_cover_input") == WHY["raw"]
    return f"{said} {UNKNOWN}" if blind else said


def _sentence(ordered: Sequence[Finding]) -> str:
    """Who is at fault, in words."""
    abouts = {item.about for item in ordered if item.severity == ordered[0].severity}
    blame = f", about the {next(iter(abouts))}" if len(abouts) == 1 else ""
    exempt = ", not the parser" if abouts and "parser" not in abouts else ""
    return f"{' and '.join(counts(ordered)[:2])}{blame}{exempt}:"


def _actions(said: found.Verdict, lines: Findings) -> list[Action]:
    """What proves it: the findings it names, then what its kind calls for. One of several that fold stands for all."""
    named = [line for line in lines.lines if line.index in said.findings]
    unfolded = [group.first for group in lines.groups if group.first in named][:FIRST]
    actions = [Action("find", f"finding {line.number}", f"finding-{line.number}") for line in unfolded]
    steps = dict.fromkeys(line.step for line in named if line.step)
    actions += [Action("step", f"step {step:,}", str(step)) for step in list(steps)[:1]]
    return [*actions, *_shown(said, named), *_variations(said)]


def _shown(said: found.Verdict, named: Sequence[FindingLine]) -> list[Action]:
    """The chunking that shows it, alone and beside the traced replay."""
    chunk = next((line.chunk for line in named if line.chunk), "")
    query = next((line.beside for line in named if line.chunk), "")
    if said.proof is not None and said.proof.chunking and not said.proof.changes_case:
        word = spec(Chunking.model_validate(said.proof.chunking))
        chunk, query = word, query if word == chunk else beside(word)
    if not chunk:
        changed = named[0].proof if named and said.about == "parser" else ""
        return [Action("proof", "see it", changed)] if changed else []
    return [Action("chunk", "replay it so", chunk), Action("beside", "side by side", query)]


def _variations(said: found.Verdict) -> list[Action]:
    """Another parser, or the other start state: one click."""
    other = said.proof.parser if said.proof is not None else None
    if other is not None:
        query = urlencode({"b_parser": other})
        return [Action("open", f"run it with {other}", f"side=b&{query}"), Action("beside", "both parsers", query)]
    if said.kind == "prompt_state_unknown":
        starts = [Action("open", f"start in {state}", f"side=b&b_start={state}") for state in ("content", "reasoning")]
        return [*starts, Action("beside", "both side by side", "a_start=content&b_start=reasoning")]
    return []
