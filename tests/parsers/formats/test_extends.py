"""`extends` and `reasoning` are written out: what a file says, what its parent says, and where each part comes from."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.formats.extends import OWN, REASONING, Expanded, Origin, expand, pointer_to
from parsers.formats.model import builtin_formats, builtin_sources, load_format
from parsers.vocabulary.types import FormatError

DIGESTS = Path(__file__).with_name("digests.json")
SOURCES = builtin_sources()
OPEN = {"on": "OPEN", "to": "CALL", "emit": ["CallStart"]}
END = {"on": "END", "to": "CONTENT"}
CLOSE = {"on": "CLOSE", "to": "CONTENT", "emit": ["CallEnd"]}
CODEC = {"name": "tagged", "options": {"key_open": "<k>", "trim": "none"}}
BASE: dict[str, Any] = {
    "schema": 1,
    "name": "base",
    "title": "Base",
    "description": "What others extend.",
    "aliases": ["ground"],
    "initial": "CONTENT",
    "terminals": {"OPEN": "<call>", "CLOSE": "</call>"},
    "tokens": {"<call>": {"special": True}},
    "states": {
        "CONTENT": {"text": "content", "rows": [OPEN, END]},
        "CALL": {"codec": CODEC, "rows": [CLOSE, {"on": "END", "to": "CALL", "emit": ["CallEnd"]}]},
    },
    "policy": {"recovery": "fail", "unknown_tool": "drop"},
    "policies": ["recovery"],
    "models": {"id_contains": ["base"]},
    "provenance": [{"project": "p", "source": "s", "fact": "f"}],
    "example": "<call>",
}
HEAD = {"schema": 1, "name": "child", "title": "Child", "extends": "base"}
REASONS: dict[str, Any] = {
    "schema": 1,
    "name": "thinks",
    "title": "Thinks",
    "initial": "CONTENT",
    "reasoning": {"start": "<think>", "end": "</think>", "ended_by": {"OPEN": "A call ends it."}},
    "terminals": {"OPEN": "<call>", "CLOSE": "</call>"},
    "states": {
        "CONTENT": {"text": "content", "rows": [OPEN]},
        "CALL": {"codec": CODEC, "rows": [CLOSE]},
        "AFTER": {"text": "content", "rows": [{"on": "THINK_END"}, {"on": "CLOSE", "to": "AFTER"}]},
    },
}
KNOWN = {"base": BASE, "thinks": REASONS}


def written(data: Any) -> Any:
    return expand(data, KNOWN.get).data


def child(**more: Any) -> dict[str, Any]:
    return {**HEAD, **more}


def triggers(data: Any, state: str) -> list[str]:
    return [row["on"] for row in data["states"][state]["rows"]]


def content(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The states of a child that says these rows of CONTENT."""
    return {"CONTENT": {"rows": list(rows)}, **more}


# A file over its parent


def test_a_child_has_all_of_its_parent_but_what_says_which_format_it_is() -> None:
    own = ("description", "aliases", "models", "provenance", "example")
    assert written(HEAD) == {**{k: v for k, v in BASE.items() if k not in own}, "name": "child", "title": "Child"}
    assert load_format(written(HEAD)).states == load_format(BASE).states


LAID_OVER = [  # what the child says, the path to look at, what stands there
    ({"initial": "CALL"}, ("initial",), "CALL"),
    ({"terminals": {"CLOSE": "</c>"}}, ("terminals",), {"OPEN": "<call>", "CLOSE": "</c>"}),
    ({"terminals": {"CLOSE": None}}, ("terminals",), {"OPEN": "<call>"}),
    ({"tokens": {"</call>": {}}}, ("tokens",), {"</call>": {}}),
    ({"policies": ["unknown_tool"]}, ("policies",), ["unknown_tool"]),
    ({"policy": {"recovery": "content"}}, ("policy",), {"recovery": "content", "unknown_tool": "drop"}),
    ({"policy": {"recovery": None}}, ("policy",), {"unknown_tool": "drop"}),
    ({"states": {"CALL": {"text": "name"}}}, ("states", "CALL", "codec"), CODEC),
    ({"states": {"CALL": {"codec": {"options": {"trim": None}}}}},
     ("states", "CALL", "codec", "options"), {"key_open": "<k>"}),
    ({"states": {"CALL": {"codec": {"name": "tagged", "options": {"trim": "space"}}}}},
     ("states", "CALL", "codec", "options"), {"key_open": "<k>", "trim": "space"}),
    ({"states": {"CALL": {"codec": {"name": "json_span"}}}}, ("states", "CALL", "codec"), {"name": "json_span"}),
    ({"states": content({**OPEN, "note": "x"})}, ("states", "CONTENT", "rows"), [{**OPEN, "note": "x"}, END]),
    ({"states": content({"on": "OPEN", "to": None})}, ("states", "CONTENT", "rows"), [END]),
    ({"states": content({**OPEN, "when": {"recovery": ["fail"]}})}, ("states", "CONTENT", "rows"),
     [{**OPEN, "when": {"recovery": ["fail"]}}, OPEN, END]),
    ({"states": {"CONTENT": {"rows": 3}}}, ("states", "CONTENT", "rows"), 3),
    ({"states": 3}, ("states",), 3),
]  # fmt: skip


@pytest.mark.parametrize(("says", "path", "stands"), LAID_OVER)
def test_what_a_child_says_is_laid_over_its_parent(says: dict[str, Any], path: tuple[str, ...], stands: Any) -> None:
    before = deepcopy(BASE)
    found = written(child(**says))
    for step in path:
        found = found[step]
    assert found == stands
    assert before == BASE


ORDER = [  # rows of the child, the triggers in their order
    ([{"on": "CLOSE", "to": "CONTENT"}], ["CLOSE", "OPEN", "END"]),
    ([{"on": "OPEN"}, {"on": "CLOSE", "to": "CONTENT"}], ["OPEN", "CLOSE", "END"]),
    ([{"on": "OPEN", "to": "CALL"}, {"on": "A", "to": "CALL"}, {"on": "B", "to": "CALL"}], ["OPEN", "A", "B", "END"]),
    ([{"on": "OPEN", "to": None}, {"on": "A", "to": "CALL"}], ["A", "END"]),
    ([{"on": "END"}, {"on": "A", "to": "CALL"}], ["OPEN", "END", "A"]),
]


@pytest.mark.parametrize(("rows", "order"), ORDER)
def test_what_is_new_stands_behind_what_is_named_before_it(rows: list[dict[str, Any]], order: list[str]) -> None:
    assert triggers(written(child(states=content(*rows))), "CONTENT") == order


def test_states_and_terminals_follow_the_same_rule() -> None:
    new = {"text": "content", "rows": [END]}
    found = written(child(states={"CONTENT": {}, "NEW": new}, terminals={"FIRST": "1", "CLOSE": "2", "LAST": "3"}))
    assert list(found["states"]) == ["CONTENT", "NEW", "CALL"]
    assert list(found["terminals"]) == ["FIRST", "OPEN", "CLOSE", "LAST"]


def test_two_rows_with_one_guard_are_replaced_one_by_one() -> None:
    twice = {**BASE, "states": {"CONTENT": {"text": "content", "rows": [OPEN, {**OPEN, "to": "CONTENT"}, END]}}}
    found = expand(child(states=content({**OPEN, "note": "first"})), {"base": twice}.get).data
    assert [row.get("note") for row in found["states"]["CONTENT"]["rows"]] == ["first", None, None]


def test_a_chain_is_laid_over_from_the_eldest() -> None:
    middle = {**HEAD, "name": "middle", "terminals": {"CLOSE": "</m>"}}
    data = {**HEAD, "extends": "middle", "terminals": {"OPEN": "<c>"}}
    expanded = expand(data, {**KNOWN, "middle": middle}.get)
    assert expanded.data["terminals"] == {"OPEN": "<c>", "CLOSE": "</m>"}
    sources = [expanded.origin(pointer).source for pointer in ("/terminals/OPEN", "/terminals/CLOSE", "/states/CALL")]
    assert sources == [OWN, "middle", "base"]


# The reasoning block


def test_the_block_brings_in_two_terminals_a_state_and_rows_of_content() -> None:
    found = written(REASONS)
    assert "reasoning" not in found
    assert found["initial_when_reasoning_open"] == "REASONING"
    assert list(found["terminals"].items())[:2] == [("THINK_START", "<think>"), ("THINK_END", "</think>")]
    assert list(found["states"]) == ["CONTENT", "REASONING", "CALL", "AFTER"]
    assert found["states"]["REASONING"] == {
        "text": "reasoning",
        "rows": [
            {"on": "THINK_END", "to": "CONTENT", "emit": ["ReasoningEnd"]},
            {"on": "OPEN", "to": "CALL", "emit": ["ReasoningEnd", "CallStart"], "note": "A call ends it."},
            {"on": "END", "to": "REASONING"},
        ],
        "inert": ["THINK_START"],
    }
    assert triggers(found, "CONTENT") == ["OPEN", "THINK_START", "THINK_END", "END"]
    assert triggers(found, "AFTER") == ["THINK_START", "THINK_END", "CLOSE", "END"]
    assert triggers(found, "CALL") == ["CLOSE"]
    first, later = (found["states"][name]["rows"] for name in ("CONTENT", "AFTER"))
    assert (first[2]["emit"], first[2]["diagnostic"]) == (["ReasoningEnd"], "orphan_reasoning_end")
    assert ("emit" in later[1], later[1]["note"]) == (False, "Reasoning ends that is not open.")


OVER_THE_BLOCK = [  # what the file says, the path to look at, what stands there
    ({"initial_when_reasoning_open": "AFTER"}, ("initial_when_reasoning_open",), "AFTER"),
    ({"initial_when_reasoning_open": None}, (), "no initial_when_reasoning_open"),
    ({"terminals": {"OPEN": "o", "THINK_END": "e", "THINK_START": "s"}},
     ("terminals",), {"OPEN": "o", "THINK_END": "e", "THINK_START": "s"}),
    ({"states": {**REASONS["states"], "REASONING": {"inert": None, "note": "Thought."}}},
     ("states", "REASONING", "note"), "Thought."),
]  # fmt: skip


@pytest.mark.parametrize(("says", "path", "stands"), OVER_THE_BLOCK)
def test_what_a_file_says_itself_is_laid_over_the_block(
    says: dict[str, Any], path: tuple[str, ...], stands: Any
) -> None:
    found = written({**REASONS, **says})
    for step in path:
        found = found[step]
    assert (found == stands) if path else ("initial_when_reasoning_open" not in found)
    if "terminals" in says:
        assert list(found) == list(says["terminals"])


def test_rows_of_the_block_can_be_replaced_and_taken_away() -> None:
    states = deepcopy(REASONS["states"])
    states["AFTER"]["rows"] = [{"on": "THINK_START", "to": None}, {"on": "END", "to": "CONTENT"}]
    states["REASONING"] = {"rows": [{"on": "THINK_END"}, {"on": "CLOSE", "to": "REASONING"}]}
    found = written({**REASONS, "states": states})
    assert triggers(found, "REASONING") == ["THINK_END", "CLOSE", "OPEN", "END"]
    assert triggers(found, "AFTER") == ["THINK_END", "END"]
    assert found["states"]["AFTER"]["rows"][1]["to"] == "CONTENT"


def test_a_row_that_ends_reasoning_keeps_its_guards() -> None:
    guarded = [{**OPEN, "when": {"recovery": ["fail"]}, "keep": "again"}, {**OPEN, "when": {"recovery": ["content"]}}]
    states = {**REASONS["states"], "CONTENT": {"text": "content", "rows": guarded}}
    rows = written({**REASONS, "states": states})["states"]["REASONING"]["rows"]
    assert [(row.get("when"), row.get("keep")) for row in rows[1:3]] == [
        ({"recovery": ["fail"]}, "again"),
        ({"recovery": ["content"]}, None),
    ]


def test_a_child_may_change_the_block_of_its_parent_or_do_without_it() -> None:
    other = written({**HEAD, "extends": "thinks", "reasoning": {"start": "<t>", "ended_by": {"OPEN": None}}})
    assert (other["terminals"]["THINK_START"], other["terminals"]["THINK_END"]) == ("<t>", "</think>")
    assert triggers(other, "REASONING") == ["THINK_END", "END"]
    without = written({**HEAD, "extends": "thinks", "reasoning": None})
    assert (list(without["terminals"]), list(without["states"])) == (["OPEN", "CLOSE"], ["CONTENT", "CALL", "AFTER"])
    assert triggers(without, "AFTER") == ["CLOSE"]


def test_a_child_can_take_a_row_of_the_block_away_where_its_parent_holds_the_place() -> None:
    data = {**HEAD, "extends": "thinks", "states": {"AFTER": {"rows": [{"on": "THINK_END", "to": None}]}}}
    assert triggers(written(data), "AFTER") == ["THINK_START", "CLOSE", "END"]


def test_a_format_without_terminals_may_have_a_block() -> None:
    data = {key: item for key, item in REASONS.items() if key != "terminals"}
    data["reasoning"] = {"start": "<think>", "end": "</think>"}
    data["states"] = {"CONTENT": {"text": "content"}}
    assert triggers(written(data), "CONTENT") == ["THINK_START", "THINK_END", "END"]


# Where a part comes from


ORIGINS = [  # pointer into the expanded form, its source, pointer into the file
    ("/title", OWN, "/title"),
    ("/initial", "thinks", "/extends"),
    ("/terminals/OPEN", "thinks", "/extends"),
    ("/terminals/THINK_START", REASONING, "/extends"),
    ("/states/CONTENT", OWN, "/states/CONTENT"),
    ("/states/CONTENT/text", "thinks", "/extends"),
    ("/states/CONTENT/rows/0", OWN, "/states/CONTENT/rows/0"),
    ("/states/CONTENT/rows/0/to", OWN, "/states/CONTENT/rows/0/to"),
    ("/states/CONTENT/rows/1", "thinks", "/extends"),
    ("/states/CONTENT/rows/2/to", REASONING, "/extends"),
    ("/states/CALL/codec/options/trim", "thinks", "/extends"),
    ("/states/NEW~1ONE/rows/2/to", OWN, "/states/NEW~1ONE/rows/0/to"),
    ("/states/REASONING/rows/0", REASONING, "/extends"),
    ("/example", OWN, "/example"),
]


@pytest.mark.parametrize(("pointer", "source", "place"), ORIGINS)
def test_every_part_knows_where_it_is_written(pointer: str, source: str, place: str) -> None:
    states = content({"on": "CLOSE", "to": "CALL"}, **{"NEW/ONE": {"text": "content", "rows": [END]}})
    expanded = expand({**HEAD, "extends": "thinks", "states": states}, KNOWN.get)
    assert expanded.origin(pointer) == Origin(source, place)


def test_the_block_of_the_file_itself_is_where_its_rows_come_from() -> None:
    expanded = expand(REASONS, KNOWN.get)
    assert expanded.origin("/states/AFTER/rows/0") == Origin(REASONING, "/reasoning")
    assert expanded.origin("/states/AFTER/rows/2") == Origin(OWN, "/states/AFTER/rows/1")
    assert expanded.origin("/states/REASONING").label == "reasoning block"
    labels = [Origin(source, "").label for source in (OWN, "base")]
    assert labels == ["", "from base"]


@pytest.mark.parametrize("data", [BASE, {}, [], None, {"schema": "x"}])
def test_a_file_without_the_two_keys_comes_back_as_it_is(data: Any) -> None:
    expanded = expand(data, KNOWN.get)
    assert expanded == Expanded(data)
    assert expanded.data is data
    assert expanded.origin("/states/A") == Origin(OWN, "/states/A")


def test_a_pointer_escapes_its_steps() -> None:
    assert pointer_to("a/b~c", 0) == "/a~1b~0c/0"


# What is wrong


WRONG = [  # the file, the pointer, words of the message
    (child(extends="nobody"), "/extends", "there is no format 'nobody' to extend"),
    (child(extends=["base"]), "/extends", "there is no format ['base'] to extend"),
    (child(extends="loop"), "/extends", "loop, which this format extends, is wrong at /extends: other, which"),
    (child(extends="loop"), "/extends", "loop extends other extends loop: a format cannot extend itself"),
    (child(extends="bad"), "/extends", "the reasoning block from bad: must be an object; its keys are"),
    (child(terminals={"CLOSED": None}), "/terminals/CLOSED", "nothing to take away"),
    (child(states={"LOST": None}), "/states/LOST", "nothing to take away"),
    (child(states=content({"on": "CLOSE", "to": None})), "/states/CONTENT/rows/0", "nothing to take away"),
    (child(states=content(END, {"on": "CLOSE"})), "/states/CONTENT/rows/1", "the row needs `to`"),
    (child(states=content({"on": "OPEN", "when": {"recovery": ["fail"]}})), "/states/CONTENT/rows/0", "needs `to`"),
    ({**REASONS, "reasoning": 3}, "/reasoning", "must be an object; its keys are start, end, ended_by"),
    ({**REASONS, "reasoning": None}, "/reasoning", "must be an object"),
    ({**REASONS, "reasoning": {"starts": "<t>"}}, "/reasoning/starts", "unknown key; the keys here are start, end"),
    ({**REASONS, "reasoning": {"start": "<t>"}}, "/reasoning", "needs `end`, or a terminal THINK_END"),
    ({**REASONS, "reasoning": {"start": "a", "end": "b", "ended_by": ["OPEN"]}}, "/reasoning/ended_by", "the note of"),
    (
        {**REASONS, "reasoning": {"start": "a", "end": "b", "ended_by": {"CLOSE": "x"}}},
        "/reasoning/ended_by/CLOSE",
        "the first state has no row on CLOSE",
    ),
]


@pytest.mark.parametrize(("data", "pointer", "words"), WRONG)
def test_what_cannot_be_written_out_is_refused_with_its_place(data: Any, pointer: str, words: str) -> None:
    known = {
        **KNOWN,
        "loop": {**HEAD, "extends": "other"},
        "other": {**HEAD, "extends": "loop"},
        "bad": {**REASONS, "reasoning": "<think>"},
    }
    with pytest.raises(FormatError) as caught:
        load_format(expand(data, known.get).data)
    assert caught.value.pointer == pointer
    assert words in caught.value.message


BROKEN = [  # what no key of the two can mend
    ({**REASONS, "initial": "NOWHERE"}, "/initial"),
    ({**REASONS, "initial": ["CONTENT"]}, "/initial"),
    ({key: item for key, item in REASONS.items() if key != "initial"}, "/initial"),
    ({**HEAD, "extends": "thinks", "states": {"CONTENT": None}}, "/extends"),
    ({**REASONS, "states": []}, "/states"),
    ({key: item for key, item in REASONS.items() if key != "states"}, "/states"),
    ({**REASONS, "reasoning": {"start": 3, "end": "b"}}, "/terminals/THINK_START"),
    (child(states=content({"to": "CONTENT"})), "/states/CONTENT/rows/0/on"),
    (
        {**REASONS, "states": {**REASONS["states"], "CONTENT": {"rows": [{**OPEN, "emit": 3}]}}},
        "/states/CONTENT/rows/0/emit",
    ),
]


@pytest.mark.parametrize(("data", "pointer"), BROKEN)
def test_what_is_no_format_without_the_two_keys_is_none_with_them(data: Any, pointer: str) -> None:
    with pytest.raises(FormatError) as caught:
        load_format(written(data))
    assert caught.value.pointer == pointer


@pytest.mark.parametrize("key", ["extends", "reasoning"])
def test_a_format_that_is_not_written_out_is_refused_in_one_sentence(key: str) -> None:
    with pytest.raises(FormatError) as caught:
        load_format({**BASE, key: "base"})
    assert caught.value.message.startswith(f"`{key}` belongs in a format file only: here the format stands written out")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["CONTENT", "OPEN", "base", "content"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["on", "to", "when", "OPEN"]), inner),
    max_leaves=6,
)
ROWS = st.lists(
    st.fixed_dictionaries({"on": st.sampled_from(["OPEN", "END", "X"])}, optional={"to": JSON, "when": JSON})
)
STATE = st.fixed_dictionaries({}, optional={"text": JSON, "codec": JSON, "rows": ROWS | JSON, "inert": JSON})
FILES = st.fixed_dictionaries(
    {"initial": st.just("CONTENT") | JSON},
    optional={
        "extends": st.sampled_from(["base", "thinks", "child"]) | JSON,
        "reasoning": st.fixed_dictionaries({"start": JSON, "end": JSON}, optional={"ended_by": JSON}) | JSON,
        "terminals": JSON,
        "states": st.dictionaries(st.sampled_from(["CONTENT", "REASONING", "CALL", "A"]), STATE) | JSON,
    },
)


@pytest.mark.replays
@given(FILES)
def test_no_file_makes_it_raise_anything_but_a_format_error(data: dict[str, Any]) -> None:
    before = json.dumps(data)
    with suppress(FormatError):
        expanded = expand(data, {**KNOWN, "child": data}.get)
        assert {expanded.origin(pointer).source for pointer in expanded.origins} <= {OWN, REASONING, *KNOWN, "child"}
        json.dumps(expanded.data)
    assert json.dumps(data) == before


# The built-in formats


def test_the_expanded_built_in_formats_are_those_of_the_table() -> None:
    """A change in one file changes the formats that extend it: the table makes each of them a line of the diff."""
    dumps = {name: json.dumps(fmt.model_dump(by_alias=True)) for name, fmt in builtin_formats().items()}
    digests = {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in dumps.items()}
    assert digests == json.loads(DIGESTS.read_text("utf-8")), f"if this is meant, write it into {DIGESTS.name}"


@pytest.mark.parametrize("name", SOURCES)
def test_a_built_in_file_is_named_like_its_format_and_expands_to_it(name: str) -> None:
    expanded = expand(SOURCES[name], SOURCES.get)
    assert load_format(expanded.data) == builtin_formats()[name]
    assert SOURCES[name]["name"] == name
    assert {expanded.origin(pointer).source for pointer in expanded.origins} <= {OWN, REASONING, *SOURCES}


@pytest.mark.replays
@pytest.mark.parametrize("name", [name for name, data in SOURCES.items() if {"extends", "reasoning"} & data.keys()])
def test_a_built_in_file_repeats_no_row_of_its_parent_or_its_block(name: str) -> None:
    data = SOURCES[name]
    states = {state: (says or {}).get("rows", ()) for state, says in data.get("states", {}).items()}
    places = [(state, index) for state, rows in states.items() for index in range(len(rows))]
    assert [place for place in places if is_redundant(data, *place)] == []


def is_redundant(data: dict[str, Any], state: str, index: int) -> bool:
    less = deepcopy(data)
    del less["states"][state]["rows"][index]
    try:
        return load_format(expand(less, SOURCES.get).data) == builtin_formats()[data["name"]]
    except FormatError:
        return False
