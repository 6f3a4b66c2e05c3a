"""What of a case is said again in other words, what stays, and what is left out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.cases.redaction.redacted_data import redacted


def say(text: str) -> str:
    """Every letter is an x: texts keep their length."""
    return "".join(["x" if char.isalpha() else "7" if char.isdigit() else char for char in text])


CASE: dict[str, Any] = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Hi"}}


def made(**more: Any) -> dict[str, Any]:
    return redacted({**CASE, **more}, say)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"title": "One", "notes": ["Two"], "flags": ["F"], "tags": ["t"]}, {"title": "xxx", "notes": ["xxx"]}),
        ({"parent": "0123456789abcdef"}, {}),
        ({"source": {"kind": "recorded", "link": "l", "project": "p", "model": "m", "engine": "vllm 1"}},
         {"source": {"kind": "recorded", "engine": "vllm 1", "model": "x", "redacted": True}}),
        ({}, {"source": {"kind": "redacted", "redacted": True}}),
        ({"contract": "vllm", "verdict": "known_bug", "checks": ["chunking"], "replay": [{"by": "char"}]},
         {"contract": "vllm", "verdict": "known_bug", "checks": ["chunking"], "replay": [{"by": "char"}]}),
        ({"parser": {"name": "own", "format": {"name": "own", "example": "secret"}}},
         {"parser": {"name": "own", "format": {"name": "own"}}}),
        ({"decode": {"policy": "sglang", "stop": ["End"]}}, {"decode": {"policy": "sglang", "stop": ["xxx"]}}),
        ({"context": {"prompt_tail": ["a\n", "b"], "tool_choice": {"name": "f"}, "model": "m", "strict": True,
                      "id_seed": 49, "template_kwargs": {"enable_thinking": True, "city": "Bern"}}},
         {"context": {"prompt_tail": "x\nx", "tool_choice": {"name": "x"}, "model": "x", "strict": True,
                      "id_seed": 77, "template_kwargs": {"enable_thinking": True, "city": "xxxx"}}}),
        ({"context": {"tool_choice": "none"}}, {"context": {"tool_choice": "none"}}),
        ({"expect": None}, {"expect": None}),
        ({"expect": {"reasoning": None, "content": ["a\n", "b"], "finish_reason": "stop", "tool_calls": [
            {"name": "f", "arguments": {"k": ["v", 12, 1.5, True, None]}}, {"name": "g", "raw": "{}"}],
            "events": [{"kind": "text", "text": "a"}]}},
         {"expect": {"reasoning": None, "content": "x\nx", "finish_reason": "stop", "tool_calls": [
             {"name": "x", "arguments": {"x": ["x", 77, 7.7, True, None]}}, {"name": "x", "raw": "{}"}],
             "events": [{"kind": "text", "text": "x"}]}}),
        ({"engines": {"vllm": {"verdict": "known_bug", "link": "l", "notes": ["n"], "expect": {"content": "c"}},
                      "sglang": {}}},
         {"engines": {"vllm": {"verdict": "known_bug", "notes": ["x"], "expect": {"content": "x"}}, "sglang": {}}}),
    ],
)  # fmt: skip
def test_each_part_of_a_case(given: dict[str, Any], told: dict[str, Any]) -> None:
    found = made(**given)
    assert {key: found.get(key) for key in told} == told
    assert "parent" not in found


SUM = {"minimum": 25, "maximum": 4711.23, "multipleOf": 10000, "minLength": 12345, "x-no": 734, "x-is-a": True}


def test_a_tool_keeps_the_words_of_schemas_where_they_are_no_names() -> None:
    tool = {
        "type": "function",
        "function": {
            "name": "pay",
            "description": "Pay it",
            "parameters": {
                "type": "object",
                "properties": {"type": {"type": "string", "enum": ["a", 5], "format": "date"}, "sum": SUM},
                "required": ["sum"],
                "$defs": {"Iban": {"pattern": "^DE"}},
                "items": [{"$ref": "#/$defs/Iban"}],
                "x-own": "word",
                "oneOf": [
                    {"type": ["string", "acme"], "format": "acme-no", "$schema": "https://acme.example/s"},
                    {"$schema": "https://json-schema.org/draft/2020-12/schema"},
                ],
            },
        },
    }
    (found,) = made(tools=[tool])["tools"]
    schema = found["function"]["parameters"]
    assert (found["type"], found["function"]["name"], found["function"]["description"]) == ("function", "xxx", "xxx xx")
    assert schema["properties"] == {
        "xxxx": {"type": "string", "enum": ["x", 7], "format": "date"},
        "xxx": {
            "minimum": 25,
            "maximum": 7777.77,
            "multipleOf": 10000,
            "minLength": 12345,
            "x-xx": 777,
            "x-xx-x": True,
        },
    }
    assert (schema["required"], schema["$defs"]) == (["xxx"], {"xxxx": {"pattern": "^xx"}})
    assert schema["oneOf"] == [
        {"type": ["string", "xxxx"], "format": "xxxx-xx", "$schema": "xxxxx://xxxx.xxxxxxx/x"},
        {"$schema": "https://json-schema.org/draft/2020-12/schema"},
    ]
    assert (schema["items"], schema["x-xxx"]) == ([{"$ref": "#/$defs/xxxx"}], "xxxx")


TOKENS: list[list[Any]] = [[5, "<t>", {"kind": "special"}], [70, "he"], [71, "y"], [70, "he"], [72, "\n"], [None, "a"]]


def test_ids_of_changed_tokens_are_numbers_and_those_of_markers_and_signs_stay() -> None:
    deltas = [{"text": "<t>hey", "ids": [5, 70, 71]}, {"text": "he\na", "ids": [70, 72]}]
    found = made(input={"tokens": TOKENS, "deltas": deltas})["input"]
    assert found["tokens"] == [
        [5, "<x>", {"kind": "special"}], [1000, "xx"], [1001, "x"], [1000, "xx"], [72, "\n"], [None, "x"],
    ]  # fmt: skip
    assert [delta["ids"] for delta in found["deltas"]] == [[5, 1000, 1001], [1000, 72]]


def test_ids_stay_where_that_is_asked_for_and_of_a_vocabulary() -> None:
    data = {**CASE, "input": {"tokens": TOKENS}, "tokenizer": {"vocab": {"y": 71}}}
    kept = redacted(data, say, keep_ids=True, keep_model=True)["input"]["tokens"]
    assert [token[0] for token in kept] == [token[0] for token in TOKENS]
    assert [token[0] for token in redacted(data, say)["input"]["tokens"]] == [5, 1000, 71, 1000, 72, None]


def test_numbers_for_ids_pass_over_those_that_are_taken() -> None:
    found = made(input={"tokens": [[1000, "a"], [1001, "."]]})["input"]["tokens"]
    assert found == [[1002, "x"], [1001, "."]]


def test_ids_of_deltas_without_tokens_are_numbered_alike() -> None:
    found = made(input={"deltas": [{"text": "ab", "ids": [9, 9]}, {"text": "c"}]})["input"]["deltas"]
    assert found == [{"text": "xx", "ids": [1000, 1000]}, {"text": "x"}]


def test_bytes_of_a_character_in_parts_are_those_of_the_new_one() -> None:
    tokens = [[1, "", {"hex": "c3", "kind": "partial"}], [2, "é", {"hex": "a9"}], [3, "ab"]]
    found = redacted({**CASE, "input": {"tokens": tokens}}, lambda text: text.replace("é", "ü").replace("a", "b"))
    assert found["input"]["tokens"] == [
        [1, "", {"kind": "partial", "hex": "c3"}], [1000, "ü", {"hex": "bc"}], [1001, "bb"],
    ]  # fmt: skip


def test_bytes_that_do_not_spell_the_text_stay_only_beside_a_text_that_stays() -> None:
    tokens = [[1, "a", {"hex": "ff"}], [2, ".", {"hex": "fe"}]]
    assert made(input={"tokens": tokens})["input"]["tokens"] == [[1000, "x"], [2, ".", {"hex": "fe"}]]


def chunk(delta: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "c-1", "object": "chunk", "choices": [{"index": 0, "delta": delta, "logprobs": {"a": 1}, **more}]}


def test_a_stream_is_said_in_whole_texts_and_cut_where_it_was() -> None:
    heard: list[str] = []
    stream = [
        chunk({"role": "assistant", "content": "Hel"}, token_ids=[7, 8]),
        chunk({"content": "lo"}, token_ids=[7]),
        chunk(
            {"tool_calls": [{"index": 0, "id": "k", "type": "function", "function": {"name": "f", "arguments": '{"a'}}]}
        ),
        chunk({"tool_calls": [{"index": 0, "id": "k", "function": {"arguments": '":1}'}}]}, finish_reason="stop"),
        chunk({"tool_calls": [{"index": 1, "function": {"arguments": {"b": "c"}}}]}),
        {"usage": {"total_tokens": 32}, "choices": [{"text": "one"}, "two"]},
    ]

    def listen(text: str) -> str:
        heard.append(text)
        return say(text)

    found = redacted({**CASE, "input": {"stream": stream}}, listen)["input"]["stream"]
    assert {"Hello", '{"a":1}', "c-1", "k", "one"} <= {*heard}
    assert [one["choices"][0]["delta"].get("content") for one in found[:2]] == ["xxx", "xx"]
    assert [one["choices"][0].get("token_ids") for one in found[:2]] == [[1000, 1001], [1000]]
    assert found[2]["choices"][0]["delta"]["tool_calls"][0]["type"] == "function"
    assert found[4]["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] == {"x": "x"}
    assert (found[3]["choices"][0]["finish_reason"], found[5]["usage"]) == ("stop", {"total_tokens": 32})
    assert "logprobs" not in found[0]["choices"][0]


OWN = [
    ({"metadata": {"jones_4": {"ssn": 12.5, "ok": True}}}, {"metadata": {"xxxxx_7": {"xxx": 77.7, "xx": True}}}),
    ({"user_id": 987654321, "created": 1764}, {"xxxx_xx": 777777777, "created": 7777}),
    ({"usage": {"total_tokens": 32, "acme_tokens": 32}}, {"usage": {"total_tokens": 32, "xxxx_xxxxxx": 77}}),
    ({"stop_reason": "Acme"}, {"stop_reason": "xxxx"}),
    ({"stop_reason": "end_turn", "matched_stop": 151645}, {"stop_reason": "end_turn", "matched_stop": 777777}),
    ({"matched_stop": ["Acme", None]}, {"matched_stop": ["xxxx", None]}),
    ({"type": "acme", "object": {"a": 5}}, {"type": "xxxx", "object": {"x": 7}}),
    ({"index": [], "finish_reason": {}}, {"index": [], "finish_reason": {}}),
    ({"ended_by": {"stop_reason": "tool_use"}}, {"ended_by": {"stop_reason": "tool_use"}}),
]  # fmt: skip


@pytest.mark.parametrize(("given", "told"), OWN)
def test_of_a_chunk_stays_what_its_api_says_and_nothing_that_somebody_put_there(
    given: dict[str, Any], told: dict[str, Any]
) -> None:
    stream = [{**given, "choices": [given]}]
    assert made(input={"stream": stream})["input"]["stream"] == [{**told, "choices": [told]}]


KEYS = st.sampled_from(
    ["index", "delta", "choices", "message", "content", "text", "id", "arguments", "token_ids", "matched_stop"]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(KEYS | st.text(max_size=3), inside, max_size=4),
    max_leaves=10,
)


@given(st.lists(st.dictionaries(KEYS, json_values, max_size=4), max_size=3))
@pytest.mark.replays
def test_any_json_is_redacted_to_the_same_shapes(stream: list[dict[str, Any]]) -> None:
    told = redacted({**CASE, "input": {"stream": stream}}, lambda text: text, keep_ids=True)
    assert told["input"]["stream"] == stream
