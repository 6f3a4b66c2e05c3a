"""The replays of a comparison: the case as each side wants it, or another case, run and kept by the runner.

A word that makes no sense is said beside its control and left out: the rest of the comparison still works.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from parsers.cases.case import Case, CaseError, ParserRef
from parsers.cases.engines import FALLBACK, RECORDED, engine_of, policy_of, traced_chunking
from parsers.cases.run import replayer_of
from parsers.compare.exact_text import on_exact_text
from parsers.compare.on_message import on_message
from parsers.decoding import POLICIES, Decode
from parsers.formats.contracts import contract_named
from parsers.replays.chunking import Chunking, parse_spec, spec
from parsers.selection.registry import policies, resolve
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import UsageError
from webapp.engines import choose
from webapp.engines.entered import engine_stamp, entered, unknown
from webapp.fields import side_at
from webapp.formats.folder import formats_folder, with_folder_format
from webapp.page.compare.asked import Side
from webapp.page.compare.known_tools import Teller, Tools
from webapp.page.form.setup import decode_words
from webapp.page.inspect.result import is_end_known
from webapp.runs.prepare import error_place, parser_place
from webapp.runs.runner import Run, Runner, collector_paused

# What follows a decode policy in the word of a side.
FLAGS: dict[str, dict[str, Any]] = {
    "skip": {"skip_special_tokens": True},
    "keep": {"skip_special_tokens": False},
    "drop": {"drop_eos": True},
    "stay": {"drop_eos": False},
    "nostop": {"stop": (), "include_stop": False},
}


@dataclass(slots=True)
class Replayed:
    """One side: what was asked with the chunking spelled out, the case it makes (but for the chunking), its replay, and
    what could not be used of what was given. `own` is the case it starts from: that of the page, or another. `sent` is
    the replay as it is laid beside the others, where that is by what it sends."""

    name: str
    side: Side
    case: Case
    run: Run
    own: Case
    errors: dict[str, str] = field(default_factory=dict)
    given: Side = field(default_factory=Side)
    sent: Run | None = None

    @property
    def laid(self) -> Run:
        """The replay as it is laid beside those of the other sides."""
        return self.run if self.sent is None else self.sent

    @property
    def title(self) -> str:
        """A to D."""
        return self.name.upper()

    @property
    def source(self) -> str:
        """Return where its text comes from, in words; empty where that is the case of the page."""
        kind, _, name = self.side.text.partition(":")
        words = {"parent": "the parent", "paste": f"text {name}", "case": f"case {name}", "example": "example"}
        title = f", {self.own.title}" if self.own.title and kind in ("case", "example", "paste") else ""
        return words[kind] + title if kind else ""

    @property
    def words(self) -> str:
        """Return what this side is, in a few words."""
        run = self.run
        start = ", starts in reasoning" if run.context.reasoning_open else ""
        decoding = f", {words}" if (words := decode_words(self.case)) else ""
        return f"{self._parser_words}, {self.chunk_words}, markers by {run.trace.mode}{start}{decoding}"

    @property
    def short_words(self) -> str:
        """Return the parser and the chunking alone."""
        return f"{self._parser_words}, {self.chunk_words}"

    @property
    def _parser_words(self) -> str:
        return self.run.parser + (", wrapped" if self.case.parser.engine == FALLBACK else "")

    @property
    def chunk_words(self) -> str:
        """Return how its output is cut, in words."""
        return self.run.chunk_words

    @property
    def output(self) -> str | None:
        """The output, None where it is not known: a recording reads none, and its case may hold it all the same."""
        if not self.run.replayer.plays:
            return self.run.trace.text
        return self.case.text() if self.case.has_raw else None

    @property
    def server_error(self) -> str | None:
        """What the server whose recording this side plays says went wrong, where it ended with that."""
        server = self.run.replayer.server if self.run.replayer.plays else None
        return None if server is None else server.error

    @property
    def standalone(self) -> Case:
        """The side as a case of its own."""
        return self.case.model_copy(update={"replay": (self.run.chunking,)})

    @property
    def is_own(self) -> bool:
        """Return whether it is the case as it stands."""
        return not self.moved and self.run.chunking == traced_chunking(self.case)

    @property
    def moved(self) -> bool:
        """Return whether more than the chunking differs from the case: then the inspector has no address for it."""
        return self.side != Side(chunk=self.side.chunk)


Texts = Callable[[str], Case]  # the case that a word names. Raises UsageError


def replayed(runner: Runner, case: Case, name: str, asked: Side, texts: Texts | None = None) -> Replayed:
    """One side of a comparison of `case`; `texts` finds another one by its word.

    Raises what `Runner.run` raises for the case itself.
    """
    errors: dict[str, str] = {}
    side, case, base = _started(runner, case, asked, texts, errors)
    while True:
        side, varied, chunking = _taken(runner, case, side, errors)
        try:
            run = _run(runner, base, varied, chunking)
            break
        except UsageError as error:
            place = _place(error, side)
            if not place:
                raise
            errors[place] = _said(error)
            side = replace(side, **{place: ""})
    return Replayed(name, replace(side, chunk=spec(run.chunking)), varied, run, case, errors, asked)


def _started(
    runner: Runner, case: Case, side: Side, texts: Texts | None, errors: dict[str, str]
) -> tuple[Side, Case, Run]:
    """The side and the case that it starts from, which is another one where its words say so and it can be had: the
    very object that the kept run is of, so that a side which changes nothing is known to be that run."""
    if side.text and texts is not None:
        try:
            base = runner.run(texts(side.text))
            return side, base.case, base
        except UsageError as error:
            errors["text"] = _said(error)
    base = runner.run(case)
    return replace(side, text=""), base.case, base


def _run(runner: Runner, base: Run, case: Case, chunking: Chunking) -> Run:
    """The replay of a side. Both sides read the same tokens: they are the model's, whatever parser reads them."""
    if case is base.case:
        return runner.run(case, chunking)
    stamp = engine_stamp(engine_of(case))
    said = f"{spec(chunking)} {base.key} {stamp} {case.model_dump_json(exclude={'input'}, exclude_defaults=True)}"
    key = hashlib.sha256(said.encode()).hexdigest()
    return runner.kept(key, lambda: _on_tokens(base, case, chunking, key))


def teller(runner: Runner, side: Replayed) -> Teller:
    """A side, to be asked whether it differs from another one for want of tools alone."""

    def told(tools: Tools) -> Trace:
        case = side.case.model_copy(update={"tools": tools})
        return _run(runner, runner.run(side.own), case, side.run.chunking).trace

    replayer = side.run.replayer
    return Teller(side.case.tools, side.run.trace, None if replayer.plays else told, ends=is_end_known(replayer))


def _on_tokens(base: Run, case: Case, chunking: Chunking, key: str) -> Run:
    with error_place(parser_place(case)):
        choice = choose(case)
    stored = base.stored
    if case.mode() == "text":
        stored = tuple([replace(piece, recorded=False) if piece.recorded else piece for piece in stored])
    with error_place("/replay"), collector_paused():
        replayer = replayer_of(case, choice, stored)
        trace = replayer.trace(chunking)
    return Run(case, choice, replayer, stored, chunking, trace, key, base.beside.under(key))


def _taken(runner: Runner, case: Case, asked: Side, errors: dict[str, str]) -> tuple[Side, Case, Chunking]:
    """The words that can be used, the case they make, and the chunking."""
    side, varied = asked, case
    for key, change in CHANGES.items():
        word = getattr(side, key)
        try:
            varied = change(runner, varied, word) if word else varied
        except UsageError as error:
            errors[key] = _said(error)
            side = replace(side, **{key: ""})
    try:
        chunking = parse_spec(side.chunk) if side.chunk else traced_chunking(varied)
    except UsageError as error:
        errors["chunk"] = _said(error)
        side, chunking = replace(side, chunk=""), traced_chunking(varied)
    return side, varied, chunking


def _place(error: UsageError, side: Side) -> str:
    """The word of a side that a replay failed over; empty where it is the case itself."""
    pointer = error.pointer if isinstance(error, CaseError) else ""
    named = side_at(pointer)
    said = [key for key in (*CHANGES, "chunk") if getattr(side, key)]
    return named if named in said else (said[-1] if said else "")


def _said(error: Exception) -> str:
    words = error.message if isinstance(error, CaseError) else str(error)
    lead = words[:1] if "_" in words.partition(" ")[0] else words[:1].upper()
    return f"{lead}{words[1:].removesuffix('.')}. The case's own is used."


def with_parser(runner: Runner, case: Case, word: str) -> Case:
    """The case under another parser: a name, a name behind the wrapper, ENGINE:PARSER, or what a server sent. Raises
    UsageError."""
    name, plus, wrapper = word.partition("+")
    if plus and wrapper != FALLBACK:
        raise UsageError(f"{word[:80]!r} is no parser; write a name, or NAME+{FALLBACK}")
    if name == RECORDED and not plus:
        if case.input.stream is None:
            raise UsageError("this case has no recorded stream")
        return case.model_copy(update={"parser": ParserRef(name=RECORDED), "replay": ()})
    engine, colon, of_engine = name.partition(":")
    if colon and not plus:
        return _by_engine(case, engine, of_engine)
    parser = case.parser
    if name and name != "auto" and formats_folder(runner.settings).find(name) is None:
        resolve(name)
    if name:
        parser = ParserRef(name=name, policy=parser.policy)
    if plus and parser.engine != FALLBACK:
        parser = parser.model_copy(update={"engine": FALLBACK, "options": {}})
    return with_folder_format(case.model_copy(update={"parser": parser}), runner.settings)


def _by_engine(case: Case, engine: str, name: str) -> Case:
    """The case by a parser of an entered engine; of the case's own engine it keeps the options. Raises UsageError."""
    known = entered().entries()
    if engine not in known:
        raise UsageError(unknown(engine, known))
    options = case.parser.options if case.parser.engine == engine else {}
    return case.model_copy(update={"parser": ParserRef(name=name or "auto", engine=engine, options=options)})


def _with_contract(_: Runner, case: Case, word: str) -> Case:
    """Another contract by its name, in place of the case's own."""
    contract_named(word)
    return case.model_copy(update={"contract": word})


def _with_policy(_: Runner, case: Case, word: str) -> Case:
    pairs = [pair.partition(":") for pair in word.split(",") if pair]
    if wrong := next((key for key, colon, _ in pairs if not colon), None):
        raise UsageError(f"{wrong[:80]!r} says no value; write policies like unknown_tool:drop")
    parser = case.parser.model_copy(update={"policy": case.parser.policy | {key: value for key, _, value in pairs}})
    varied = case.model_copy(update={"parser": parser})
    policies(choose(case).format, policy_of(varied))
    return varied


def _with_mode(_: Runner, case: Case, word: str) -> Case:
    """Markers by id or by text. A parser that was found by the ids stays the one that was found."""
    if word not in ("ids", "text"):
        raise UsageError(f"{word[:80]!r} is no way to recognise markers; write ids or text")
    if word == case.mode():
        return case
    if word == "ids":
        raise UsageError("this output has no recorded ids, so markers are recognised by their text")
    parser = case.parser
    if parser.name == "auto":
        parser = parser.model_copy(update={"name": choose(case).selection.name})
    return case.model_copy(update={"parser": parser, "source": None})


def _with_start(_: Runner, case: Case, word: str) -> Case:
    """The case with an output that begins in one of them. The end of the prompt would say that too: it is left out."""
    if word not in ("content", "reasoning"):
        raise UsageError(f"an output cannot start in {word[:80]!r}; write content or reasoning")
    said = {"reasoning_open": word == "reasoning", "prompt_tail": None}
    return case.model_copy(update={"context": case.context.model_copy(update=said)})


def _with_decode(_: Runner, case: Case, word: str) -> Case:
    """Another decode policy, and what it leaves out; the rest of the case's own stays."""
    policy, *flags = word.split("+")
    wrong = [name for name in [policy] if name and name not in POLICIES] + [flag for flag in flags if flag not in FLAGS]
    if wrong:
        known = f"{', '.join(POLICIES)}, each with +{', +'.join(FLAGS)}"
        raise UsageError(f"{wrong[0][:80]!r} is no way to decode; write {known}")
    changes: dict[str, Any] = {"policy": policy} if policy else {}
    for flag in flags:
        changes |= FLAGS[flag]
    own = case.decode or Decode()
    decode = own.model_copy(update=changes)
    if decode == own:
        return case
    return case.model_copy(update={"decode": None if decode == Decode() else decode})


CHANGES: dict[str, Callable[[Runner, Case, str], Case]] = {
    "parser": with_parser,
    "contract": _with_contract,
    "policy": _with_policy,
    "mode": _with_mode,
    "start": _with_start,
    "decode": _with_decode,
}


def on_one_text(runner: Runner, sides: list[Replayed]) -> list[Replayed]:
    """Sides that read one output on one text: the exact one where they decoded the tokens differently. Where one is a
    recording, all are laid by what they send: its chunks say nothing of what became of the characters of an output,
    even where that is known."""
    if any(side.run.replayer.plays for side in sides):
        return [_by_message(runner, side) for side in sides]
    texts: dict[str, set[str]] = {}
    for side in sides:
        texts.setdefault(side.side.text, set()).add(side.run.trace.text)
    return [_moved(runner, side) if len(texts[side.side.text]) > 1 else side for side in sides]


def _by_message(runner: Runner, side: Replayed) -> Replayed:
    run, key = side.run, f"message {side.run.key}"
    return replace(side, sent=runner.kept(key, lambda: _onto_message(run, key)))


def _onto_message(run: Run, key: str) -> Run:
    with collector_paused():
        return run.on(run.replayer, on_message(run.trace), key)


def _moved(runner: Runner, side: Replayed) -> Replayed:
    run = side.run
    if len(run.stored) != len(run.pieces) or all(p.text == q.text for p, q in zip(run.stored, run.pieces, strict=True)):
        return side
    key = f"exact {run.key}"
    return replace(side, run=runner.kept(key, lambda: _onto_exact(run, key)))


def _onto_exact(run: Run, key: str) -> Run:
    with collector_paused():
        trace = on_exact_text(run.trace, run.pieces, run.stored)
    return run.on(run.replayer.with_pieces(run.stored), trace, key)
