"""What a case is parsed with that names an entered engine: its request and tokens as the engine is told of them.

Token ids are those of the server where they were recorded. Else they are the stand-in's or made up, one for each text,
so that ids and text always agree: a part of a token that is cut has an id of its own. An output is fed the same ids
however it is cut and whatever is replayed with it. Markers of the format that do
not occur in the output have ids as well, for parsers look them up when they are made.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from typing import Any, Protocol
from zlib import crc32

from parsers.cases.case import Case
from parsers.cases.engines import Choice, Declared, Engine
from parsers.cases.input import CaseError
from parsers.cases.request_told import request_of
from parsers.checks.leaks import is_marker, unmistakable_markers
from parsers.formats.contracts import DEFAULT, builtin_contracts
from parsers.formats.model import Format
from parsers.replays.ran_lines import LinesAsked, RanLines
from parsers.replays.recorded import BlackBox
from parsers.replays.tapes import Asked, Played, Tape
from parsers.selection.claims import is_bare
from parsers.selection.registry import Evidence, Selection, get_format, known_format, select
from parsers.vocabulary.types import Delta, Piece
from webapp.engines.protocol import Card, Replayed

FIRST_OWN_ID = 2_000_000  # above every vocabulary
_FIRST_PART = FIRST_OWN_ID + 1_000
_PARTS = 2**31 - 2 * FIRST_OWN_ID  # ids are of 31 bits: some servers keep them in a signed word
OPTIONS = ("reasoning_parser",)


class _Players(Protocol):
    """Holds the engines that can be asked."""

    def card(self, name: str) -> Card: ...

    def timed(self, name: str, run: Mapping[str, Any]) -> tuple[list[Replayed], float]: ...

    def lines(self, name: str, run: Mapping[str, Any]) -> RanLines: ...


def engine_for(name: str, players: _Players, grammar: Format | None = None) -> Engine:
    """The engine of an entry. `grammar`: what its parser reads, where that has no name of ours."""
    return partial(_chosen, name, players, grammar)


def _chosen(name: str, players: _Players, told_grammar: Format | None, case: Case, evidence: Evidence) -> Choice:
    """Raises CaseError with the place of what the engine cannot run."""
    for key, what in (("format", "format"), ("policy", "policies")):
        if getattr(case.parser, key):
            raise CaseError(f"the parsers of {name} are its own: they take no {what}", f"/parser/{key}")
    card = players.card(name)
    parser, reasons = _parser(name, card, case, evidence)
    reasoning = _reasoning(name, card, case)
    grammar = known_format(parser) or told_grammar
    told = grammar is not None and bool(grammar.tokens)  # else nobody says which of its markers are tokens
    if grammar is None or not grammar.terminals:
        grammar = _read_off(case)
    label = f"{name}:{parser}"
    run = _Run(
        name, players, parser, reasoning, card, _vocabulary(case, grammar, () if told else unmistakable_markers()), case
    )
    server = card.server
    declared = Declared(server.holds_text, server.empty_deltas, server.many_tokens == "never")
    version = f" {card.version}" * bool(card.version)
    behind = f", behind its reasoning parser {reasoning}" * bool(reasoning)
    said = f"{card.name}{version} runs its own parser {parser}{behind}, in a process of its own."
    return Choice(
        _shown(label),
        Selection(parser, (said, *reasons)),
        partial(_unplayed, label),
        black_box=True,
        one_shot=partial(_unplayed, label) if card.whole and card.streams else None,
        grammar=grammar if grammar.terminals else None,
        contract=card.contract if card.contract in builtin_contracts() else DEFAULT,
        replays=run.play,
        lines=run.lines,
        declared=declared,
        spent=lambda: run.spent,
    )


def _read_off(case: Case) -> Format:
    """The grammar that an output itself points to; that of plain text where the case declares markers of another one,
    or where none of its own stands there: a call in JSON, or in Python, may have anybody's markup around it, unless it
    is all there is."""
    text, plain = case.text(), get_format("passthrough")
    found = plain if case.parser.markers else get_format(select(Evidence(text=text)).name)
    marked = any(is_marker(literal) and literal in text for literal in found.terminals.values())
    alone = is_bare(found) and text.strip()[:1] in ("{", "[") and text.strip()[-1:] in ("}", "]")
    return found if marked or alone else plain


def _unplayed(label: str) -> BlackBox:
    return Played(label, Tape())


def no_parser(name: str, asked: str, known: Sequence[str]) -> str:
    """What is said of a parser that an engine does not have, with those of like names."""
    names = [*dict.fromkeys(known)]  # a tool and a reasoning parser may have one name
    near = get_close_matches(asked, names, 5, 0.3) or names[:5]
    return f"{name} has no parser {asked!r}; it has {len(names)}, such as {', '.join(near)}"


def _parser(name: str, card: Card, case: Case, evidence: Evidence) -> tuple[str, tuple[str, ...]]:
    """The parser a case names, else the one for tool calls where there is one, as with a class of somebody's own beside
    all reasoning parsers, or the first that reads the format that the evidence points to."""
    asked, known = case.parser.name, [*card.names("tool"), *card.names("reasoning")]
    if asked in known:
        return asked, ()
    if asked != "auto":
        raise CaseError(no_parser(name, asked, known), "/parser/name")
    only = card.names("tool") or known
    if len(only) == 1:
        return only[0], ()
    found = select(Evidence(model_id=evidence.model_id or case.context.model, text=case.text()))
    for one in card.names("tool"):
        fmt = known_format(one)
        if fmt is not None and fmt.name == found.name:
            return one, (f"It reads {fmt.name}: {found.reasons[0]}",)
    names = ", ".join(dict.fromkeys(known))
    raise CaseError(f"name a parser of {name} (as --engine {name}:PARSER): {names}", "/parser/name")


def _reasoning(name: str, card: Card, case: Case) -> str | None:
    for key in case.parser.options:
        if key not in OPTIONS:
            raise CaseError(f"there is no option {key!r}; an engine takes {OPTIONS[0]}", f"/parser/options/{key}")
    found = case.parser.options.get(OPTIONS[0])
    known = card.names("reasoning")
    if found is not None and found not in known:
        place = f"/parser/options/{OPTIONS[0]}"
        near = get_close_matches(str(found), known, 5, 0.3) or known[:5] or ["none"]
        raise CaseError(f"{name} has no reasoning parser {found!r}; it has {', '.join(near)}", place)
    return found


def _shown(label: str) -> Format:
    """A format without markers: nothing is known of the states of somebody else's parser."""
    return Format.model_validate(
        {
            "schema": 1,
            "name": "engine",
            "title": label,
            "description": "A parser of an engine, of which only the deltas are seen.",
            "initial": "UNKNOWN",
            "states": {"UNKNOWN": {"text": "content", "rows": [{"on": "END", "to": "UNKNOWN"}]}},
        }
    )


def _vocabulary(case: Case, grammar: Format, others: Sequence[str]) -> dict[str, int]:
    """Markers with their ids: the case's, and made up ones for those of the format that it does not tell of and that a
    model with such an output has, and for others that stand in the output."""
    known = dict(case.markers() or {})
    told = {
        piece.text: piece.token_id for piece in case.pieces() or () if piece.recorded and piece.token_id is not None
    }
    said = case.text()
    lacks = {text for text, one in grammar.tokens.items() if any(old in said for old in one.absent_with)}
    # Those that are one token: an engine takes them for special.
    texts = [text for text in (*grammar.tokens, *grammar.end_tokens) if text not in lacks]
    texts += [one for one in others if one in said]
    for number, text in enumerate(dict.fromkeys(texts)):
        known.setdefault(text, told.get(text, FIRST_OWN_ID + number))
    return known


def _prompt(tail: str | None, vocabulary: Mapping[str, int]) -> tuple[str, ...] | None:
    """The end of the prompt in tokens: its markers, and what stands between them; None where it is not known."""
    if tail is None:
        return None
    markers = sorted(vocabulary, key=len, reverse=True)
    parts = re.split(f"({'|'.join(map(re.escape, markers)) or '(?!)'})", tail)
    return tuple([part for part in parts if part])


class _Run:
    """Everything the engine is told but the replays. `spent`: for how many seconds it was at work for this."""

    def __init__(
        self,
        name: str,
        players: _Players,
        parser: str,
        reasoning: str | None,
        card: Card,
        vocabulary: Mapping[str, int],
        case: Case,
    ) -> None:
        self.spent = 0.0
        self._name = name
        self._players = players
        self._asked = {"parser": parser, "reasoning_parser": reasoning}
        self._wants = card.wants
        self._streams = card.streams
        self._vocabulary = vocabulary
        self._kwargs = dict(case.context.template_kwargs)
        self._prompt = _prompt(case.context.prompt_tail, vocabulary)

    def play(self, asked: Sequence[Asked]) -> Sequence[Tape]:
        """The tapes of these replays, in their order: those of one output, request and path in one go."""
        groups: dict[Hashable, list[int]] = {}
        for number, one in enumerate(asked):
            like = (id(one.context), id(one.tokens), one.whole, one.observed, one.counted, one.covered)
            groups.setdefault(like, []).append(number)
        tapes: dict[int, Tape] = {}
        for numbers in groups.values():
            found, took = self._players.timed(self._name, self._message([asked[number] for number in numbers]))
            self.spent += took
            for number, made in zip(numbers, found, strict=True):
                tape = made.tape()
                tapes[number] = tape if self._streams else _at_the_end(tape, len(asked[number].deltas))
        return [tapes[number] for number in range(len(asked))]

    def lines(self, asked: LinesAsked) -> RanLines:
        """The lines that one step executed. Raises UsageError where the engine does not tell them."""
        sought = asked.sought
        part = {"sought": sought.text, "channel": sought.channel, "call": sought.call, "at": sought.at}
        more = {"observe": "lines", "step": asked.step, "where": asked.where, **part}
        return self._players.lines(self._name, {**self._message([asked.replay]), **more})

    def _message(self, asked: Sequence[Asked]) -> dict[str, Any]:
        context = asked[0].context
        message: dict[str, Any] = {
            **self._asked,
            "request": request_of(context),
            "template_kwargs": self._kwargs,
            "finish_reason": context.finish_reason,
            "path": "whole" if asked[0].whole or not self._streams else "stream",
            **({"observe": "state"} if asked[0].observed else {}),
            **({"observe": "costs"} if asked[0].counted else {}),
            **({"observe": "cover"} if asked[0].covered else {}),
        }
        if self._wants == "text":
            return {**message, "replays": [[[delta.text] for delta in one.deltas] for one in asked]}
        ids = _Ids(self._vocabulary, asked[0].tokens)
        message["prompt_ids"] = None if self._prompt is None else [ids.made(text) for text in self._prompt]
        replays = [[[delta.text, ids.of(delta)] for delta in one.deltas] for one in asked]
        return {**message, "replays": replays, "vocabulary": dict(self._vocabulary), "tokens": ids.tokens()}


def _at_the_end(tape: Tape, deltas: int) -> Tape:
    """The tape of an engine that knows whole outputs only: it says all at the end."""
    failed_at = deltas + 1 if tape.failed_at else 0
    printed = dict.fromkeys([deltas + 1] * bool(tape.printed), " ".join(tape.printed.values()))
    said = (*(None,) * deltas, *tape.sent)
    return replace(tape, sent=said, failed_at=failed_at, printed=printed, observed=None)


class _Ids:
    """Ids of an output's tokens, and of what somebody cut them into: the same in every message."""

    def __init__(self, vocabulary: Mapping[str, int], tokens: Iterable[Piece]) -> None:
        self._vocabulary = vocabulary
        self._parts: dict[str, int] = {}
        self._taken: set[int] = {*vocabulary.values()}
        self._texts: dict[int, dict[str, None]] = {}  # several for bytes that are a character only beside others
        self._recorded: set[int] = set()
        for piece in tokens:
            if piece.token_id is not None:
                self._texts.setdefault(piece.token_id, {})[piece.text] = None
                self._recorded |= {piece.token_id} if piece.recorded else set()

    def of(self, delta: Delta) -> list[int]:
        """The ids that come with a delta."""
        if delta.early_ids is not None and self._texts:
            return [self._whole(one) for one in delta.early_ids]
        return [one for piece in delta.pieces if (one := self._id(piece)) is not None]

    def tokens(self) -> list[tuple[int, str]]:
        """Every id with its text."""
        own = [(number, max(texts, key=len)) for number, texts in self._texts.items()]
        return [*own, *[(number, text) for one in (self._vocabulary, self._parts) for text, number in one.items()]]

    def _whole(self, token_id: int, text: str | None = None) -> int:
        """The id of a whole token: its marker's, unless a server told it."""
        if token_id in self._recorded:
            return token_id
        known = max(self._texts.get(token_id, ("",)), key=len) if text is None else text
        return self._vocabulary.get(known, token_id)

    def _id(self, piece: Piece) -> int | None:
        """None for what no id came with: an empty text, and the rest of a token that a server told."""
        if piece.token_id is not None and (piece.recorded or piece.text in self._texts.get(piece.token_id, {})):
            return self._whole(piece.token_id, piece.text)
        return self.made(piece.text) if piece.text and not piece.recorded else None

    def made(self, text: str) -> int:
        """The id of a text that stands for itself: a marker's own, else one that is made of the text, for what else is
        fed must not count."""
        known = self._vocabulary.get(text, self._parts.get(text))
        if known is not None:
            return known
        number = _FIRST_PART + crc32(text.encode("utf-8", "surrogatepass")) % _PARTS
        while number in self._taken:
            number += 1
        self._taken.add(number)
        self._parts[text] = number
        return number
