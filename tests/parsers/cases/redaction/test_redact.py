"""A redacted case shows the same findings, and none of its words is left but those it cannot do without."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.engines import choose
from parsers.cases.find import CaseSearch
from parsers.cases.io import load_case, to_data
from parsers.cases.redaction.neutral_words import KEYWORDS, pattern_of
from parsers.cases.redaction.redact import Part, Redacted, Redaction, Why, known_markers, literals_of, shown_by
from parsers.cases.run import run_case
from parsers.vocabulary.types import UsageError
from tests.amount import every
from tests.corpus import case_named, case_names
from tests.growth import assert_linear, seconds

SIZES = (1_000, 2_000, 4_000)
NAMES = case_names(without=("response_template",))
WORD = re.compile(r"[^\W\d_]{4,}")
STRUCTURE = {"schema", "parser", "replay", "tokenizer", "contract", "compare", "checks", "verdict", "decode"}


def stored(case: Case) -> Case:
    run = run_case(case)
    return run.case.with_pieces(run.stored)


def redacted(case: Case, **more: Any) -> Redacted:
    redaction = Redaction(case, lambda one: shown_by(run_case(one)), [choose(case).format], **more)
    for _ in redaction.run():
        pass
    return redaction.result()


def words_of(value: Any) -> set[str]:
    """The words in what somebody wrote: keys of the case's own structure are none."""
    if isinstance(value, str):
        return {word.lower() for word in WORD.findall(value)}
    if isinstance(value, dict):
        return {word for item in value.values() for word in words_of(item)}
    return {word for item in value for word in words_of(item)} if isinstance(value, list | tuple) else set()


def written(case: Case) -> set[str]:
    data = to_data(case)
    texts = [case.text(), json.dumps(data.get("expect") or {}, ensure_ascii=False), *case.notes, case.title or ""]
    return words_of(texts) | {tool.name.lower() for tool in case.to_context().tools}


def allowed(case: Case) -> set[str]:
    """The words of markers, of formats and of notations, and the keys of what is expected."""
    fmt = choose(case).format
    markers = [*literals_of(fmt), *known_markers(), *(case.markers() or ()), *case.parser.markers]
    kept = [match[0] for match in pattern_of(markers).finditer(case.text()) if match["word"] is None]
    keys = {
        "reasoning",
        "content",
        "tool_calls",
        "calls",
        "tool",
        "finish_reason",
        "finish",
        "reason",
        "events",
        "kind",
    }
    return words_of([*markers, *kept]) | {word.lower() for word in KEYWORDS} | keys | {"text", "stop", "length"}


@pytest.mark.replays
@pytest.mark.parametrize("name", every(120, NAMES, 5))
def test_no_word_is_left_and_the_same_findings_stay(name: str) -> None:
    case = stored(case_named(name))
    found = redacted(case)
    stays = {one.what for one in found.stays}
    assert found.same
    assert {one.why for one in found.stays} <= {Why.NEEDED, Why.NO_WORD, Why.PART}
    assert written(case) & written(found.case) <= allowed(case) | stays | {"raw"}
    assert shown_by(run_case(found.case)) == shown_by(run_case(case))


FAILING: dict[str, dict[str, Any]] = {
    "unknown tool": {"parser": {"name": "qwen"}, "tools": [{"name": "get_weather"}], "input": {
        "text": '<tool_call>\n{"name": "get_wetter", "arguments": {"city": "Oslo"}}\n</tool_call>'}},
    "cut off": {"parser": {"name": "qwen"}, "input": {
        "text": 'Look here: <tool_call>\n{"name": "lookup", "arguments": {"city": "Osl'}},
    "another format": {"parser": {"name": "qwen"}, "tools": [{"name": "lookup"}], "input": {
        "text": '[TOOL_CALLS][{"name": "lookup", "arguments": {"city": "Oslo"}}]'}},
    "not as expected": {"parser": {"name": "qwen"}, "expect": {"content": "Other"}, "input": {"text": "A text."}},
}  # fmt: skip


@pytest.mark.parametrize("name", FAILING)
@pytest.mark.replays
def test_a_search_comes_to_the_same_verdict(name: str) -> None:
    case = stored(load_case({"schema": 1, **FAILING[name]}))
    found = redacted(case)
    before, after = (_searched(one) for one in (case, found.case))
    assert before == after
    assert found.same


def _searched(case: Case) -> Any:
    search = CaseSearch(case, max_replays=60)
    for _ in search.run():
        pass
    found = search.result().found
    leads = [found.findings[number] for number in found.verdict.findings[:1]]
    return found.verdict.kind, found.verdict.severity, [(one.check, one.topic, one.span, one.step) for one in leads]


CASE = load_case({"schema": 1, "parser": {"name": "qwen"}, "context": {"model": "acme-7b"},
                  "input": {"tokens": [[1, "alpha "], [2, "beta "], [3, "gamma "], [4, "delta"]]}})  # fmt: skip


def needing(*words: str, ids: bool = False, model: bool = False) -> Any:
    """A judge that says something else of a case as soon as one of these is gone."""

    def judge(case: Case) -> object:
        tokens = case.input.tokens or ()
        kept = [word in case.text() for word in words], ids and tokens[0].id, model and case.context.model
        return repr(kept)

    return judge


@pytest.mark.parametrize(
    ("judge", "stays"),
    [
        (needing(), []),
        (needing("beta"), ["beta"]),
        (needing("alpha", "delta"), ["alpha", "delta"]),
        (needing("gamma", ids=True, model=True), ["gamma", Part.IDS.value, Part.MODEL.value]),
    ],
)
def test_only_what_the_finding_needs_stays(judge: Any, stays: list[str]) -> None:
    redaction = Redaction(CASE, judge)
    runs = [*redaction.run()]
    found = redaction.result()
    assert [(one.what, one.why) for one in found.stays] == [(word, Why.NEEDED) for word in stays]
    assert found.same
    assert found.runs == redaction.runs <= 4 + 18 * max(len(stays), 1)
    assert runs == sorted(runs)
    assert found.replaced == 6 - len([word for word in stays if " " not in word])


VALUES = [
    ("^INV[0-9]{6}$", "INV202401", ["inv", "inv…"]),  # that of the pattern, and the beginning of the value
    ("^[0-9]{3}EUR$", "129EUR", ["eur", "…eur"]),
    ("^[0-9a-f]{8}-[0-9a-f]{4}$", "3f9b01ce-a7d2", ["9a"]),  # of the pattern
    ("^[A-Z]{2}[0-9]{8}$", "DE89370400", []),
    ("^(INV|RE)-[0-9]+$", "INV-2024", []),
]


@pytest.mark.parametrize(("pattern", "value", "stays"), VALUES)
@pytest.mark.replays
def test_of_a_value_no_more_stays_than_the_pattern_of_its_schema_asks_for(
    pattern: str, value: str, stays: list[str]
) -> None:
    schema = {"type": "object", "properties": {"ref": {"type": "string", "pattern": pattern}}}
    call = json.dumps({"name": "lookup", "arguments": {"ref": value}})
    case = stored(load_case({
        "schema": 1, "parser": {"name": "qwen"}, "tools": [{"name": "lookup", "parameters": schema}],
        "input": {"text": f"<tool_call>\n{call}\n</tool_call>"},
    }))  # fmt: skip
    found = redacted(case)
    assert (found.same, value in found.case.text()) == (True, False)
    assert [one.what for one in found.stays] == stays
    assert {one.why for one in found.stays} <= {Why.NEEDED, Why.PART}
    assert shown_by(run_case(found.case)) == shown_by(run_case(case))


@pytest.mark.parametrize(("needed", "kept"), [("ph", "alph…"), ("ta", "…ta"), ("lt", "delt…")])
def test_the_beginning_or_the_end_of_a_word_may_be_enough(needed: str, kept: str) -> None:
    redaction = Redaction(CASE, lambda case: needed in case.text())
    assert [*redaction.run()]
    found = redaction.result()
    assert [(one.what, one.why) for one in found.stays] == [(kept, Why.PART)]
    assert found.replaced == 6


def test_what_there_is_no_time_to_narrow_stays_whole() -> None:
    free = Redaction(CASE, needing("beta"))
    assert [*free.run()]
    spent = Redaction(CASE, needing("beta"), most_runs=free.runs - 5)  # before any part of it is tried
    assert [*spent.run()]
    assert [(one.what, one.why) for one in spent.result().stays] == [("beta", Why.NEEDED)]


def test_what_nobody_tried_stays_and_is_named() -> None:
    redaction = Redaction(CASE, needing("delta"), most_runs=6)
    assert [*redaction.run()]
    assert Why.UNTRIED in {one.why for one in redaction.result().stays}


def test_before_anything_was_tried_all_stays() -> None:
    found = Redaction(CASE, needing()).result()
    assert (found.same, found.case.text(), {one.why for one in found.stays}) == (False, CASE.text(), {Why.UNTRIED})


def test_where_chance_decides_all_is_replaced_and_it_says_so() -> None:
    answers = iter(range(100))
    redaction = Redaction(CASE, lambda case: next(answers))
    assert [*redaction.run()]
    found = redaction.result()
    assert (found.same, found.stays) == (False, ())
    assert "alpha" not in found.case.text()


def test_a_candidate_that_cannot_be_run_is_another_case() -> None:
    def judge(case: Case) -> object:
        if "beta" not in case.text():
            raise UsageError("no")
        return 0

    redaction = Redaction(CASE, judge)
    assert [*redaction.run()]
    assert [one.what for one in redaction.result().stays] == ["beta"]


@pytest.mark.parametrize(("needed", "stays"), [("", []), ("Acme", ["acme"]), ("jones", ["jones"]), ("4711", ["4711"])])
def test_what_a_stream_keeps_is_named(needed: str, stays: list[str]) -> None:
    choice = {"index": 0, "delta": {"content": "Hello"}, "finish_reason": "stop", "stop_reason": "Acme"}
    stream = [{"choices": [choice], "patient_jones": 4711}]
    case = load_case({"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": stream}})
    redaction = Redaction(case, lambda one: needed in json.dumps(to_data(one)))
    assert [*redaction.run()]
    found = redaction.result()
    written = json.dumps(to_data(found.case)).lower()
    assert [one.what for one in found.stays] == stays
    assert [word for word in ("acme", "patient", "jones", "4711") if word in written] == stays


@pytest.mark.linear
def test_what_is_known_when_it_stops_early_takes_linear_time() -> None:
    def stopped(size: int) -> Redaction:
        text = " ".join([f"word{number:05}" for number in range(size)])
        return Redaction(load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}}), needing())

    redactions = {size: stopped(size) for size in SIZES}
    assert_linear(lambda size: seconds(redactions[size].result), SIZES)
