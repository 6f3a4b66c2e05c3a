"""Rows through a shard: counted by signature, added up in any order, whatever stands in a row."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import permutations
from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.engines import Choice, choose
from parsers.cases.engines import builtin as builtin_engine
from parsers.cases.io import load_case
from parsers.cases.run import replayer_of
from parsers.cases.written.corpus_rows import Wanted, corpus_rows
from parsers.cases.written.faults import FAULTS
from parsers.cases.written.generated import KIT, Kit
from parsers.intake.column_rows import guessed_columns
from parsers.replays.chunking import WHOLE
from parsers.sweeps import shard
from parsers.sweeps.first_stage import Means
from parsers.sweeps.report import named, percent, report_json, sentence
from parsers.sweeps.second_stage import MOST_CHARACTERS, studied
from parsers.sweeps.shard import BLANK, Outcome, Plan, decoded, outcome_json, outcome_of, run_shard
from parsers.sweeps.shard import MOST_CHARACTERS as LONGEST
from parsers.sweeps.signature import Signature, signature_of
from parsers.sweeps.summary import EXAMPLES, Place, Skip, Summary, merged
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Context, Delta, Piece, Span, UsageError

CALL = '<tool_call>\n{"name": "f", "arguments": {"n": 1}}\n</tool_call>'
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"n": {}}}}}]
PLAN = Plan({"text": "output", "tools": "tools", "parser": "parser"})


def row(text: Any, **more: Any) -> dict[str, Any]:
    return {"output": text, "tools": TOOLS, "parser": "qwen", **more}


def run(rows: list[Any], plan: Plan = PLAN, at: tuple[int, int] = (0, 0), **how: Any) -> Outcome:
    return run_shard(plan, [*enumerate(rows, 1)], at, **how)


WRONG = CALL.replace('"f"', '"g"')


def test_outputs_are_counted_by_their_signature_with_the_first_rows() -> None:
    rows = [row(CALL), *[row(WRONG.replace("1", str(number))) for number in range(5)], row("Fine.")]
    summary = run(rows).summary
    (signature,) = summary.tallies
    tally = summary.tallies[signature]
    assert (signature.check, signature.about, tally.count) == ("known_tool", "output", 5)
    assert tally.examples == [Place(0, 0, number) for number in (2, 3, 4)]
    assert (summary.outputs, summary.wrong, summary.repeated) == (7, 5, 0)
    assert len(tally.examples) == EXAMPLES


def test_equal_outputs_of_equal_requests_are_replayed_once_and_counted() -> None:
    asked = list[str]()
    outcome = run([row(WRONG), row(WRONG), row(WRONG, tools=[]), row(WRONG)], clock=_counting(asked))
    assert (outcome.summary.outputs, outcome.summary.repeated) == (4, 2)
    assert [tally.count for tally in outcome.summary.tallies.values()] == [3]
    assert len(asked) == 4  # two replays, each with a beginning and an end
    assert [cost.outputs for cost in outcome.costs.values()] == [2]


def _counting(asked: list[str]) -> Any:
    def clock() -> float:
        asked.append("")
        return float(len(asked))

    return clock


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"{", Skip.NOT_JSON),
        (b"\xff", Skip.NOT_UTF8),
        (b"[" * 100_000, Skip.NOT_JSON),
        (b"[1]", Skip.NO_OUTPUT),
        (b'{"output": 7}', Skip.NO_OUTPUT),
        (b'{"tools": []}', Skip.NO_OUTPUT),
        (b'{"output": "x", "tools": [7]}', Skip.NO_CASE),
        (b'{"output": "x", "parser": "nonsense"}', Skip.REFUSED),
        (json.dumps({"output": "x" * (LONGEST + 1)}).encode(), Skip.TOO_LARGE),
        (b'{"schema": 1, "input": {"tokens": []}}', Skip.NO_OUTPUT),
        (b'{"schema": 1, "input": 7}', Skip.NO_OUTPUT),
    ],
    ids=range(11),
)
def test_a_row_that_is_no_output_is_counted_with_its_reason(line: bytes, why: Skip) -> None:
    summary = run([decoded(line), row(CALL)]).summary
    assert {one: skipped.count for one, skipped in summary.skipped.items()} == {why: 1}
    assert summary.skipped[why].examples == [Place(0, 0, 1)]
    assert (summary.rows, summary.outputs) == (2, 1)


def test_any_text_is_read() -> None:
    rows = [row("\x00 \ud800 \ufffd"), row(["a", "b"]), row("<tool_call>" * 500), row("")]
    assert run(rows).summary.outputs == 4


def test_a_blank_line_is_no_row_and_has_a_number() -> None:
    outcome = run([decoded(b" \n"), row(WRONG)])
    assert decoded(b"") is BLANK
    assert (outcome.summary.rows, outcome.found[0][0]) == (1, Place(0, 0, 2))
    assert outcome.summary.lines == {(0, 0): 2}


def test_a_row_may_be_a_case() -> None:
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": [WRONG[:20], WRONG[20:]]}, "tools": TOOLS}
    bare = {key: value for key, value in case.items() if key != "parser"}
    assert [one.count for one in run([case, bare]).summary.tallies.values()] == [2]


def test_outputs_without_a_parser_are_read_by_the_one_that_they_look_like() -> None:
    texts = [CALL, f"Fine. {CALL}", '[TOOL_CALLS][{"name": "f", "arguments": {"n": 1}}]']
    summary = run([row(text, parser="auto") for text in texts]).summary
    assert {name: one.outputs for name, one in summary.readings.items()} == {"qwen": 2, "mistral": 1}


def test_a_request_that_is_no_longer_kept_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row(WRONG, tools=tools) for tools in (TOOLS, [], TOOLS)] + [row(f"Fine. {WRONG}")]
    kept = run(rows).summary.to_json()
    monkeypatch.setattr(shard, "MOST_REQUESTS", 1)
    assert run(rows).summary.to_json() == kept


def test_a_plan_may_name_the_parser_and_its_policies() -> None:
    plan = replace(PLAN, parser={"name": "qwen"}, policy={"unknown_tool": "drop"})
    summary = run([row(WRONG, parser="mistral")], plan).summary
    assert [*summary.readings] == ["qwen"]
    assert [one.where for one in summary.tallies] == ["dropped"]


def test_a_plan_may_name_the_contract() -> None:
    outputs = [row(f"It rains. {CALL} So it does.")]
    assert run(outputs).summary.wrong == 0
    strict = run(outputs, replace(PLAN, contract="strict")).summary
    assert strict.outputs == 1


def test_a_row_that_was_lost_is_not_read() -> None:
    said = list[int]()
    summary = run([row(CALL), row(WRONG)], lost={2}, say=said.append).summary
    assert (said, summary.outputs, summary.skipped[Skip.LOST].count) == ([1, 2], 1, 1)


@cache
def corpus() -> tuple[dict[str, Any], ...]:
    formats = ("qwen", "glm45_moe", "mistral")
    return tuple(corpus_rows(Wanted(formats, seed=2, malformed=0.6, kit=Kit(KIT.tools, 8)), 0, 90))


def parts() -> Iterator[Summary]:
    plan = Plan(guessed_columns(corpus(), {}))
    for number in range(3):
        yield run([*corpus()[30 * number : 30 * number + 30]], plan, (0, number)).summary


@pytest.mark.replays
def test_every_planted_fault_is_a_signature_of_its_own_and_nothing_else_is_found() -> None:
    plan = Plan(guessed_columns(corpus(), {}))
    outcome = run([*corpus()], plan)
    planted = {place: one["planted"] for place, one in enumerate(corpus(), 1) if "planted" in one}
    found = {place.row: ids for place, ids in outcome.found}
    assert found.keys() == planted.keys()
    pairs = {(planted[number], ids) for number, ids in found.items()}
    assert len(pairs) == len(outcome.summary.tallies) == len(set(planted.values())) > len(FAULTS) // 2


@pytest.mark.replays
def test_summaries_add_up_in_any_order_and_travel_as_json() -> None:
    summaries = [*parts()]
    told = [json.dumps(summary.to_json()) for summary in summaries]
    every = {json.dumps(merged(map(read, order)).to_json()) for order in permutations(told)}
    assert len(every) == 1
    assert merged(map(read, told)).wrong == sum([summary.wrong for summary in summaries])


def read(text: str) -> Summary:
    return Summary.from_json(json.loads(text))


def test_an_outcome_travels_as_json() -> None:
    outcome = run([row(WRONG)], clock=_counting([]))
    told = json.loads(json.dumps(outcome_json(outcome)))
    assert json.loads(json.dumps(outcome_json(outcome_of(told)))) == told
    assert outcome_of(told).found == outcome.found


def test_a_report_names_rows_by_file_and_line() -> None:
    summary = merged(parts())
    report = report_json(summary, ["corpus.jsonl"], {})
    places = [place for tally in summary.tallies.values() for place in tally.examples]
    assert {named(place, summary, ["corpus.jsonl"]) for place in places} == {
        name for one in report["signatures"] for name in one["examples"]
    }
    assert named(Place(0, 2, 4), summary, ["corpus.jsonl"]) == "corpus.jsonl:64"
    assert [one["count"] for one in report["signatures"]] == sorted(
        [one["count"] for one in report["signatures"]], reverse=True
    )
    assert sum(report["blamed"].values()) == sum([one["count"] for one in report["signatures"]])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "No output was found."),
        ([row(CALL)], "Nothing is wrong with any of 1 output."),
        ([row(CALL), row(WRONG)], "50.0 % of 2 outputs has something wrong, all of one signature: the tool is not"),
        ([row(WRONG), row(CALL.replace("1}", "1,}"))], "in 2 signatures"),
    ],
)
def test_the_report_begins_with_one_sentence(rows: list[Any], said: str) -> None:
    assert said in sentence(run(rows).summary)


@pytest.mark.parametrize(("part", "said"), [(0, "0.0 %"), (1, "0.1 %"), (500, "50.0 %")])
def test_a_share_that_is_not_nothing_is_not_said_to_be(part: int, said: str) -> None:
    assert percent(part, 1_000) == said
    assert percent(1, 1_000_000) == "0.0001 %"
    assert percent(0, 0) == "0.0 %"


class Faulty:
    """The built-in parser of qwen, which fails where it is told to."""

    def __init__(self, parser: Any, fails: str) -> None:
        self._parser, self._fails, self._fed = parser, fails, 0

    def __getattr__(self, name: str) -> Any:
        if name == "read_open_text":  # it reads delta by delta
            raise AttributeError(name)
        return getattr(self._parser, name)

    def begin(self, context: Context, **how: Any) -> None:
        """Begin."""
        self._fed = 0
        self._parser.transitions = self.__dict__.get("transitions")
        self._parser.begin(context, **how)

    def feed(self, delta: Delta) -> Any:
        """Read a delta, which is too much."""
        self._fed += 1
        if self._fails == "raise":
            raise IndexError("list index out of range")
        if self._fails == "refuse":
            raise UsageError("not this one")
        return [event for event in self._parser.feed(delta) if event.owner != "content"]


def engine(fails: str) -> Mapping[str, Any]:
    def chosen(case: Case, evidence: Any) -> Choice:
        choice = builtin_engine(case, evidence)
        return replace(choice, make=lambda: Faulty(choice.make(), fails))

    return {"builtin": chosen}


def test_a_parser_that_raises_is_a_signature_by_its_place() -> None:
    found = [*run([row("It rains."), row(CALL)], means=Means(engine("raise"))).summary.tallies]
    assert [(one.check, one.about) for one in found] == [("parser_raised", "parser")]
    assert found[0].state.startswith("IndexError: ")


def test_an_output_that_a_parser_refuses_is_skipped() -> None:
    assert [*run([row(CALL)], means=Means(engine("refuse"))).summary.skipped] == [Skip.REFUSED]


def test_text_that_a_parser_loses_is_its_own_fault_in_the_state_it_was_in() -> None:
    found = [*run([row(f"It rains. {CALL}")], means=Means(engine("lose"))).summary.tallies]
    assert found
    assert {(one.about, one.parser) for one in found} == {("parser", "qwen")}


@pytest.mark.parametrize(
    ("text", "part", "marker"),
    [
        (CALL, "</tool_call>", "</tool_call>"),
        (CALL, "n", "<tool_call>"),
        ("It rains.", "rains", ""),
        (CALL, None, ""),
    ],
)
def test_a_fault_of_a_parser_belongs_to_its_state_and_the_marker_beside(
    text: str, part: str | None, marker: str
) -> None:
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}})
    replayer = replayer_of(case, choose(case), (Piece(text),))
    trace = replayer.trace(WHOLE)
    finding = Finding("every_character_accounted", "error", "parser", "Lost.")
    if part is not None:
        finding.step, finding.span = 1, Span(text.index(part), text.index(part) + len(part))
    signature = signature_of(finding, trace, replayer.terminals)
    assert (signature.parser, signature.marker) == ("qwen", marker)
    assert signature.state == ("" if part is None else trace.steps[0].state)
    assert bool(signature.where) == (part is not None)


def test_the_smallest_output_of_a_signature_is_made_smaller_and_redacted() -> None:
    ((signature, tally),) = run([row(f"Secret words. {WRONG}")]).summary.tallies.items()
    assert tally.smallest is not None
    assert tally.smallest.case is not None
    case = load_case(tally.smallest.case)
    shown, hidden = studied(signature, case, words=True), studied(signature, case)
    assert shown.case is not None
    assert hidden.case is not None
    assert (shown.redacted, hidden.redacted) == (False, True)
    assert "g" in shown.headline
    assert hidden.headline == ""
    assert "Secret" not in json.dumps(hidden.case)
    again = run([dict(hidden.case)]).summary.tallies
    assert [one.check for one in again] == [signature.check]


def test_an_output_that_is_too_long_is_not_searched() -> None:
    signature = Signature("known_tool", "warning", "output", "UNKNOWN_TOOL")
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "x" * (MOST_CHARACTERS + 1)}})
    assert studied(signature, case).case is None
    assert studied(signature, case, words=True).case is not None
