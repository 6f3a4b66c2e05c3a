"""The checks over every case file, with the case's own parser: they blame no parser, and of outputs they find what the
case says. A case says so with a flag for each check, `finds:known_tool`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from parsers.cases.case import Case
from parsers.cases.run import replayer_of
from parsers.checks import CHECKS, run_checks
from parsers.checks.subject import subject_of
from parsers.compare.beside import compare_chunking
from parsers.formats.model import builtin_formats
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.recorded import BlackBox
from parsers.replays.replayer import Replayer
from parsers.search.found import Verdict
from parsers.search.verdict import verdict
from parsers.vocabulary.trace import Finding, Trace
from parsers.vocabulary.types import Context, Delta, MessageDelta
from parsers.wire.assemble import Assembler
from tests.amount import every
from tests.corpus import CORPORA, case_named, case_names
from webapp.engines import choose
from webapp.tokenizers import get_tokenizer

FINDS = "finds:"
# Failures of a released library that these cases show are findings about the parser, and meant to be.
REAL_DEFECTS = {"response_template": {"parser_raised"}}
# In recorded streams it is the server that is to blame, and the flags say for what.
SERVERS = "recorded"
# What the wrapper and transformers do by rules of their own, a black box cannot explain.
OTHER_ENGINES = ("fallback", "response_template", SERVERS)

# Cases whose output another format than their own fits best.
ODDLY_CHOSEN = {
    "passthrough/markers-are-text",
    "passthrough/reasoning-then-call",
    "qwen3/glm-block",
    "qwen_coder/glm-block",
    "qwen_coder/glm-block-alone",
}

pytestmark = pytest.mark.replays


def findings(case: Case, box: Callable[[Replayer], Replayer]) -> list[Finding]:
    return examined(case, box)[0]


def examined(
    case: Case, box: Callable[[Replayer], Replayer] = lambda replayer: replayer
) -> tuple[list[Finding], Trace, Replayer]:
    choice = choose(case)
    pieces = case.pieces() or get_tokenizer("embedded", format=choice.format).pieces(case.text())
    replayer = box(replayer_of(case, choice, pieces))
    trace = replayer.trace(replayer.traced)
    whole = trace if replayer.plays else replayer.trace(WHOLE)
    chunkings = () if replayer.plays else (Chunking(by="char"), Chunking(by="token", size=3))
    others = [compare_chunking(replayer, chunking, trace) for chunking in chunkings]
    return run_checks(subject_of(replayer, trace, whole, others)).findings, trace, replayer


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_checks_find_in_the_cases_what_the_cases_say_and_verdicts_blame_no_parser(corpus: str) -> None:
    wrong = []
    names = case_names(corpus)
    flagged = [name for name in names if any(flag.startswith(FINDS) for flag in case_named(name).flags)]
    for name in dict.fromkeys((*flagged, *every(18, names, start=len(corpus)))):
        case = case_named(name)
        found, trace, replayer = examined(case)
        meant = set(CHECKS) if corpus == SERVERS else REAL_DEFECTS.get(corpus, ())
        blamed = [f.message for f in found if f.about == "parser" and f.check not in meant]
        told = {FINDS + finding.check for finding in found if finding.severity != "info"}
        said = {flag for flag in case.flags if flag.startswith(FINDS)}
        if blamed or told != said:
            wrong.append((name, blamed, told ^ said))
        if case.parser.name in builtin_formats() and not case.parser.engine:
            judged = verdict(found, trace, replayer)
            unknown = judged.kind == "prompt_state_unknown" and "reasoning_open" in case.context.model_fields_set
            if (judged.kind == "wrong_parser") != (name in ODDLY_CHOSEN) or blames_parser(judged) or unknown:
                wrong.append((name, [judged.headline], set()))
    assert not wrong


def blames_parser(judged: Verdict) -> bool:
    return judged.about == "parser" and judged.severity == "error"


class Shut:
    """A parser of which only the deltas are seen."""

    def __init__(self, replayer: Replayer) -> None:
        self.replayer = replayer
        self.parser = replayer.make()
        self.assembler = Assembler()

    def begin(self, context: Context) -> None:
        self.parser.transitions = None
        self.parser.begin(context, mode=self.replayer.mode, markers=self.replayer.markers)

    def feed(self, delta: Delta) -> MessageDelta | None:
        return self.assembler.add(self.parser.feed(delta))

    def finish(self, reason: str | None) -> MessageDelta | None:
        return self.assembler.add(self.parser.finish(reason))


def shut(replayer: Replayer) -> Replayer:
    return replace(replayer, black_box=True, make=lambda: BlackBox("shut", Shut(replayer)))


@pytest.mark.parametrize("corpus", [corpus for corpus in CORPORA if corpus not in OTHER_ENGINES])
def test_behind_a_black_box_the_right_parsers_are_blamed_for_nothing_either(corpus: str) -> None:
    wrong = []
    for name in every(40, case_names(corpus), start=len(corpus)):
        found = findings(case_named(name), shut)
        wrong += [(name, finding.check, finding.message) for finding in found if finding.about == "parser"]
    assert not wrong


def by_ids(replayer: Replayer) -> Replayer:
    """The same output with the markers of its format as tokens that a server recorded."""
    adapter = get_tokenizer("embedded", format=replayer.format)
    ids = [piece.token_id for piece in adapter.pieces(replayer.text) if piece.token_id is not None]
    pieces = tuple(adapter.pieces_of(ids, recorded=True))
    return replace(replayer, pieces=pieces, mode="ids", markers=adapter.marker_ids)


@pytest.mark.parametrize("corpus", [corpus for corpus in CORPORA if corpus not in OTHER_ENGINES])
def test_no_parser_is_blamed_where_markers_are_read_by_their_ids(corpus: str) -> None:
    wrong = []
    names = case_names(corpus)
    for name in every(8, [*[name for name in names if "marker" in name], *names[::9]], start=len(corpus)):
        found = findings(case_named(name), by_ids)
        wrong += [(name, finding.check, finding.message) for finding in found if finding.about == "parser"]
    assert not wrong


def test_flags_of_findings_name_checks() -> None:
    flags = {flag for name in case_names() for flag in case_named(name).flags}
    assert {flag.removeprefix(FINDS) for flag in flags if flag.startswith(FINDS)} <= set(CHECKS)
