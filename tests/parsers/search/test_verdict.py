"""One sentence on what is wrong: the root cause first, the right one blamed."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from parsers.cases.find import CaseSearch
from parsers.cases.io import load_case
from parsers.checks import CHECKS, run_checks
from parsers.checks.subject import subject_of
from parsers.replays.chunking import TRACED, WHOLE, Chunking
from parsers.replays.replayer import Replayer
from parsers.search.found import OutcomeClass, Verdict
from parsers.search.verdict import first_look, verdict
from parsers.search.verdict_blame import kind_of
from parsers.selection.claims import claiming_formats
from parsers.selection.registry import Evidence, build, get_format, policies, select
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.events import ContentText, Event, Failure, Raised, ReasoningText
from parsers.vocabulary.trace import Finding, StreamParser, Topic
from parsers.vocabulary.types import Context, Message, Piece, Span, Tool, ToolCall
from tests.corpus import case_named
from tests.parsers.search.faulty import (
    LEAKY,
    Change,
    case_of,
    drops_text_after_call,
    engines,
    fails_on_lone_quote,
    flushes_angle,
    loses_brace,
    loses_second_call,
)

ONE = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
TWO = f"Hi.\n{ONE}\n" + ONE.replace('"f"', '"g"') + "\nDone."
LONG = f'"{"mcp__server__" * 20}"'
MISSPELT = ONE.replace("tool_call", "toolcall")
TAGGED = 'Use <tool_call> as a tag. {"name": "f", "arguments": {}}'
UNOPENED = ONE.removeprefix("<tool_call>\n")
SEED = "<seed:tool_call>\n<function=f>\n</function>\n</seed:tool_call>"
CODER = "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"


def replayer(text: str, name: str = "qwen", context: Context | None = None) -> Replayer:
    fmt = get_format(name)
    pieces = tuple(Piece(part) for part in re.findall(r"\w+|\s+|[^\w\s]", text))
    literals = {key: literal for key, literal in fmt.terminals.items() if len(literal) > 1}
    return Replayer(
        lambda: build(fmt),
        pieces,
        context or Context(),
        terminals=literals,
        longest_terminal=40,
        format=fmt,
        policy=policies(fmt),
        own_tokenizer=True,
    )


def judged(given: Replayer) -> Verdict:
    """The verdict on a replay with the default checks and no other chunking but the whole."""
    trace, whole = given.trace(TRACED), given.trace(WHOLE)
    return verdict(run_checks(subject_of(given, trace, whole, [])).findings, trace, given)


def searched(change: Change | None, text: str = TWO) -> Verdict:
    """The verdict of a whole search, the parser being broken by `change`."""
    case = case_of(re.findall(r"\w+|\s+|[^\w\s]", text))
    search = CaseSearch(case, engines=LEAKY if change is None else engines(change))
    for _ in search.run():
        pass
    return search.result().found.verdict


@pytest.mark.replays
@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (loses_second_call, "chunk_boundary", "when the output comes in one delta, the second call (`g`) is lost"),
        (
            drops_text_after_call,
            "chunk_boundary",
            "when the output comes in one delta, `\\nDone.` is lost from the content",
        ),
        (flushes_angle, "chunk_boundary", "cut after character 5, `<` leaks into the content"),
        (loses_brace, "chunk_boundary", "the arguments of the first call (`f`) lose `}`"),
        (fails_on_lone_quote, "parser_failed", "with IndexError: string index out of range"),
        (None, "chunk_boundary", "the second call (`g`) is lost, and others change"),
    ],
)
def test_a_broken_parser_is_blamed_for_what_it_does(change: Change | None, kind: str, words: str) -> None:
    said = searched(change)
    assert (said.kind, said.severity, said.about) == (kind, "error", "parser")
    assert words in said.headline
    assert said.proof is not None
    assert said.proof.chunking is not None
    assert said.findings


@pytest.mark.parametrize(
    ("text", "name", "kind", "severity", "words"),
    [
        ("Just an answer.", "qwen", "nothing_to_parse", "info", "Nothing in this text is for a parser"),
        (TWO, "qwen", "all_hold", "pass", "All checks hold: 2 complete calls."),
        (ONE.replace('"f"', LONG), "qwen", "all_hold", "pass", "All checks hold: 1 complete call."),
        ("", "qwen", "all_hold", "pass", "plain answer"),
        ('{"name": "John", "age": 30}', "json", "nothing_to_parse", "info", "no call, no reasoning, no marker"),
        ('{"city": "Oslo"', "qwen", "output_flawed", "warning", "ends before it is whole: a `,` or `}` is missing"),
        ('{"city" is what I call it', "qwen", "nothing_to_parse", "info", "no marker of a known format"),
        ("{city", "qwen", "nothing_to_parse", "info", "no marker of a known format"),
        ('{"user": {"name": "f", "arguments": {}}}', "llama", "all_hold", "pass", "plain answer"),
        ("The <tool_call> tag: <tool_call>x</tool_call>", "json", "output_flawed", "warning", "wrote a marker as text"),
        (CODER, "qwen", "wrong_parser", "error", "`qwen_coder` reads 1 complete call in this output (so do"),
        (ONE, "mistral", "wrong_parser", "error", "`qwen` reads 1 complete call"),
        ('<|python_tag|>{"name": "f", "parameters": {}}', "llama_function_tag", "wrong_parser", "error", "`llama`"),
        (ONE, "passthrough", "wrong_parser", "warning", "`passthrough` reads none"),
        (MISSPELT, "qwen", "no_complete_call", "warning", "at character 5, where `<tool_call>`"),
        (UNOPENED, "qwen", "no_complete_call", "warning", "the opening `<tool_call>` is missing"),
        (ONE[:44], "qwen", "no_complete_call", "warning", "it ends inside the grammar of `qwen`, where"),
        (ONE.replace('{"a": 1}', "[1]"), "qwen", "output_flawed", "warning", "JSON of another kind"),
        (f"Hm.</think>{ONE}", "qwen", "prompt_state_unknown", "warning", "becomes reasoning"),
        ("</think>Bern.", "deepseek_r1", "all_hold", "pass", "plain answer"),
        ("<think>\nHmm", "qwen", "no_answer", "info", "it is never closed"),
        ("<think>a</think>b</think>c", "qwen3", "all_hold", "pass", "plain answer"),
        (TAGGED, "qwen", "no_complete_call", "warning", "at character 16, where the opening brace is missing"),
        ("Hm.</think>Bern.", "deepseek_r1", "prompt_state_unknown", "warning", "`Hm.` becomes reasoning, not content"),
        (SEED, "qwen_coder", "wrong_parser", "error", "leaves nothing over"),
    ],
)  # fmt: skip
def test_the_verdict_names_the_root_cause(text: str, name: str, kind: str, severity: str, words: str) -> None:
    said = judged(replayer(text, name))
    assert (said.kind, said.severity) == (kind, severity), said.headline
    assert words in said.headline


@pytest.mark.replays
@pytest.mark.parametrize(
    ("text", "blamed", "kind"),
    [(ONE[:44], False, "no_complete_call"), (CODER, False, "wrong_parser"), (TWO, False, None), (TWO, True, None)],
)
def test_before_a_search_nothing_is_said_that_other_chunkings_may_explain(
    text: str, blamed: bool, kind: str | None
) -> None:
    given = replayer(text)
    trace = given.trace(TRACED)
    findings = [Finding("monotone", "error", "parser", "words")] * blamed
    assert not blamed or verdict(findings, trace, given).about == "parser"
    said = first_look(findings, trace, given, held=9)
    assert (None if said is None else said.kind) == kind


def test_a_bare_object_is_not_held_against_a_parser_whose_marker_stands_before_it() -> None:
    said = judged(replayer('[TOOL_CALLS] [{"name": "f", "arguments": {"a": 1} oops}] bye', "mistral"))
    assert said.kind != "wrong_parser"


def test_a_parser_that_loses_all_calls_is_not_the_wrong_one() -> None:
    given = replayer(TWO)
    trace = given.trace(TRACED)
    trace.message.tool_calls.clear()
    assert verdict([finding("L6")], trace, given).kind == "text_lost"


def test_a_call_to_a_declared_tool_is_meant_even_without_arguments() -> None:
    context = Context(tools=(Tool("ping"),))
    assert judged(replayer("A <tool_call>ping</tool_call>", "mistral", context)).kind == "wrong_parser"


def test_a_call_without_arguments_at_the_start_of_a_line_is_a_call() -> None:
    assert judged(replayer("<tool_call>list_files\n</tool_call>", "mistral")).kind == "wrong_parser"
    assert judged(replayer("A <tool_call>list_files\n</tool_call>", "mistral")).kind != "wrong_parser"


def test_a_call_of_another_format_that_is_code_in_a_sentence_is_only_written_about() -> None:
    call = "<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>"
    assert judged(replayer(f"GLM writes `{call}` for it.", "qwen_coder")).kind == "all_hold"
    assert judged(replayer(call, "qwen_coder")).kind == "wrong_parser"


def test_a_closing_marker_whose_opening_one_was_read_lacks_no_beginning() -> None:
    changed = ONE.replace("</tool_call>", "</tool_call></tool_call>")
    assert not any("may be missing" in words for words in judged(replayer(changed, "qwen_coder")).sentences)


@pytest.mark.replays
@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("<tool_call>\nIt is booked.", 0),
        ("  <tool_call> It is booked.", 2),
        ("I will book it.\n\n<tool_call>\nIt is booked.", 17),
        ("I will book it. <tool_call> It is booked.", None),
        ("Write this marker\n<tool_call>\nin front of it.", None),
        ("```\nSo.\n<tool_call>\n```", None),
    ],
)
def test_a_marker_that_opens_a_call_and_none_follows_is_a_flaw_where_it_stands_alone(text: str, at: int | None) -> None:
    said = judged(replayer(text, "qwen"))
    if at is None:
        assert said.kind == "all_hold"
    else:
        assert (said.kind, said.severity, said.span) == ("output_flawed", "warning", Span(at, at + len("<tool_call>")))
        assert said.headline == f"`<tool_call>` opens a call at character {at}, and what follows is none."


def test_prose_with_tools_declared_is_no_missing_call() -> None:
    assert judged(replayer("It is 12 degrees.", "qwen", Context(tools=(Tool("f"),)))).kind == "nothing_to_parse"


def test_nothing_is_missing_where_calls_are_not_wanted() -> None:
    assert judged(replayer(CODER, "qwen", Context(tool_choice="none"))).kind == "all_hold"


def test_an_output_that_its_limit_cut_off_is_nobodys_fault() -> None:
    said = judged(replayer(ONE[:44], "qwen", Context(finish_reason="length")))
    assert (said.kind, said.severity) == ("no_complete_call", "info")
    assert "cut off by its length limit" in said.headline


@pytest.mark.parametrize(
    ("text", "name", "finish", "words"),
    [
        (ONE + ONE[:44], "qwen", None, "is cut off inside call 1 (`f`), where a"),
        (ONE + ONE[:44], "qwen", "length", "is cut off by its length limit inside call 1 (`f`), where a"),
        ('[f(a=1), g(b="x', "pythonic", None, "is cut off inside call 1 (`g`)."),
        (ONE + ONE.removesuffix("</tool_call>"), "qwen", None, "All checks hold: 2 complete calls"),
    ],
)
@pytest.mark.replays
def test_an_output_that_ends_inside_a_call_behind_a_whole_one_is_no_pass(
    text: str, name: str, finish: Any, words: str
) -> None:
    said = judged(replayer(text, name, Context(finish_reason=finish)))
    assert words in said.headline
    assert (said.kind == "call_cut_off") is (said.severity == "info")


def test_a_tool_that_was_not_declared_is_the_models_doing() -> None:
    said = judged(replayer(ONE, "qwen", Context(tools=(Tool("g"),))))
    assert (said.kind, said.about) == ("output_flawed", "output")
    assert said.headline.startswith("The model made up a tool: `f`")


def test_what_a_parser_takes_for_reasoning_unasked_says_nothing_of_the_prompt() -> None:
    def thinks(events: list[Event], _text: str) -> list[Event]:
        kept = [event for event in events if isinstance(event, ContentText)]
        return [ReasoningText(event.start, event.end, event.text, event.segments) for event in kept]

    search = CaseSearch(case_of("Just an answer."), engines=engines(thinks), max_replays=50)
    assert list(search.run())
    said = search.result().found.verdict
    assert (said.kind, said.severity, said.about) == ("no_answer", "info", "request")


def test_reasoning_that_never_ends_may_be_a_wrong_start() -> None:
    text = ONE.replace("<tool_call>", "[X]")
    said = judged(replayer(f"Hm. {text}", "deepseek_r1", Context(reasoning_open=True)))
    assert said.kind == "prompt_state_unknown"
    assert said.proof is not None
    assert said.proof.context == {"reasoning_open": False}
    known = replace(replayer("Hm.</think>Bern.", "deepseek_r1"), context=Context(prompt_tail="<|user|>"))
    assert judged(known).kind == "all_hold"


def test_markers_of_reasoning_that_the_format_does_not_know_are_a_note() -> None:
    said = judged(replayer("V1 <reasoning>x</reasoning>", "qwen"))
    assert said.sentences[0] == "`<reasoning>` stays in the content: `qwen` has no such marker of reasoning."


def test_a_call_between_two_tags_in_prose_is_no_reason_to_blame_the_parser() -> None:
    said = judged(replayer("See <tool_call>list_files</tool_call> there", "mistral", Context(model="zai-org/GLM-4.5")))
    assert said.kind == "output_flawed"


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ('[{"name": "f", "arguments": {"a": 1}}]</TOOLCALL>', "json", "`</TOOLCALL>`, a marker of `nemotron_v2`"),
        ("a1<|tool_call:name|>f<|tool_call:args|>{}", "passthrough", "`<|tool_call:name|>`, a marker of `solar_open`"),
        ("So functions.f:0 it is.", "qwen", "`functions.f:0`, which looks like part of a call"),
        ("Use (<tool_call>) for it, then <tool_call> again.", "qwen", None),
        ("Use `<TOOLCALL>` around the list.", "qwen", None),
        ("```xml\n<TOOLCALL>[]</TOOLCALL>\n```", "qwen", None),
        ('The token "<TOOLCALL>" begins it.', "qwen", None),
    ],
)
def test_markers_that_are_left_in_the_content_are_no_pass(text: str, name: str, words: str | None) -> None:
    said = judged(replayer(text, name))
    assert (said.kind, said.severity) == (("output_flawed", "warning") if words else ("all_hold", "pass")), (
        said.headline
    )
    assert (words or "") in said.headline
    assert judged(replayer(text, name, Context(tool_choice="none"))).kind == "all_hold"


REASONED = [
    ("<think>Hm.", "qwen", "it is never closed"),
    ("<think>Hm.</think>", "qwen", "it is closed, and nothing follows"),
    ("<think>Hm.</think>\n\n", "deepseek_r1", "it is closed, and nothing follows"),
    ("[THINK]Hm.", "mistral", "it is never closed"),
    ("<|channel>thought\nHm.<channel|>", "gemma4", "it is closed, and nothing follows"),
    ("<|channel|>analysis<|message|>Hm.", "harmony", "it is never closed"),
    ("<|channel|>analysis<|message|>Hm.<|end|>", "harmony", "it is closed, and nothing follows"),
]


@pytest.mark.parametrize(("reason", "severity"), [(None, "info"), ("stop", "warning"), ("length", "info")])
@pytest.mark.parametrize(("text", "name", "why"), REASONED)
def test_reasoning_alone_is_no_answer(text: str, name: str, why: str, reason: str | None, severity: str) -> None:
    said = judged(replayer(text, name, Context(finish_reason=reason)))
    assert (said.kind, said.severity, said.about) == ("no_answer", severity, "output"), said.headline
    assert ("its length limit cut it off" if reason == "length" else why) in said.headline


@pytest.mark.parametrize(
    ("text", "context", "severity", "words"),
    [
        (
            "Sunny.",
            Context(tool_choice="required"),
            "warning",
            "requires a call (`tool_choice: required`), and the output",
        ),
        ("Sun", Context(tool_choice="required", finish_reason="length"), "info", "its length limit cut it off"),
        (
            "Sunny.",
            Context(tool_choice="named", named_tool="g"),
            "warning",
            "requires a call of `g`, and the output has none",
        ),
        (TWO, Context(tool_choice="named", named_tool="h"), "warning", "only some of `f` and `g`"),
    ],
)
def test_a_call_that_was_asked_for_and_did_not_come_is_said(
    text: str, context: Context, severity: str, words: str
) -> None:
    said = judged(replayer(text, "qwen", context))
    assert (said.kind, said.severity, said.about) == ("no_answer", severity, "output"), said.headline
    assert words in said.headline


def test_reasoning_that_the_prompt_opened_and_nothing_closes_is_no_answer() -> None:
    given = replace(replayer("Hm.", "qwen", Context(reasoning_open=True, finish_reason="stop")), start_given=True)
    said = judged(given)
    assert (said.kind, said.severity, said.about) == ("no_answer", "warning", "output"), said.headline


@pytest.mark.parametrize(("language", "kind"), [("python", "all_hold"), ("json", "no_complete_call")])
def test_what_a_program_holds_is_no_call_that_was_meant(language: str, kind: str) -> None:
    text = f'```{language}\nreturn {{"name": "f", "arguments": x}}\n```'
    assert judged(replayer(text, "llama", Context(tools=(Tool("f"),)))).kind == kind


def test_what_reasoning_mentions_and_gives_back_is_nobodys_fault() -> None:
    for body in ('<tool_call> {"name": ...}</tool_call>', "<tool_call>", "</tool_call>"):
        said = judged(replayer(f"<think>I should call {body} now.</think>Sure.", "qwen"))
        assert (said.kind, said.severity) == ("all_hold", "pass"), said.headline


@pytest.mark.replays
def test_formats_are_not_tried_on_a_long_output() -> None:
    given = replayer(CODER + "\n" * 50_000)
    assert verdict([], given.trace(WHOLE), given).kind == "output_flawed"
    assert verdict([], given.trace(WHOLE), given).guesses == ()


def test_a_parser_of_an_unknown_grammar_is_judged_by_its_markers() -> None:
    given = replace(replayer(CODER), format=None, make=lambda: named("mine"))
    trace = given.trace(TRACED)
    assert verdict([], trace, given).kind == "wrong_parser"
    knows = {"A": "\\s*<tool_call>", "B": "</tool_call>", "C": "<function=", "D": "</function>", "E": "<parameter="}
    assert verdict([], trace, replace(given, terminals=knows)).kind != "wrong_parser"


def named(name: str) -> StreamParser:
    parser = build(get_format("passthrough"))
    parser.name = name
    return parser


def finding(id: str, words: str = "", **more: Any) -> Finding:
    """What the first check of this number finds: an error about the parser, unless it is said otherwise."""
    check = next(check for check in CHECKS.values() if check.id == id)
    return check.finding(words or f"Said by {id}.", **{"severity": "error", "about": "parser", **more})


@pytest.mark.parametrize(
    ("ids", "kind", "words"),
    [
        (["L1", "A1", "J1"], "broken_arguments", "The parser breaks the arguments of a call: said by J1."),
        (["L1", "A1"], "text_lost", "The parser loses text: said by A1."),
        (["L1", "A3"], "text_added", "The parser adds text that is not in the output, or sends it twice: said by A3."),
        (["L1", "N4"], "broken_stream", "The deltas do not build the message: said by N4."),
        (["P1", "L4"], "marker_leak", "The parser lets a marker through as text: said by L4."),
        (["Y2"], "types_changed", "The parser changes a value: said by Y2."),
        (["P1"], "parser_flawed", "The parser breaks a rule: said by P1."),
        (["C1", "A1"], "chunk_boundary", "The parser depends on chunk boundaries: said by C1."),
        (["E1", "C1"], "parser_failed", "Said by E1."),
    ],
)
def test_of_several_faults_the_one_that_explains_most_is_said(ids: list[str], kind: str, words: str) -> None:
    given = replayer(TWO)
    said = verdict([finding(id) for id in ids], given.trace(TRACED), given)
    assert (said.kind, said.headline) == (kind, words)
    assert ids[said.findings[0]] in words


def test_text_that_is_sent_twice_is_not_called_lost() -> None:
    assert kind_of(finding("A1", topic=Topic.ADDITION)) == "text_added"
    assert kind_of(finding("A1", "The word `sent` of the output is nowhere in the message.")) == "text_lost"


def test_a_fault_is_also_told_beside_the_built_in_parser() -> None:
    given = replayer(TWO)
    trace = given.trace(TRACED)
    trace.message.tool_calls.pop()
    said = verdict([finding("L6")], trace, given)
    assert (said.kind, said.sentences[0]) == ("text_lost", "Beside the built-in qwen, the second call (`g`) is lost.")


def test_what_a_policy_allows_is_no_fault() -> None:
    given = replayer(TWO)
    assert verdict([finding("A1", policy="recovery=fail")], given.trace(TRACED), given).kind == "all_hold"


def test_warnings_about_the_parser_come_before_those_about_the_output() -> None:
    given = replayer(TWO)
    trace = given.trace(TRACED)
    space = finding("C1", "Only whitespace.", severity="warning")
    flaw = finding("N3", "`f` is not declared.", severity="warning", about="output")
    slow = finding("P1", "Slow.", severity="warning")
    types = finding("Y3", "3 became a string.", severity="warning", about="output")
    odd = finding("M3", "It is odd.", about="request")
    assert verdict([flaw, space], trace, given).kind == "chunk_boundary"
    assert verdict([slow], trace, given).kind == "parser_flawed"
    assert verdict([types], trace, given).headline == "Types change by the schema: 3 became a string."
    assert verdict([odd], trace, given).headline == "The output is at fault: it is odd."


def test_a_parser_that_fails_in_every_replay_says_where() -> None:
    given = replayer(TWO)
    trace = given.trace(TRACED)
    trace.steps = list(trace.steps)
    trace.steps[3].events = (Raised.at(7, 8, Failure("KeyError", "'x'", "feed, line 3")),)
    assert (
        verdict([], trace, given).headline
        == "The parser fails at character 7 of the output, on the delta `<`, with KeyError: 'x'."
    )
    trace.partition = list(trace.partition)
    trace.partition[-1].reason = LOST
    assert verdict([], trace, given).headline.endswith("; the output from character 7 on is lost.")


def test_a_parser_that_is_not_whole_here_is_not_to_blame() -> None:
    given = replayer(TWO)
    trace = given.trace(TRACED)
    trace.steps = list(trace.steps)
    trace.steps[0].events = (Raised.at(0, 1, Failure("ImportError", "It needs the melody package.", "begin, line 3")),)
    said = verdict([], trace, given)
    assert (said.kind, said.about) == ("parser_failed", "request")
    assert said.headline.endswith("something it needs is missing: ImportError: It needs the melody package.")


def test_a_call_lost_under_another_chunking_is_no_loss_but_a_matter_of_chunks() -> None:
    given = replayer(TWO)
    trace = given.trace(TRACED)
    other = replay_without_calls(given)
    chunk = outcome(1, other, Chunking(by="cuts", cuts=(9,)), 3, 3)
    base = outcome(0, trace.message, TRACED, 5, 5)
    said = verdict([finding("C1"), finding("A1")], trace, given, outcomes=[base, chunk])
    assert said.headline.endswith("when the output is cut after character 9, both calls are lost.")
    assert said.sentences[0] == "3 of 8 chunkings give this; 5 give the right message, e.g. token by token."


def test_what_only_cuts_inside_a_token_lose_leads_nowhere_and_assumed_cuts_are_named() -> None:
    given = replace(replayer(TWO), own_tokenizer=False)
    trace, at = given.trace(TRACED), TWO.index("call>") + 2
    chunk = outcome(1, replay_without_calls(given), Chunking(by="cuts", cuts=(at,)), 3, 0)
    base = outcome(0, trace.message, TRACED, 5, 5)
    assert verdict([], trace, given, outcomes=[base, chunk]).kind == "all_hold"
    chunk.smallest, chunk.assumed = Chunking(by="cuts", cuts=(TWO.index("tool_call"),)), 3
    said = verdict([], trace, given, outcomes=[base, chunk])
    assert (said.kind, said.severity, said.about) == ("chunk_boundary", "warning", "parser")
    assert said.headline == (
        "The parser may depend on chunk boundaries: if `<tool_call>` comes as `< tool_call >`, both calls are lost."
    )


def test_where_no_grammar_is_known_the_outcome_with_most_calls_is_right() -> None:
    given = replace(replayer(TWO), format=None, make=lambda: named("mine"))
    trace = given.trace(TRACED)
    right = outcome(1, replayer(TWO).trace(WHOLE).message, WHOLE, 1, 1)
    said = verdict([], trace, given, outcomes=[outcome(0, trace.message, TRACED, 4, 4), right])
    assert "when the output comes token by token, both calls are lost" in said.headline


@pytest.mark.parametrize(
    ("left", "lost"),
    [
        ("\nThat was all.", "is lost"),
        (" And then <b>more</b> text.", "is lost"),
        ("\n@@end of it", "is added"),
        ("\ncall f now", "is added"),
        ("}", "is added"),
    ],
)
def test_where_no_grammar_is_known_and_calls_are_equal_a_text_is_right_that_is_no_markup(left: str, lost: str) -> None:
    text = f'@@call f {{"a": 1}}@@end{left}'
    given = replace(replayer(text), format=None, make=lambda: named("mine"))
    call = ToolCall("1", "f", '{"a": 1}')
    more, less = Message(content=f"{left}", tool_calls=[call]), Message(content=None, tool_calls=[call])
    outcomes = [outcome(0, more, TRACED, 4, 4), replace(outcome(1, less, WHOLE, 1, 1), grade="text")]
    said = verdict([finding("C1")], given.trace(TRACED), given, outcomes=outcomes)
    assert f"{lost}" in said.headline, said.headline


def test_the_right_message_may_come_from_the_second_code_path_only_or_from_nowhere() -> None:
    given = replayer(TWO)
    lost, right = replay_without_calls(given), given.trace(WHOLE).message
    wrong = outcome(0, lost, TRACED, 4, 4)
    one_shot = replace(given, one_shot=given.make)
    said = verdict([finding("C1")], given.trace(TRACED), one_shot, outcomes=[wrong, outcome(1, right, WHOLE, 1, 1)])
    assert "; the code path for whole outputs gives the right message." in " ".join(said.sentences)
    both = [wrong, outcome(1, Message(content="Hi."), WHOLE, 1, 1)]
    said = verdict([finding("C1")], given.trace(TRACED), given, outcomes=both)
    assert "; none gives what the format reads." in " ".join(said.sentences)


@pytest.mark.parametrize(
    ("apart", "words"),
    [
        (True, "The parser's code path for whole outputs fails, with KeyError"),
        (False, "when the output comes in one delta"),
    ],
)
def test_a_failure_of_the_path_for_whole_outputs_is_told_as_one_of_that_path(apart: bool, words: str) -> None:
    given = replayer(TWO)
    given = replace(given, one_shot=given.make) if apart else given
    fails = replace(outcome(1, Message(), WHOLE, 1, 1), raised=Failure("KeyError", "'boom'"))
    outcomes = [outcome(0, given.trace(TRACED).message, TRACED, 4, 4), fails]
    said = verdict([finding("E1")], given.trace(TRACED), given, outcomes=outcomes)
    assert words in said.headline
    assert said.sentences[0] == "1 of 5 chunkings makes it fail."


def test_what_the_contract_allows_is_not_what_is_blamed() -> None:
    given = replayer(TWO)
    right, lost = given.trace(WHOLE).message, replay_without_calls(given)
    cut, cuts = Chunking(by="cuts", cuts=(5,)), Chunking(by="cuts", cuts=(5, 9))
    allowed = replace(outcome(1, Message(content="As agreed."), cut, 1, 1), allowed="content_before_calls=drop")
    known = [outcome(0, right, TRACED, 4, 4), allowed, outcome(2, lost, cuts, 1, 1)]
    said = verdict([finding("C1")], given.trace(TRACED), given, outcomes=known)
    assert (said.kind, "both calls are lost" in said.headline) == ("chunk_boundary", True), said.headline


def test_an_answer_that_its_length_limit_cuts_off_is_nobodys_fault() -> None:
    said = judged(replayer('{"city": "Oslo"', "qwen", Context(finish_reason="length")))
    assert (said.kind, said.severity) == ("output_flawed", "info")
    assert said.headline.endswith("for its length limit cut it off.")


def test_a_message_that_no_grammar_proves_is_not_said_to_be_right() -> None:
    given = replayer(TWO)
    lost = outcome(0, replay_without_calls(given), TRACED, 4, 4)
    other = Message(content="Hi.", tool_calls=given.trace(WHOLE).message.tool_calls)
    both = [lost, outcome(1, other, WHOLE, 1, 1)]
    said = verdict([finding("C1")], given.trace(TRACED), given, outcomes=both)
    assert "gives the fullest message, e.g. whole; none gives what the format reads." in " ".join(said.sentences)
    unknown = replace(given, format=None, make=lambda: named("mine"))
    said = verdict([finding("C1")], unknown.trace(TRACED), unknown, outcomes=both)
    assert said.sentences[0].endswith("gives the fullest message, e.g. whole.")


def outcome(number: int, message: Message, chunking: Chunking, count: int, honest: int) -> OutcomeClass:
    label = "whole" if chunking == WHOLE else "token by token"
    return OutcomeClass(number, message, "stop", count, honest, chunking, label, "calls" if number else None)


def replay_without_calls(given: Replayer) -> Message:
    message = given.trace(WHOLE).message
    return Message(message.reasoning, message.content)


def verdict_on_served(content: str) -> Verdict:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": "stop"}
    given = {"text": TWO, "stream": [{"choices": [choice]}]}
    search = CaseSearch(load_case({"schema": 1, "parser": {"name": "qwen"}, "input": given}))
    assert len(list(search.run())) > 1
    return search.result().found.verdict


@pytest.mark.replays
def test_a_server_without_a_parser_is_told_how_to_start_it() -> None:
    said = verdict_on_served(TWO)
    assert (said.kind, said.severity, said.about) == ("server_unparsed", "warning", "request")
    assert said.headline == (
        "The server left markup in the content: it sent the whole output as content, "
        "where `qwen` reads 10 characters of content, 2 calls."
    )
    assert "--tool-call-parser" in said.sentences[0]


@pytest.mark.replays
def test_a_server_that_sent_other_text_ran_some_parser() -> None:
    assert verdict_on_served("Hi.").kind == "server_departs"


@pytest.mark.replays
def test_what_a_server_sent_otherwise_leads_with_the_calls() -> None:
    search = CaseSearch(case_named("recorded/beside-the-output-departs"))
    assert len(list(search.run())) > 1
    found = search.result().found
    assert (found.verdict.kind, found.verdict.severity, found.verdict.about) == ("server_departs", "warning", "parser")
    assert found.verdict.headline.startswith("The server sent another message than `qwen` reads in the same output: ")
    assert {found.findings[number].id for number in found.verdict.findings} == {"K2"}


@pytest.mark.replays
@pytest.mark.parametrize(
    "text",
    [
        ONE,
        TWO,
        CODER,
        SEED,
        '[TOOL_CALLS]f{"a": 1}',
        "<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>",
    ],
)
@pytest.mark.parametrize("name", ["kimik2", "qwen", "glm47_moe"])
def test_the_wrong_parser_is_told_by_what_auto_would_choose(name: str, text: str) -> None:
    said, chosen = judged(replayer(text, name)), select(Evidence(text=text)).name
    claimed = name in claiming_formats(text)
    assert (said.kind == "wrong_parser") is not claimed
    assert claimed or (said.proof is not None and said.proof.parser == chosen)
