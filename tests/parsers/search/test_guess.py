"""Which format an output is in, and where a damaged one leaves the nearest grammar."""

from __future__ import annotations

import pytest

from parsers.formats.model import builtin_formats
from parsers.search.found import Guess
from parsers.search.guess import guesses
from parsers.search.markup import almost_markers
from parsers.search.reading import first_leave, is_good, read
from parsers.vocabulary.drops import stated
from parsers.vocabulary.trace import RejectedCall
from parsers.vocabulary.types import Context, Tool, ToolCall
from tests.growth import assert_linear, seconds

HERMES = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
CODER = "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"


def best(text: str, context: Context | None = None) -> Guess:
    return guesses(text, context)[0]


@pytest.mark.parametrize("name", [n for n, fmt in builtin_formats().items() if n not in ("passthrough", "deepseek_r1")])
@pytest.mark.replays(
    but=(
        "deepseek",
        "hunyuan",
    )
)
def test_the_example_of_a_format_is_read_best_by_it_or_alike(name: str) -> None:
    found = best(builtin_formats()[name].example)
    assert name in (found.name, *found.same)
    assert found.good == found.complete == found.calls > 0


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (HERMES, "qwen"),
        (CODER, "qwen_coder"),
        ("<function=f><parameter=a>1</parameter></function>", "qwen_coder"),
        ('[TOOL_CALLS]f{"a": 1}', "mistral"),
        ('<|python_tag|>{"name": "f", "parameters": {"a": 1}}; {"name": "g", "parameters": {}}', "llama"),
        ('Sure:\n```json\n{"name": "f", "arguments": {"a": 1}}\n```', "json"),
        ('[f(a=1), g(b="x")]', "llama4_pythonic"),
        (
            "<think>hm</think><seed:tool_call><function=f><parameter=a>1</parameter></function></seed:tool_call>",
            "seed_oss",
        ),
        ('<|tool_call>call:f{a:<|"|>}<tool_call|> <|tool_call>call:g{}<|"|>}<tool_call|>', "gemma4"),
    ],
)
@pytest.mark.replays
def test_the_format_that_reads_an_output_comes_first(text: str, name: str) -> None:
    found = best(text)
    assert (found.name, found.good > 0) == (name, True)


def test_every_format_is_ranked_and_those_without_a_marker_say_so() -> None:
    found = guesses(HERMES)
    assert {guess.name for guess in found} == set(builtin_formats())
    assert [guess.score for guess in found] == sorted([guess.score for guess in found], reverse=True)
    assert next(guess for guess in found if guess.name == "apertus").evidence == (
        "none of its markers is in the output",
    )


def test_the_evidence_says_what_was_read_and_who_reads_it_alike() -> None:
    found = best(HERMES)
    assert found.evidence == (
        "reads 1 complete call: `f`",
        "`<tool_call>` and `</tool_call>` are its markers",
        "nothing dropped",
        "`qwen3`, `qwen_coder`, `ernie45` and 2 more read the same calls",
    )
    assert next(guess for guess in guesses(HERMES) if guess.name == "qwen3").same == ("qwen",)


def test_two_formats_alike_are_told_in_the_singular() -> None:
    assert (
        best('<|tool_call|>[{"name": "f", "arguments": {}}]<|/tool_call|>')
        .evidence[-1]
        .endswith("reads the same calls")
    )


@pytest.mark.replays
def test_evidence_counts_what_is_left_over_dropped_and_cut_off() -> None:
    bare = read(builtin_formats()["qwen_coder"], "<tool_call><function=f>words here</function></tool_call>", Context())
    assert bare.dropped == 9
    assert any("letters dropped" in said for said in best("<function=f>words here</function>").evidence)
    assert any(
        "pieces of markup stay in" in said for guess in guesses(f"{HERMES} [/ARGS][ARGS]") for said in guess.evidence
    )
    assert "1 call that is not whole: `f`" in best('<tool_call>{"name": "f", "arguments": {"a": 1').evidence[0]
    assert best(f"{HERMES} [/ARGS]").evidence[2] == "1 piece of markup stays in the content, first at character 62"


@pytest.mark.parametrize(
    ("text", "name", "at", "missing"),
    [
        (HERMES.replace("tool_call", "toolcall"), "qwen", 5, "`<tool_call>` is spelled `<toolcall>`"),
        (HERMES.replace("<tool_call>", "<tool_call", 1), "qwen", 10, "`<tool_call>` is spelled `<tool_call`"),
        (HERMES.replace("<tool_call>", "<tool_cal>", 1), "qwen", 9, "`<tool_call>` is spelled `<tool_cal>`"),
        ('[TOOL_CALL][{"name": "f", "arguments": {}}]', "mistral", 10, "`[TOOL_CALLS]` is spelled `[TOOL_CALL]`"),
        (HERMES.removeprefix("<tool_call>\n"), "qwen", 0, "the opening `<tool_call>`"),
        (HERMES.removesuffix("}\n</tool_call>"), "qwen", 47, "a `,` or `}` in the call object"),
        (HERMES.removesuffix("\n</tool_call>"), "qwen", 48, "the closing `</tool_call>`"),
        (HERMES.removesuffix("}}\n</tool_call>"), "qwen", 46, "a `,` or `}` in the arguments of call 0"),
        (HERMES[:23], "qwen", 23, 'the closing `"` of a string in the call object'),
        (HERMES.replace(', "arg', ' "arg'), "qwen", 25, "a `,` or `}` in the call object"),
        (HERMES.replace('"', "'"), "qwen", 13, "a key in double quotes or `}` in the call object"),
        (HERMES.replace('{"a": 1}', "[1]"), "qwen", 39, "the opening brace of the arguments of call 0"),
        (
            "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>city<|tool_call_end|>",
            "kimik2",
            60,
            "the opening brace of the arguments of call 0",
        ),
        (CODER.replace("\n</parameter>", ""), "qwen_coder", 41, "the closing `</parameter>`"),
        (CODER.partition("</parameter>")[0], "qwen_coder", 41, "the closing `</parameter>`"),
        (CODER.partition(">\n1")[0], "qwen_coder", 37, "`>` after a parameter's name"),
        (CODER.replace("=f>", "=>"), "qwen_coder", 22, "the name of the call"),
        ("<tool_call>\n<function=f", "qwen_coder", 23, "`>` after the name of the call"),
        ("<tool_call>\n<func", "qwen_coder", 12, "the rest of `<function=`"),
        ("[TOOL_CALLS]f{a: 'b'}", "mistral", 14, "a key in double quotes or `}` in the arguments of call 0"),
        ("[TOOL_CALLS]get_time", "mistral", 20, "the opening bracket after the name of the call"),
        (
            "functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
            "kimik2",
            0,
            "the opening `<|tool_call_begin|>`",
        ),
        (
            '<|tool_call_begin|>functions.f:0{"a": 1}<|tool_call_end|>',
            "kimik2",
            32,
            "`<|tool_call_argument_begin|>` after the name of the call",
        ),
        ("I write <tool_call> here and that is all.", "glm47_moe", 20, "the name of the call"),
    ],
)
def test_a_damaged_output_says_where_it_leaves_the_nearest_grammar(text: str, name: str, at: int, missing: str) -> None:
    found = next(guess for guess in guesses(text) if guess.name == name)
    assert found.leaves is not None
    assert (found.leaves.at, found.leaves.missing) == (at, missing)


@pytest.mark.parametrize(
    ("name", "at", "words"),
    [
        ("f g", 23, "a blank stands in the name `f g`"),
        ("f,g", 23, "`,` stands in the name `f,g`"),
        ("\u200bf", 22, "the character U+200B stands in the name `\u200bf`"),
    ],
)
def test_a_name_that_no_tool_can_have_is_told_by_its_character(name: str, at: int, words: str) -> None:
    text = HERMES.replace('"f"', f'"{name}"')
    found = next(guess for guess in guesses(text) if guess.name == "qwen")
    assert (found.good, found.complete) == (0, 1)
    assert found.leaves is not None
    assert (found.leaves.at, found.leaves.clause) == (at, f"{words}, which no tool can have")


def test_a_name_that_a_tool_has_is_one_whatever_its_characters() -> None:
    declared = Context(tools=(Tool("f g"),))
    reading = read(builtin_formats()["qwen"], HERMES.replace('"f"', '"f g"'), declared)
    assert (reading.good, first_leave(reading)) == (1, None)


def test_a_whole_output_never_leaves_its_grammar() -> None:
    assert best(HERMES).leaves is None


def test_a_call_that_was_named_and_given_back_does_not_lack_its_name() -> None:
    reading = read(builtin_formats()["qwen_coder"], CODER, Context())
    reading.rejected = [RejectedCall(0, len(CODER), "f", stated("it is too long"))]
    found = first_leave(reading)
    assert found is None or found.missing != "the name of the call"
    reading.rejected, reading.moves = [], []
    assert first_leave(reading) is None


def test_a_call_inside_the_argument_of_another_one_is_no_reading() -> None:
    inner = HERMES.replace("\n", " ")
    value = f'<parameter name="text">{inner}</parameter>'
    outer = f'<minimax:tool_call>\n<invoke name="say">\n{value}\n</invoke>\n</minimax:tool_call>'
    found = guesses(outer)
    assert found[0].name == "minimax_m2"
    assert all(guess.good == 0 for guess in found if guess.name == "qwen")


@pytest.mark.replays
def test_a_format_that_reasons_is_read_as_the_output_begins() -> None:
    opened = f"I think so.</think>{HERMES}"
    assert best(opened, Context(reasoning_open=True)).name == "qwen"
    assert best(HERMES, Context(reasoning_open=True)).good == 1


def test_calls_count_only_where_the_tools_are_known() -> None:
    assert best(HERMES, Context(tools=(Tool("g"),))).good == 0
    assert best(HERMES, Context(tools=(Tool("f"),))).good == 1
    assert not is_good(ToolCall(None, "two words", "{}"), Context())


def test_plain_text_is_nobodys() -> None:
    assert all(guess.good == guess.calls == 0 for guess in guesses("Just an answer: 1 < 2."))


def test_tags_that_are_almost_markers_are_found_and_others_are_not() -> None:
    assert {near.literal for near in almost_markers("<TOOL_CALL>")} >= {"<tool_call>"}
    assert almost_markers("<tool_call></tool_call><div><b>[1]") == []


@pytest.mark.replays
@pytest.mark.parametrize(
    "unit", ["<", "[f(", '{"a": {', "<tool_call>", "<toolcall>{", "</tool_call>{", "<think>a</think>"]
)
def test_guessing_takes_time_in_proportion_to_the_output(unit: str) -> None:
    guesses(unit)
    assert_linear(lambda size: seconds(lambda: guesses(unit * (size // len(unit)))), (1_000, 2_000, 4_000))


@pytest.mark.linear
def test_names_that_no_tool_can_have_are_looked_through_once() -> None:
    def work(size: int) -> float:
        calls = '<tool_call>\n{"name": ",f"}\n</tool_call>\n' * size
        return seconds(lambda: first_leave(read(builtin_formats()["qwen"], calls, Context())))

    assert_linear(work, (400, 800, 1_600))
