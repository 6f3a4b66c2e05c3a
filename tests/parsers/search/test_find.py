"""The search finds what broken parsers do, makes it small, and says nothing of parsers that are right."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from parsers.cases.case import Case, ParserRef
from parsers.cases.engines import ENGINES, Engine, builtin
from parsers.cases.find import CaseFound, CaseSearch, find_json
from parsers.cases.io import dumps, load_case, loads, to_data
from parsers.cases.run import run_case
from parsers.checks import CHECKS
from parsers.machine.machine import Machine
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.recorded import BlackBox
from parsers.search.found import Found
from parsers.search.outcomes import UNKNOWN
from parsers.selection.registry import get_format, policies
from parsers.vocabulary.events import CallArguments, CallEnd, ContentText
from parsers.vocabulary.types import Context, Delta, MessageDelta, ToolCallDelta
from tests.amount import every
from tests.corpus import case_named, case_names
from tests.parsers.search.faulty import (
    LEAKY,
    Faulty,
    case_of,
    characters_of,
    drops_text_after_call,
    engine,
    engines,
    fails_on_lone_quote,
    flushes_angle,
    loses_brace,
    loses_second_call,
)

PROSE = "I will look at the weather in a few cities: 3 < 4.\n\n"
CALLS = (
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris", "days": [1, 2]}}\n</tool_call>\n'
    '<tool_call>\n{"name": "get_time", "arguments": {"zone": "Europe/Paris"}}\n</tool_call>\n'
)
QWEN = PROSE + CALLS + "That is all <b>I</b> need.\nThank you."
LIST = '[get_weather(city="Paris", days=[1, 2, 3]), get_time(zone="Europe/Paris")]'
ONE_CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'


QUICK = tuple(check.name for check in CHECKS.values() if not any(need.is_metamorphic for need in check.needs))


def quick(text: str, name: str = "qwen", **more: Any) -> Case:
    """A case for whose checks no output has to be changed."""
    return case_of(text, name, checks=QUICK, **more)


def search(case: Case, given: Mapping[str, Engine], **more: Any) -> CaseFound:
    made = CaseSearch(case, engines=given, **more)
    for _ in made.run():
        pass
    return made.result()


FAULTS = [
    (loses_second_call, "pythonic", LIST, "chunking", 20),
    (loses_second_call, "qwen", QWEN, "chunking", 110),
    (drops_text_after_call, "qwen", QWEN, "chunking", 60),
    (flushes_angle, "qwen", QWEN, "chunking", 60),
    (loses_brace, "qwen", QWEN, "chunking", 60),
    (fails_on_lone_quote, "qwen", QWEN, "parser_raised", 10),
    (None, "qwen", QWEN, "chunking", 110),
]


@pytest.mark.replays
@pytest.mark.parametrize(("change", "name", "text", "check", "size"), FAULTS)
def test_a_broken_parser_is_found_out_in_a_small_case(change: Any, name: str, text: str, check: str, size: int) -> None:
    given = LEAKY if change is None else engines(change)
    result = search(quick(text, name), given)
    found = result.found
    assert check in [finding.check for finding in found.findings if finding.severity == "error"]
    assert found.complete
    assert found.minimized is not None
    assert found.minimized.check == check
    assert len(found.minimized.text) < size
    assert len(found.minimized.chunking.cuts or ()) <= 2
    assert result.minimized is not None
    again = loads(dumps(result.minimized))
    shown = run_case(again, pieces=characters_of(again.text()), engines=given)
    assert check in [finding.check for finding in shown.findings if finding.severity == "error"]


@pytest.mark.replays
def test_the_same_search_finds_the_same() -> None:
    first, second = (find_json(search(quick(QWEN), engines(loses_brace))) for _ in range(2))
    assert first == second


@pytest.mark.replays
def test_outcomes_have_their_smallest_chunking_and_cuts_their_outcome() -> None:
    text = ONE_CALL + "!"
    found = search(quick(text), engines(loses_brace)).found
    zero, *others = found.outcomes
    assert [one.number for one in found.outcomes] == list(range(len(found.outcomes)))
    assert zero.grade is None
    assert {one.grade for one in others} == {"calls"}
    assert all(len(one.smallest.cuts or ()) <= 2 for one in found.outcomes)
    assert len(found.cuts) == len(text) - 1
    whole = next(one.number for one in found.outcomes if one.smallest == WHOLE)
    assert found.cuts[0] == whole
    assert found.cuts[text.rindex("}") - 1] != whole
    assert sum(sum(group.counts.values()) for group in found.groups) == sum(one.count for one in found.outcomes)
    assert sum(one.honest for one in found.outcomes) <= sum(one.count for one in found.outcomes)


@pytest.mark.replays
def test_a_failing_parser_is_an_outcome_of_its_own() -> None:
    found = search(quick('x "quoted" y'), engines(fails_on_lone_quote)).found
    raised = [one for one in found.outcomes if one.raised]
    assert len(raised) == 1
    assert str(raised[0].raised).startswith("IndexError: string index out of range")
    assert ', on the delta `"`, with IndexError: string index out of range' in found.verdict.headline
    assert "chunking" in found.holding


@pytest.mark.parametrize("steps", [0, 1, 3, 12, 30])
@pytest.mark.replays
def test_a_search_can_be_stopped_anywhere(steps: int) -> None:
    made = CaseSearch(case_of(ONE_CALL + "\n" + ONE_CALL), engines=engines(loses_second_call))
    seen = list(islice(made.run(), steps))
    result = made.result()
    assert not result.found.complete
    assert [one.stage for one in seen] == sorted([one.stage for one in seen], key=STAGES.index)
    assert result.found.replays >= 2
    assert len(result.found.cuts) == 2 * len(ONE_CALL)
    assert (UNKNOWN in result.found.cuts) or steps == 30
    assert find_json(result)["complete"] is False


STAGES = ("replay", "sweep", "variants", "shrink", "done")


@pytest.mark.replays
def test_progress_says_how_far_it_is() -> None:
    seen = list(CaseSearch(case_of(ONE_CALL), engines=engines(loses_brace)).run())
    assert {one.stage for one in seen} == set(STAGES)
    assert all(one.done <= one.total for one in seen)
    assert [one.replays for one in seen] == sorted(one.replays for one in seen)
    assert seen[-1].stage == "done"
    assert seen[-1].outcomes > 1


@pytest.mark.replays
def test_a_right_parser_has_one_outcome_and_no_small_case() -> None:
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": [QWEN]}})
    result = search(case, {"builtin": builtin})
    found = result.found
    assert [one.number for one in found.outcomes] == [0]
    assert set(found.cuts) == {0}
    assert [finding for finding in found.findings if finding.about == "parser"] == []
    assert result.minimized is None
    assert find_json(result)["minimized"] is None
    assert found.verdict.kind == "all_hold"


@pytest.mark.replays
def test_a_second_code_path_for_whole_outputs_is_told_from_chunkings() -> None:
    def run(case: Case, evidence: Any) -> Any:
        plain = case.model_copy(update={"parser": ParserRef(name=case.parser.name)})
        return replace(builtin(plain, evidence), one_shot=lambda: Faulty(case.parser.name, loses_second_call))

    result = search(quick(QWEN), {"faulty": run})
    assert [f.check for f in result.found.findings if f.severity == "error"] == ["whole_equals_streamed"]
    assert result.found.minimized is not None
    assert result.minimized is not None
    assert len(result.found.minimized.text) < 110
    shown = run_case(result.minimized, engines={"faulty": run})
    assert "whole_equals_streamed" in [f.check for f in shown.findings]


@pytest.mark.replays
def test_a_stream_that_always_differs_from_the_path_for_whole_outputs_shows_it_beside_another_stream() -> None:
    def sends_no_arguments(events: list[Any], _: str) -> list[Any]:
        return [event for event in events if not isinstance(event, CallArguments)]

    def run(case: Case, evidence: Any) -> Any:
        plain = builtin(case.model_copy(update={"parser": ParserRef(name=case.parser.name)}), evidence)
        return replace(plain, make=lambda: Faulty(case.parser.name, sends_no_arguments), one_shot=plain.make)

    result = search(quick(ONE_CALL), {"faulty": run})
    told = [one for one in result.found.findings if one.check in ("chunking", "whole_equals_streamed")]
    assert [one.check for one in told] == ["whole_equals_streamed"], "no cut makes a difference, and it is told once"
    assert told[0].message.startswith("Streamed, beside the code path for whole outputs, the message differs in ")
    assert result.minimized is not None
    assert "<tool_call>" in result.minimized.text()


@pytest.mark.parametrize(
    ("lost", "kind", "headline"),
    [
        (2, "text_lost", "The parser loses text: "),
        (
            1,
            "chunk_boundary",
            "Both code paths of the parser go wrong: the second call (`f`) is lost, streamed, in whatever "
            "deltas, and read whole.",
        ),
    ],
)
def test_what_both_code_paths_lose_is_no_disagreement_of_them(lost: int, kind: str, headline: str) -> None:
    def loses(events: list[Any], _: str) -> list[Any]:
        return [one for one in events if (getattr(one, "call", None) or 0) < 2 - lost or not hasattr(one, "call")]

    def loses_text_too(events: list[Any], text: str) -> list[Any]:
        return [one for one in loses(events, text) if not isinstance(one, ContentText)]

    def run(case: Case, evidence: Any) -> Any:
        name = case.parser.name
        plain = builtin(case.model_copy(update={"parser": ParserRef(name=name)}), evidence)
        return replace(plain, make=lambda: Faulty(name, loses), one_shot=lambda: Faulty(name, loses_text_too))

    found = search(quick("Both.\n" + 2 * ONE_CALL), {"faulty": run}).found
    assert (found.verdict.kind, found.verdict.headline[: len(headline)]) == (kind, headline)


@pytest.mark.replays
def test_only_the_checks_that_a_case_names_are_run() -> None:
    found = search(case_of(ONE_CALL, checks=["deltas_build_message"]), engines(loses_brace)).found
    assert found.variants == {}
    assert [*found.holding, *(name for name, _ in found.skipped)] == ["deltas_build_message"]


@pytest.mark.replays
def test_loose_rules_of_comparison_are_the_case_s_own() -> None:
    def blanks(events: list[Any], text: str) -> list[Any]:
        """A delta that is one blank is lost."""
        return [] if text == " " else events

    exact = search(quick("one two three"), engines(blanks)).found
    assert "whitespace" in {one.grade for one in exact.outcomes}
    soft = search(quick("one  two  three", compare={"whitespace": "soft"}), engines(blanks)).found
    assert len(soft.outcomes) < len(exact.outcomes) + 1


@pytest.mark.replays
def test_a_small_case_without_a_title_is_called_by_parser_and_check() -> None:
    small = search(case_of(ONE_CALL + "\n."), engines(loses_brace)).minimized
    assert small is not None
    assert small.title == "faulty qwen chunking (smallest failing form)"


def test_the_small_case_of_one_that_can_have_no_id_names_no_parent() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string", "maxLength": 2**63 - 1}}}
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": schema}}
    case = load_case({**to_data(case_of(ONE_CALL + "\n.")), "tools": [tool]})
    small = search(case, engines(loses_brace)).minimized
    assert small is not None
    assert small.parent is None


@pytest.mark.replays
def test_the_small_case_names_its_parent_and_what_fails() -> None:
    tools = [{"name": name} for name in ("get_weather", "get_time", "other")]
    case = quick(QWEN, tools=tools, title="Two calls", source={"kind": "report", "link": "https://example.org/1"})
    small = search(case, engines(loses_brace)).minimized
    assert small is not None
    assert small.title == "Two calls (smallest failing form)"
    assert small.parent is not None
    assert small.source == case.source
    assert small.notes[0].startswith("chunking: With the chunking")
    assert f"of {len(QWEN)} characters" in small.notes[1]
    assert [tool["name"] for tool in small.tools] in ([], ["get_weather"], ["get_time"])
    assert small.replay[:2] == (WHOLE, Chunking(by="char"))
    assert small.expect is None or small.expect.tool_calls


@pytest.mark.replays
def test_a_message_that_stands_as_right_is_expected_of_the_small_case() -> None:
    small = search(quick(QWEN), LEAKY).minimized
    assert small is not None
    assert small.expect is not None
    assert small.expect.tool_calls


@pytest.mark.replays
def test_the_server_s_own_split_is_tried() -> None:
    deltas = [{"text": "<tool_call>"}, {"text": ONE_CALL[11:-1]}, {"text": ">"}]
    body = {"schema": 1, "parser": {"name": "qwen", "engine": "faulty"}, "input": {"deltas": deltas}}
    found = search(load_case(body), engines(loses_brace)).found
    group = next(group for group in found.groups if group.name == "recorded")
    assert group.honest
    assert next(iter(group.examples.values())).cuts == (11, len(ONE_CALL) - 1)


TOKENS = [
    [1, "Hi"],
    [7, "<tool_call>"],
    [2, '{"name": "f", '],
    [3, '"arguments": {"a": 1}}'],
    [8, "</tool_call>"],
    [4, "bye"],
]


@pytest.mark.replays
def test_recorded_markers_stay_whole_and_late_text_is_tried() -> None:
    body = {
        "schema": 1,
        "parser": {"name": "qwen", "engine": "faulty"},
        "source": {"kind": "recorded"},
        "checks": QUICK,
        "tokenizer": {"vocab": {"<tool_call>": 7, "</tool_call>": 8}},
        "input": {"tokens": TOKENS},
    }
    result = search(load_case(body), engines(drops_text_after_call))
    found = result.found
    text = "".join(str(text) for _, text in TOKENS)
    assert "late" in [group.name for group in found.groups]
    start = text.index("<tool_call>")
    assert len(set(found.cuts[start : start + 11])) == 1
    assert result.minimized is not None
    assert result.minimized.mode() == "ids"
    assert [token.id for token in result.minimized.input.tokens or () if token.text in ("<tool_call>", "</tool_call>")]
    shown = run_case(result.minimized, engines=engines(drops_text_after_call))
    assert [f.check for f in shown.findings if f.severity == "error"]


def test_late_text_can_be_what_fails() -> None:
    class Late(Machine):
        """It does not listen to text that comes without its ids."""

        def feed(self, delta: Delta) -> list[Any]:
            return [] if delta.early_ids is not None and len(delta.text) > 12 else super().feed(delta)

    made = engine(lambda name: Late(get_format(name), policies(get_format(name))))
    body = {
        "schema": 1,
        "parser": {"name": "qwen", "engine": "faulty"},
        "source": {"kind": "recorded"},
        "checks": QUICK,
        "tokenizer": {"vocab": {"<tool_call>": 7, "</tool_call>": 8}},
        "input": {"tokens": TOKENS},
    }
    result = search(load_case(body), {"faulty": made})
    assert result.found.minimized is not None
    late = result.found.minimized.chunking
    assert late.holdback_chars or late.text_delay


@pytest.mark.replays
def test_a_finding_of_a_single_replay_is_made_small_too() -> None:
    def doubles(events: list[Any], text: str) -> list[Any]:
        return events + [event for event in events if type(event).__name__ == "ContentText" and "!" in event.text]

    given = engines(doubles)
    result = search(quick("Some words, and then! more of them."), given)
    assert result.found.minimized is not None
    assert "!" in result.found.minimized.text
    assert len(result.found.minimized.text) <= 2


@pytest.mark.replays
@pytest.mark.parametrize("number", every(6, range(6)))
def test_no_chunking_changes_what_a_built_in_parser_gives(number: int) -> None:
    for name in case_names(without=("response_template",))[number * 71 % 24 :: 24 * 6]:
        case = case_named(name)
        if len(case.text()) > 1_500:
            continue
        only = case.model_copy(update={"checks": ("chunking", "whole_equals_streamed")})
        found = search_with_all_engines(only)
        assert (len(found.outcomes), found.findings) == (1, []), name


def search_with_all_engines(case: Case) -> Found:
    from webapp.engines import ENGINES

    return search(case, ENGINES).found


@pytest.mark.replays
def test_the_json_of_a_search_has_the_contract_keys() -> None:
    found = json.loads(json.dumps(find_json(search(case_of(ONE_CALL + "\n."), engines(loses_brace)))))
    assert list(found)[:5] == ["findings", "outcomes", "minimized", "replays", "complete"]
    assert {"message", "count", "smallest"} <= found["outcomes"][0].keys()
    assert load_case(found["minimized"]).parent
    assert all(Chunking.model_validate(one["smallest"]) for one in found["outcomes"])
    assert found["verdict"]["headline"]


class FailsOnOpenCall(Machine):
    """A call that is not whole when the output ends is a failure."""

    def finish(self, reason: str | None = None) -> list[Any]:
        events = super().finish(reason)
        if any(isinstance(event, CallEnd) and not event.complete for event in events):
            raise ValueError("unbalanced call")
        return events


@pytest.mark.replays
def test_what_only_a_damaged_output_shows_is_made_small_too() -> None:
    text = 'Ok. <tool_call>{"name": "f", "arguments": {"a": {"b": [1, 2]}}}</tool_call>'
    given = {"faulty": engine(lambda name: FailsOnOpenCall(get_format(name), policies(get_format(name))))}
    result = search(case_of(text), given)
    found = result.found
    assert len(found.outcomes) == 1
    assert (found.verdict.kind, [f for f in found.findings if f.severity != "info"]) == ("all_hold", [])
    assert [f.severity for f in found.robustness if "unbalanced call" in f.message][:1] == ["error"]
    assert found.minimized is not None
    assert found.minimized.text != text
    assert result.minimized is not None
    shown = run_case(result.minimized, engines=given)
    assert "parser_raised" in [f.check for f in shown.findings]


def test_a_guess_in_the_verdict_is_part_of_the_json() -> None:
    case = load_case({"schema": 1, "parser": {"name": "kimik2"}, "input": {"text": [ONE_CALL]}})
    found = find_json(search(case, {"builtin": builtin}))
    assert found["verdict"]["kind"] == "wrong_parser"
    assert found["verdict"]["guesses"][0]["calls"] == 1


class Says:
    """A foreign parser that makes a delta of each text."""

    def __init__(self, make: Callable[[str], MessageDelta | None]) -> None:
        self.make = make

    def begin(self, context: Context) -> None: ...

    def feed(self, delta: Delta) -> MessageDelta | None:
        return self.make(delta.text)

    def finish(self, reason: str | None) -> MessageDelta | None:
        return None


@pytest.mark.parametrize(
    ("make", "text", "kind"),
    [
        (lambda text: MessageDelta(content=text.replace("🌍", "\ud83c\udf0d")), "ok 🌍", "text_added"),
        (
            lambda text: MessageDelta(tool_calls=[ToolCallDelta(2**40, "a", "f", "{}")]) if "x" in text else None,
            "x y",
            "broken_stream",
        ),
    ],
)
def test_what_no_client_can_hold_is_a_verdict_and_a_small_case(
    make: Callable[[str], MessageDelta | None], text: str, kind: str
) -> None:
    foreign = engine(lambda name: BlackBox(name, Says(make)), black_box=True)
    result = search(quick(text), {**ENGINES, "faulty": foreign})
    assert result.found.verdict.kind == kind
    assert result.minimized is not None
    assert loads(dumps(result.minimized)).notes == result.minimized.notes


@pytest.mark.parametrize(
    ("events", "different"),
    [
        ([{"kind": "text", "text": "a"}, {"kind": "tool_call", "name": "f", "arguments": {}}], []),
        ([{"kind": "tool_call", "name": "f", "arguments": {}}, {"kind": "text", "text": "a"}], ["events"]),
        ([], ["events"]),
    ],
)
def test_the_order_that_a_case_expects_is_compared(events: list[dict[str, Any]], different: list[str]) -> None:
    text = 'a<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}, "expect": {"events": events}})
    known = find_json(CaseSearch(case).result())["known"]
    assert [one["field"] for one in known["differences"]] == different


@pytest.mark.replays
@pytest.mark.parametrize(
    ("expect", "more", "departs", "fails"),
    [
        ({"content": "Hi."}, {}, False, False),
        ({"content": "Hello."}, {}, True, True),
        ({"content": "Hello."}, {"verdict": "implementation_defined"}, True, False),
        (None, {}, False, False),
    ],
)
def test_a_search_says_where_the_message_is_not_as_expected(
    expect: dict[str, Any] | None, more: dict[str, Any], departs: bool, fails: bool
) -> None:
    given = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": f"Hi.{ONE_CALL}"}, "checks": QUICK}
    found = search(load_case({**given, "expect": expect, **more}), ENGINES, max_replays=20)
    assert (found.departs is not None, found.fails) == (departs, fails)
    told = find_json(found)["known"]["departs"]
    assert told == (found.departs and {"severity": found.departs.severity, "headline": found.departs.headline})
