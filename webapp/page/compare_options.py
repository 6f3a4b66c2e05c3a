"""What the form of a comparison offers for each side."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.cases.engines import FALLBACK, RECORDED
from parsers.cases.model import Case
from parsers.compare.divergence import Rules
from parsers.decoding import POLICIES
from webapp.engines import RESPONSE_TEMPLATE
from webapp.formats.folder import formats_folder
from webapp.page.compare_sides import Replayed
from webapp.page.decode_form import said
from webapp.page.form import Setup
from webapp.page.options import Option, PolicyField, options
from webapp.page.recorded_form import stream_words
from webapp.settings import Settings

CHUNKS: tuple[tuple[str, str], ...] = (
    ("token", "token by token"),
    ("token:2", "2 tokens"),
    ("token:3", "3 tokens"),
    ("token:5", "5 tokens"),
    ("token:10", "10 tokens"),
    ("char", "character by character"),
    ("char:5", "5 characters"),
    ("whole", "whole, in one delta"),
    ("recorded", "as recorded"),
    ("random:1", "random sizes, seed 1"),
    ("random:1:8:char", "random sizes in characters"),
    ("cuts:10", "cut at character 10"),
)


DECODED = (("", ""), ("+skip", ", special tokens skipped"))


@dataclass(slots=True)
class SideControls:
    """One row of the form. `set_policies` are the values chosen for this side."""

    name: str
    side: Replayed
    parsers: list[Option]
    set_policies: dict[str, str]


RULES: dict[str, tuple[str, dict[str, str]]] = {
    "calls": ("calls", {"order": "by index and order", "index": "by index"}),
    "arguments": ("arguments as", {"text": "text", "json": "JSON values"}),
    "whitespace": ("whitespace of the text", {"exact": "exactly", "soft": "softly, as blanks"}),
    "ids": ("ids of calls", {"same": "they count", "any": "any"}),
}


@dataclass(slots=True)
class RuleControl:
    """One rule of the comparison; `own` is the choice that leaves it as it is, with what that means."""

    name: str
    label: str
    own: str
    choices: list[Option]


@dataclass(slots=True)
class Controls:
    """The form. `has_ids`: the case holds recorded ids, so there is a choice of how markers are recognised."""

    rows: tuple[SideControls, SideControls]
    chunks: list[Option]
    policies: list[PolicyField]
    rules: list[RuleControl]
    decodes: list[Option]
    has_ids: bool
    own_start: str
    own_decode: str


def controls(case: Case, a: Replayed, b: Replayed, usual: Rules, settings: Settings) -> Controls:
    """The form of a comparison of `case`; `usual` are the rules where none is asked for."""
    offered = options(Setup(parser="auto"), formats_folder(settings).formats)
    own = case.parser.name + (" behind the wrapper" if case.parser.engine == FALLBACK else "")
    parsers = [Option("", f"as in the case: {own}")]
    if case.parser.engine is None:
        parsers.append(Option(f"+{FALLBACK}", f"{own}, behind the wrapper"))
    parsers += [option for option in offered.parsers if option.value != RESPONSE_TEMPLATE]
    if case.input.stream:
        parsers.append(Option(RECORDED, stream_words(len(case.input.stream))))
    return Controls(
        rows=(_row(a, parsers), _row(b, parsers)),
        chunks=[Option(*chunk) for chunk in CHUNKS if chunk[0] != "recorded" or case.input.deltas],
        policies=offered.policies,
        rules=[_rule(name, usual) for name in RULES],
        decodes=_decodes([a.given.decode, b.given.decode]),
        has_ids=case.mode() == "ids",
        own_start="reasoning" if case.context.reasoning_open else "content",
        own_decode=said(case) or "exact",
    )


def _decodes(given: list[str]) -> list[Option]:
    """Every decode policy, with special tokens as the case has them and skipped; words given stay choosable."""
    offered = [Option(f"{name}{flag}", f"{name}{words}") for name in POLICIES for flag, words in DECODED]
    known = {option.value for option in offered}
    return [*offered, *[Option(word, word) for word in dict.fromkeys(given) if word and word not in known]]


def _rule(name: str, usual: Rules) -> RuleControl:
    label, words = RULES[name]
    own = ("same" if usual.ids else "any") if name == "ids" else str(getattr(usual, name))
    return RuleControl(name, label, f"as usual: {words[own]}", [Option(value, said) for value, said in words.items()])


def _row(side: Replayed, parsers: list[Option]) -> SideControls:
    word = side.given.parser
    known = word in {option.value for option in parsers}
    return SideControls(
        name=side.name,
        side=side,
        parsers=parsers if known else [*parsers, Option(word, word)],
        set_policies=dict(pair.split(":", 1) for pair in side.given.policy.split(",") if ":" in pair),
    )
