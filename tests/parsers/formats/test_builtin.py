"""What every built-in format promises: an example that parses, sources, evidence, policies that make a difference."""

from __future__ import annotations

import json

import pytest

from parsers.formats.model import Format, builtin_formats, guard_holds, load_format, policy_values, row_ids
from parsers.machine.output import ALPHANUMERIC, call_id
from parsers.machine.program import literals
from parsers.vocabulary.types import Context, FormatError
from tests.parsers.parsing import calls, codes, dropped, owners, rows, trace_of

BUILTIN = builtin_formats()
each = pytest.mark.parametrize("fmt", BUILTIN.values(), ids=BUILTIN)
with_calls = pytest.mark.parametrize(
    "fmt", [f for f in BUILTIN.values() if f.name not in ("passthrough", "deepseek_r1")], ids=lambda f: f.name
)


@with_calls
@pytest.mark.replays
def test_the_example_gives_calls_with_json_arguments(fmt: Format) -> None:
    trace = trace_of(fmt, fmt.example)
    assert trace.message.tool_calls
    assert all(isinstance(json.loads(call.arguments), dict) and call.complete for call in trace.message.tool_calls)
    assert (codes(trace), trace.rejected_calls) == ([], [])
    assert {owner for _, owner in owners(trace)} >= {"content", "name", "arguments", "marker"} - {
        "content" if trace.message.content is None else ""
    }


def test_the_example_of_passthrough_is_content() -> None:
    fmt = BUILTIN["passthrough"]
    assert trace_of(fmt, fmt.example).message.content == fmt.example


@each
def test_sources_and_description_are_given(fmt: Format) -> None:
    assert fmt.title
    assert fmt.description.endswith(".")
    assert fmt.provenance
    assert all(source.project and source.source and source.fact.endswith(".") for source in fmt.provenance)


@each
def test_tokens_are_terminals_and_evidence_uses_them(fmt: Format) -> None:
    within = "\n".join(literals(fmt))
    assert [token for token in fmt.tokens if token not in within] == []
    assert set(fmt.models.tokens) <= set(fmt.tokens)


@each
def test_every_state_can_be_left_or_ends(fmt: Format) -> None:
    for name, state in fmt.states.items():
        assert any(row.on == "END" for row in state.rows), name
        assert all(row.to in fmt.states for row in state.rows), name


@each
def test_the_policies_of_a_format_are_policies(fmt: Format) -> None:
    assert set(fmt.policies) <= set(policy_values())
    assert set(fmt.policy.model_dump()) == set(policy_values())


@pytest.mark.replays
@with_calls
def test_ids_are_made_in_the_dialect_asked_for_and_from_the_seed(fmt: Format) -> None:
    first = [call.id for call in trace_of(fmt, fmt.example).message.tool_calls]
    assert first == [call.id for call in trace_of(fmt, *fmt.example).message.tool_calls]
    assert len(set(first)) == len(first)
    if "id_dialect" in fmt.policies:
        other = trace_of(fmt, fmt.example, context=Context(id_seed=1)).message.tool_calls
        assert first != [call.id for call in other]
        kimi = trace_of(fmt, fmt.example, policy={"id_dialect": "kimi"}).message.tool_calls
        assert [call.id for call in kimi] == [f"functions.{call.name}:{n}" for n, call in enumerate(kimi)]


@pytest.mark.parametrize(
    ("dialect", "start", "length", "alphabet"),
    [
        ("chatcmpl_tool", "chatcmpl-tool-", 46, "0123456789abcdef"),
        ("call_hex", "call_", 21, "0123456789abcdef"),
        ("mistral9", "", 9, ALPHANUMERIC),
    ],
)
def test_generated_ids_have_the_shape_of_their_server(dialect: str, start: str, length: int, alphabet: str) -> None:
    made = [call_id(dialect, "kimi", 0, index, "f") for index in range(50)]
    assert all(one.startswith(start) and len(one) == length and set(one[len(start) :]) <= set(alphabet) for one in made)
    assert len(set(made)) == 50
    assert made[0] == call_id("format", dialect, 0, 0, "g") != call_id(dialect, "kimi", 1, 0, "f")


@pytest.mark.parametrize("fmt", [f for f in BUILTIN.values() if "THINK_START" in f.terminals], ids=lambda f: f.name)
def test_reasoning_is_recognised_whether_the_prompt_opened_it_or_not(fmt: Format) -> None:
    opener, closer = fmt.terminals["THINK_START"], fmt.terminals["THINK_END"]
    written = trace_of(fmt, f"{opener}a{closer}b")
    opened = trace_of(fmt, f"a{closer}b", context=Context(reasoning_open=True))
    for trace in (written, opened):
        assert (trace.message.reasoning, trace.message.content) == ("a", "b")
    orphan = trace_of(fmt, f"a{closer}b")
    assert (orphan.message.reasoning, orphan.message.content) == (None, "ab")
    assert codes(orphan) == ["orphan_reasoning_end"]


@with_calls
def test_every_row_can_be_told_by_its_id(fmt: Format) -> None:
    known = set(row_ids(fmt).values())
    trace = trace_of(fmt, fmt.example)
    assert {row.row for step in trace.steps for row in step.transitions} <= known
    assert rows(trace)[0][0] == fmt.initial


def test_a_guard_holds_for_the_values_it_names() -> None:
    row = next(r for r in BUILTIN["mistral"].states["PARSING_NAME"].rows if r.on == "BRACE")
    assert [guard_holds(row, {"mistral_version": value}) for value in ("auto", "pre_v11", "v11")] == [True, False, True]
    assert not guard_holds(row, {})


@pytest.mark.parametrize(
    ("data", "pointer"),
    [
        ({}, "/schema"),
        ({"schema": 1, "name": "x y", "title": "", "initial": "A", "states": {}}, "/name"),
        (
            {"schema": 1, "name": "x", "title": "", "initial": "A", "states": {"A": {"rows": [{"on": "END"}]}}},
            "/states/A/rows/0/to",
        ),
        ({"schema": 1, "name": "x", "title": "", "initial": "A", "states": {}, "terminals": {"T": ""}}, "/terminals/T"),
        ({"schema": 1, "name": "x", "title": "", "initial": "A", "states": {}, "a/b~c": 1}, "/a~1b~0c"),
    ],
)
def test_a_broken_format_is_refused_with_the_place(data: dict[str, object], pointer: str) -> None:
    with pytest.raises(FormatError) as caught:
        load_format(data)
    assert caught.value.pointer == pointer


@pytest.mark.parametrize(
    ("version", "text", "found"),
    [
        ("auto", '[TOOL_CALLS] [{"name": "f", "arguments": {}}]', [("f", "{}")]),
        ("auto", "[TOOL_CALLS]f{}", [("f", "{}")]),
        ("pre_v11", '[TOOL_CALLS] [{"name": "f", "arguments": {}}]', [("f", "{}")]),
        ("pre_v11", "[TOOL_CALLS]f{}", []),
        ("v11", "[TOOL_CALLS]f{}", [("f", "{}")]),
        ("v11", '[TOOL_CALLS] [{"name": "f", "arguments": {}}]', []),
    ],
)
def test_the_grammar_of_mistral_is_looked_at_or_fixed(version: str, text: str, found: list[tuple[str, str]]) -> None:
    trace = trace_of("mistral", *text, policy={"mistral_version": version})
    assert calls(trace.message) == found
    assert found or trace.message.content == text.removeprefix("[TOOL_CALLS]").lstrip()


def test_the_nine_states_of_mistral_are_passed_in_order() -> None:
    trace = trace_of("mistral", '[TOOL_CALLS] [{"name": "f", "arguments": {"a": 1}, "x": 0}]')
    assert [state for _, _, state in rows(trace)] == [
        "WAITING_FOR_TOOL_START",
        "WAITING_FOR_TOOL_KEY",
        "PARSING_NAME",
        "PARSING_NAME_COMPLETED",
        "WAITING_FOR_TOOL_KEY",
        "WAITING_FOR_ARGUMENTS_START",
        "PARSING_ARGUMENTS",
        "PARSING_ARGUMENTS_COMPLETED",
        "WAITING_FOR_TOOL_KEY",
        "WAITING_FOR_TOOL_KEY",
        "TOOL_COMPLETE",
        "ALL_TOOLS_COMPLETE",
        "ALL_TOOLS_COMPLETE",
    ]


def test_entities_are_decoded_only_where_the_policy_says_so() -> None:
    text = "<function=f><parameter=a>x &amp; y &lt;</parameter></function>"
    off, on = (trace_of("qwen_coder", text, policy={"entity_decoding": value}) for value in ("off", "on"))
    assert calls(off.message) == [("f", '{"a": "x &amp; y &lt;"}')]
    assert calls(on.message) == [("f", '{"a": "x & y <"}')]
    assert dropped(on) == []
