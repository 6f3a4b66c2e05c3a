"""From a case to its run and back: what the command line and the API compute, they compute here.

=============  =====================================================================================================
run            limits of the settings, tokens where the case stores none, then `parsers.cases.run`; kept by content
stored form    the case as it is saved: with its tokens and what is known of their tokenizer, under the parser that
               ran, so that it replays without the tokenizer and without another choice
exported       a file for other people's tools
json_text      `run_json` in pieces, since the object of a long output is many times its text
=============  =====================================================================================================

Errors that a person made are CaseErrors with the JSON pointer of the place wherever it is known; an output over a
limit is `webapp.security.TooLarge`.
"""

from __future__ import annotations

import gc
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from threading import Lock
from typing import Any

from parsers.cases.expect import accept as accepted
from parsers.cases.export.casefile import casefile, jsonl, sse
from parsers.cases.export.markdown import markdown
from parsers.cases.export.pytest_file import pytest_file
from parsers.cases.io import case_id, dumps, outcome_digest, to_data
from parsers.cases.jsontext import compact
from parsers.cases.model import Case, CaseError, TokenizerRef
from parsers.cases.run import CaseRun, decoded_of, ignores_ids, run_case, run_json, sent_of, settled_case, step_json
from parsers.checks import CHECKS
from parsers.formats.model import Format
from parsers.replay.chunking import apply
from parsers.vocabulary.types import FormatError, Piece, UsageError
from parsers.wire.chunks import Dialect
from webapp.chat import rerender_for
from webapp.engines import ENGINES, choose
from webapp.formats.folder import with_folder_format
from webapp.page.cache import ByteCache
from webapp.page.exports import NAME, TARGETS, Exported, filename, installed_version
from webapp.security import check_limit
from webapp.settings import Settings
from webapp.store import CaseStore, Saved
from webapp.tokenizers import TokenizerAdapter, get_tokenizer

STEP_BYTES = 1_800
PIECE_BYTES = 250
STEPS_AT_ONCE = 200


class Service:
    """Runs cases within the limits of the settings and keeps recent runs in memory.

    `keep` False keeps none: a command runs a case once. Safe to share between threads; a run is never changed.
    """

    def __init__(self, settings: Settings, *, keep: bool = True) -> None:
        self.settings = settings
        self._cache: ByteCache[CaseRun] | None = ByteCache(settings.trace_cache_bytes, weight) if keep else None

    def run(self, case: Case) -> CaseRun:
        """The run of `case`. Raises CaseError for what cannot be replayed, TooLarge over a limit."""
        if self._cache is None:
            return self._run(case)
        return self._cache.get(hashlib.sha256(compact(to_data(case)).encode()).digest(), lambda: self._run(case))

    def _run(self, case: Case) -> CaseRun:
        case = prepared(case)
        pieces = checked_pieces(case, self.settings)
        with placed(""), collector_paused():
            return run_case(case, pieces=pieces, engines=ENGINES, rerender=rerender_for(case))


def checked_pieces(case: Case, settings: Settings) -> tuple[Piece, ...]:
    """The tokens of a case that can be replayed. Raises CaseError for one that cannot, TooLarge over a limit."""
    check_limit(settings, "max_text_bytes", len(case.text().encode()), "The output text")
    with placed(parser_place(case)):
        fmt = choose(case).format
    pieces = pieces_of(case, fmt)
    check_limit(settings, "max_tokens", len(pieces), "The output")
    check_limit(settings, "max_tokens", len(case.input.stream or ()), "The recorded stream")
    _refuse_wrong_names(case, decoded_of(case, pieces, fmt).pieces if case.decode else pieces)
    return pieces


def weight(run: CaseRun) -> int:
    """About how many bytes a run takes in memory."""
    traces = (run.trace, run.whole, *(other.trace for other in run.compared))
    steps = sum(len(trace.steps) for trace in traces)
    return STEP_BYTES * steps + PIECE_BYTES * len(run.pieces) + 4 * len(run.trace.text) + 50_000


def with_defaults(case: Case, settings: Settings) -> Case:
    """The case with what this environment decides spelled out in it: a format of the formats folder that it names, and
    `strict`, where the case does not say."""
    case = with_folder_format(case, settings)
    if not settings.strict or case.context.strict is not None:
        return case
    return case.model_copy(update={"context": case.context.model_copy(update={"strict": True})})


def tokenizer_of(case: Case, fmt: Format) -> TokenizerAdapter:
    """The tokenizer a case names, or the embedded one, with the markers of `fmt`."""
    with placed("/tokenizer/name"):
        return get_tokenizer((case.tokenizer.name if case.tokenizer else None) or "embedded", format=fmt, case=case)


def prepared(case: Case) -> Case:
    """The case with what its tokenizer tells of it: the tokens of recorded ids, and how the vocabulary spells bytes.

    Ids that the tokenizer does not know, or that spell another text, stay what they are: recorded, and not used.
    """
    ids = [one for delta in case.input.deltas or () for one in delta.ids or ()] if ignores_ids(case) else []
    named = case.tokenizer is not None and case.tokenizer.name is not None and case.input.tokens is None
    if case.tokenizer is None or not named or not (ids or case.decode):
        return case
    try:
        adapter = tokenizer_of(case, choose(case).format)
    except (UsageError, FormatError):
        return case  # what is wrong is said where it is needed
    known = case.tokenizer.model_copy(update={"decoder": adapter.decoder})
    case = case.model_copy(update={"tokenizer": known})
    pieces = adapter.pieces_of(ids)
    return case.with_pieces(pieces) if ids and "".join([piece.text for piece in pieces]) == case.text() else case


def pieces_of(case: Case, fmt: Format) -> tuple[Piece, ...]:
    """The tokens of a case: stored, one for each recorded delta, or made by its tokenizer."""
    stored = case.pieces()
    if stored is not None:
        return stored
    if case.input.deltas is not None:
        return tuple([Piece(delta.text) for delta in case.input.deltas])
    return tokenizer_of(case, fmt).pieces(case.text())


def stored_form(run: CaseRun) -> Case:
    """The case of a run as it is saved: it replays by itself, and under the parser that ran."""
    case = run.case
    if case.parser.name == "auto":
        case = case.model_copy(update={"parser": case.parser.model_copy(update={"name": run.selection.name})})
    if case.input.tokens is not None or case.input.deltas is not None or not case.has_raw:
        return case
    adapter = tokenizer_of(case, run.format)
    revision = case.tokenizer.revision if case.tokenizer else None
    known = TokenizerRef(
        name=adapter.name,
        revision=revision,
        fingerprint=adapter.fingerprint,
        vocab=dict(adapter.marker_ids) or None,
        decoder=adapter.decoder,
    )
    return case.model_copy(update={"tokenizer": known}).with_pieces(run.stored)


def save(store: CaseStore, run: CaseRun) -> Saved:
    """Store the case of a run with its outcome. Raises CaseError for a case that can have no id (floats in it)."""
    stored = stored_form(run)
    digest = outcome_digest(run.trace.message, run.trace.finish_reason, run.findings)
    return store.save(case_id(stored), dumps(stored), digest, installed_version())


def exported(
    run: CaseRun, target: str, *, accept: bool = False, permalink: str | None = None, dialect: Dialect = "reasoning"
) -> Exported:
    """The file for `target`; `accept` takes today's result for the right one where the case expects nothing.

    `dialect` is the name reasoning goes by in an SSE transcript.
    Raises UsageError for an unknown target, CaseError at /expect for a pytest file that would test nothing.
    """
    if target not in TARGETS:
        raise UsageError(f"there is no export {target!r}; choose one of: {', '.join(TARGETS)}")
    form, case = TARGETS[target], stored_form(run)
    if target == "pytest" and run.plays:
        words = "a pytest file feeds a raw output to a parser, and here a recorded stream is played back"
        raise UsageError(f"{words}: export it under the parser that is to read the output, or as a case file")
    expect = accepted(run.trace.message) if accept and case.expect is None else None
    if target == "case":
        text = casefile(case, None, expect)
    elif target == "jsonl":
        text = jsonl(case, None, expect)
    elif target == "markdown":
        text = markdown(replace(run, case=case), versions={NAME: installed_version()}, permalink=permalink)
    elif target == "sse":
        text = sse(run, dialect)
    else:
        builtin = None if case.parser.format is not None else run.format.name
        with placed("/expect"):
            ours = case.parser.engine in ENGINES
            text = _pytest_file(run, case, expect=expect, parser=builtin, keep_engine=ours)
    return Exported(filename(case.title or run.format.name, form.suffix), text, form.mimetype)


def _pytest_file(run: CaseRun, case: Case, **how: Any) -> str:
    """The test file of a case. It holds the tokens as they were decoded, and when their text came."""
    due, sent = run.decoded.due if run.decoded else None, sent_of(case)
    told = settled_case(case, run.pieces) if case.decode else case
    return pytest_file(told, told.pieces() if case.decode else run.pieces, due=due, sent=sent, **how)


def json_text(run: CaseRun) -> Iterator[str]:
    """The text of `run_json(run)`, a few hundred steps at a time, ended by a newline."""
    trace = run.trace
    bare = replace(run, trace=replace(trace, steps=[]))
    lists: dict[str, Iterator[Any]] = {
        "deltas": (None if delta is None else delta.to_openai() for delta in trace.deltas),
        "steps": (step_json(trace, step) for step in trace.steps),
    }
    lead = "{"
    for key, value in run_json(bare).items():
        yield f"{lead}{json.dumps(key)}: "
        yield from _list_text(lists[key]) if key in lists else (json.dumps(value, ensure_ascii=False),)
        lead = ", "
    yield "}\n"


def _list_text(items: Iterator[Any]) -> Iterator[str]:
    lead = "["
    while part := list(islice(items, STEPS_AT_ONCE)):
        yield lead + json.dumps(part, ensure_ascii=False)[1:-1]
        lead = ", "
    yield "[]" if lead == "[" else "]"


@contextmanager
def placed(pointer: str) -> Iterator[None]:
    """UsageErrors raised inside say where in the case their cause is; so do errors of the case's own format."""
    try:
        yield
    except CaseError:
        raise
    except UsageError as error:
        raise CaseError(str(error), pointer) from error
    except FormatError as error:
        raise CaseError(error.message, f"/parser/format{error.pointer}") from error


def parser_place(case: Case) -> str:
    """Where in a case an error about its parser belongs."""
    return "/parser/name" if case.parser.engine is None else "/parser/engine"


def _refuse_wrong_names(case: Case, pieces: tuple[Piece, ...]) -> None:
    """Cuts that do not fit the output, and checks that do not exist."""
    for index, chunking in enumerate(case.replay):
        if chunking.by == "cuts":
            with placed(f"/replay/{index}/cuts"):
                apply(chunking, pieces, case.mode())
    for index, name in enumerate(case.checks or ()):
        if name not in CHECKS:
            raise CaseError(f"there is no check named {name!r}; the checks are {', '.join(CHECKS)}", f"/checks/{index}")


_pausing = Lock()
_paused = 0


@contextmanager
def collector_paused() -> Iterator[None]:
    """Garbage collection off while many objects that stay are made: it would look at all of them again and again."""
    global _paused
    with _pausing:
        _paused += 1
        gc.disable()
    try:
        yield
    finally:
        with _pausing:
            _paused -= 1
            if not _paused:
                gc.enable()
