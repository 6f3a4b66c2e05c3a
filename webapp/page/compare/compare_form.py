"""The form of a comparison: a part for each side, and the rules."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.cases.case import Case
from parsers.cases.engines import FALLBACK
from parsers.compare.divergence import Rules
from parsers.decoding import POLICIES
from parsers.formats.contracts import builtin_contracts
from parsers.replays.chunking import spec
from parsers.search.sweep import one_delta
from webapp.formats.folder import formats_folder
from webapp.page.compare.asked import RULES, Asked
from webapp.page.compare.readers import ReaderGroup, offered_parsers, reader_groups, reading_formats
from webapp.page.compare.sides import Replayed
from webapp.page.form.form_page import Option, PolicyField, choices, stream_option
from webapp.page.form.setup import Setup, decode_words
from webapp.runs.runner import NOT_STREAMED, Runner

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
class SideRow:
    """The part of one side: its parsers, those of its case and all others in groups, the policies that are set for it,
    and what its case says."""

    side: Replayed
    parsers: list[Option]
    groups: list[ReaderGroup]
    policies: dict[str, str]
    has_ids: bool
    own_start: str
    own_decode: str
    own_contract: str


@dataclass(slots=True, frozen=True)
class CompareForm:
    """The form. `wrong` is what could not be used, by the name of its control. `rules` are names, labels, what each is
    as usual, and the choices; `texts` are the other outputs that are known."""

    wrong: dict[str, str]
    rows: list[SideRow]
    chunks: list[Option]
    policies: list[PolicyField]
    contracts: list[Option]
    rules: list[tuple[str, str, str, list[Option]]]
    decodes: list[Option]
    texts: list[Option]


def compare_form(
    runner: Runner, case: Case, sides: list[Replayed], wrong: dict[str, str], texts: list[Option]
) -> CompareForm:
    """The form of a comparison of `case`."""
    offered, parsers = choices(Setup(), formats_folder(runner.settings).formats), offered_parsers(runner)
    known = {option.value for option in texts}
    named = [Option(side.side.text, side.source) for side in sides if side.side.text and side.side.text not in known]
    usual = rules_of(case, Asked(), sides)
    return CompareForm(
        wrong=wrong,
        rows=[_row(side, reader_groups(parsers, reading_formats(runner, side))) for side in sides],
        chunks=_chunks(sides),
        policies=offered.policies,
        contracts=[Option(name, name) for name in builtin_contracts()],
        rules=[_rule(name, usual) for name in RULES],
        decodes=_decodes([side.given.decode for side in sides]),
        texts=[*texts, *{option.value: option for option in named}.values()],
    )


def rules_of(case: Case, asked: Asked, sides: list[Replayed]) -> Rules:
    """The rules in force. Formats, outputs and black boxes make up ids in their own ways: where they differ, or one of
    the last is there, ids do not count."""
    formats = {(side.run.format.name, side.side.text) for side in sides}
    comparable = len(formats) == 1 and not any(side.run.choice.black_box for side in sides)
    own = case.compare.rules()
    return Rules(
        arguments=asked.arguments or own.arguments,
        whitespace=asked.whitespace or own.whitespace,
        ids=asked.ids == "same" if asked.ids else comparable,
        calls=asked.calls or own.calls,
    )


def _chunks(sides: list[Replayed]) -> list[Option]:
    """The usual chunkings. Where an engine has a second code path for whole outputs, `whole` means that of it."""
    recorded = any(side.own.input.deltas for side in sides)
    apart = any(side.run.replayer.one_shot is not None for side in sides)
    words = dict(CHUNKS) | ({"whole": f"whole; by an engine {NOT_STREAMED}"} if apart else {})
    known = [Option(word, said) for word, said in words.items() if word != "recorded" or recorded]
    return [*[Option(spec(one_delta(apart)), "in one delta")] * apart, *known]


def _decodes(given: list[str]) -> list[Option]:
    """Every decode policy, with special tokens as the case has them and skipped; words given stay choosable."""
    offered = [Option(f"{name}{flag}", f"{name}{words}") for name in POLICIES for flag, words in DECODED]
    known = {option.value for option in offered}
    return [*offered, *[Option(word, word) for word in dict.fromkeys(given) if word and word not in known]]


def _rule(name: str, usual: Rules) -> tuple[str, str, str, list[Option]]:
    label, words = RULES[name]
    own = ("same" if usual.ids else "any") if name == "ids" else str(getattr(usual, name))
    return name, label, f"as usual: {words[own]}", [Option(*pair) for pair in words.items()]


def _row(side: Replayed, groups: list[ReaderGroup]) -> SideRow:
    case, word = side.own, side.given.parser
    own = case.parser.name + (" behind the wrapper" if case.parser.engine == FALLBACK else "")
    parsers = [Option("", f"as in the case: {own}")]
    if case.parser.engine is None:
        parsers.append(Option(f"+{FALLBACK}", f"{own}, behind the wrapper"))
    if case.input.stream:
        parsers.append(stream_option(len(case.input.stream)))
    if word not in {option.value for options in (parsers, *[group.options for group in groups]) for option in options}:
        parsers.append(Option(word, word))
    contract = case.contract if isinstance(case.contract, str) else "its own" if case.contract else "openai"
    return SideRow(
        side=side,
        parsers=parsers,
        groups=groups,
        policies=dict(pair.split(":", 1) for pair in side.given.policy.split(",") if ":" in pair),
        has_ids=case.mode() == "ids",
        own_start="reasoning" if case.context.reasoning_open else "content",
        own_decode=decode_words(case) or "exact",
        own_contract=contract,
    )
