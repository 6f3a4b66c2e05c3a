"""What the form of a comparison offers for each side, and which rules are in force."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.cases.engines import FALLBACK
from parsers.cases.model import Case
from parsers.compare.divergence import Rules
from parsers.decoding import POLICIES
from webapp.engines import RESPONSE_TEMPLATE
from webapp.formats.folder import formats_folder
from webapp.page.compare.asked import RULES, Asked
from webapp.page.compare.sides import Replayed
from webapp.page.form.form_page import Option, PolicyField, choices, stream_option
from webapp.page.form.setup import Setup, decode_words
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


@dataclass(slots=True, frozen=True)
class SideControls:
    """One row of the form. `set_policies` are the values chosen for this side."""

    side: Replayed
    parsers: list[Option]
    set_policies: dict[str, str]


@dataclass(slots=True, frozen=True)
class RuleControl:
    """One rule of the comparison; `own` is the choice that leaves it as it is, with what that means."""

    name: str
    label: str
    own: str
    choices: list[Option]


@dataclass(slots=True, frozen=True)
class CompareForm:
    """The form. `wrong` is what could not be used, by the name of its control. `has_ids`: the case holds recorded ids,
    so there is a choice of how markers are recognised. `own_start` and `own_decode` say what the case says."""

    wrong: dict[str, str]
    rows: tuple[SideControls, SideControls]
    chunks: list[Option]
    policies: list[PolicyField]
    rules: list[RuleControl]
    decodes: list[Option]
    has_ids: bool
    own_start: str
    own_decode: str


def compare_form(case: Case, a: Replayed, b: Replayed, wrong: dict[str, str], settings: Settings) -> CompareForm:
    """The form of a comparison of `case`."""
    offered = choices(Setup(), formats_folder(settings).formats)
    own = case.parser.name + (" behind the wrapper" if case.parser.engine == FALLBACK else "")
    parsers = [Option("", f"as in the case: {own}")]
    if case.parser.engine is None:
        parsers.append(Option(f"+{FALLBACK}", f"{own}, behind the wrapper"))
    parsers += [option for option in offered.parsers if option.value != RESPONSE_TEMPLATE]
    if case.input.stream:
        parsers.append(stream_option(len(case.input.stream)))
    usual = rules_of(case, Asked(), a, b)
    return CompareForm(
        wrong=wrong,
        rows=(_row(a, parsers), _row(b, parsers)),
        chunks=[Option(*chunk) for chunk in CHUNKS if chunk[0] != "recorded" or case.input.deltas],
        policies=offered.policies,
        rules=[_rule(name, usual) for name in RULES],
        decodes=_decodes([a.given.decode, b.given.decode]),
        has_ids=case.mode() == "ids",
        own_start="reasoning" if case.context.reasoning_open else "content",
        own_decode=decode_words(case) or "exact",
    )


def rules_of(case: Case, asked: Asked, a: Replayed, b: Replayed) -> Rules:
    """The rules in force. Two formats, and every black box, make up ids in their own ways: there ids do not count."""
    comparable = a.run.format.name == b.run.format.name and not (a.run.choice.black_box or b.run.choice.black_box)
    own = case.compare.rules()
    return Rules(
        arguments=asked.arguments or own.arguments,
        whitespace=asked.whitespace or own.whitespace,
        ids=asked.ids == "same" if asked.ids else comparable,
        calls=asked.calls or own.calls,
    )


def _decodes(given: list[str]) -> list[Option]:
    """Every decode policy, with special tokens as the case has them and skipped; words given stay choosable."""
    offered = [Option(f"{name}{flag}", f"{name}{words}") for name in POLICIES for flag, words in DECODED]
    known = {option.value for option in offered}
    return [*offered, *[Option(word, word) for word in dict.fromkeys(given) if word and word not in known]]


def _rule(name: str, usual: Rules) -> RuleControl:
    label, words = RULES[name]
    own = ("same" if usual.ids else "any") if name == "ids" else str(getattr(usual, name))
    return RuleControl(name, label, f"as usual: {words[own]}", [Option(*pair) for pair in words.items()])


def _row(side: Replayed, parsers: list[Option]) -> SideControls:
    word = side.given.parser
    known = word in {option.value for option in parsers}
    chosen = dict(pair.split(":", 1) for pair in side.given.policy.split(",") if ":" in pair)
    return SideControls(side, parsers if known else [*parsers, Option(word, word)], chosen)
