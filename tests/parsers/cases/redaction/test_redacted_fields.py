"""No field of the case model lets through what somebody wrote, but for those that are listed here and in the docs.

The fields are those of the JSON Schema, so that a new one cannot be forgotten.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.case import Case, NamedTool
from parsers.cases.redaction.redacted_data import redacted
from parsers.cases.redaction.redacted_stream import API_WORDS

PRIVATE = "zzwolframzz"  # as a name or a code may be
PHRASE = "Zz Wolfram said it."
SCHEMA = Case.model_json_schema(by_alias=True)
SCHEMA["$defs"]["RequestContext"]["properties"]["tool_choice"] = NamedTool.model_json_schema()  # the schema says less
SCHEMA["$defs"]["Token"]["prefixItems"][2]["properties"].pop("hex")  # bytes of the text, which go with it
BASE: dict[str, Any] = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Hi"}}
DOCS = Path(__file__).parents[4] / "docs/cli.md"
FORMAT = "/parser/format/"

# Fields that stay as they are, and the words of `docs/cli.md` that say so. A slash at the end: all that is in it.
STAYS = {
    "/parser/name": "the names of parser",
    "/parser/engine": "engine",
    "/parser/options/": "the options of the parser",
    "/parser/markers": "of the case's parser and of its vocabulary",
    "/source/kind": "the kind, version and licence of what was recorded",
    "/source/engine": "engine",
    "/source/version": "the kind, version and licence of what was recorded",
    "/source/licence": "the kind, version and licence of what was recorded",
    "/contract": "contract",
    "/contract/name": "contract",
    "/tokenizer/name": "tokenizer",
    "/tokenizer/vocab/": "of the case's parser and of its vocabulary",
    "/context/model_type": "the type of the model",
    "/context/template_kwargs/KEY": "the keys of template arguments",
    "/checks": "the names of checks",
    "/engines/KEY": "engine",
    **dict.fromkeys(
        [f"{FORMAT}{rest}" for rest in (
            "name", "initial", "initial_when_reasoning_open", "terminals/", "tokens/", "splits/markup", "end_tokens",
            "states/KEY", "states/*/codec/", "states/*/wrapper", "states/*/inert", "states/*/rows/on",
            "states/*/rows/to", "states/*/rows/when/", "states/*/rows/diagnostic", "policies",
        )],
        "markers, rules and their names",
    ),
}  # fmt: skip
# Of these only a code stays, and no sentence: the schema tells neither from the other.
CODES = frozenset({f"{FORMAT}states/*/rows/diagnostic"})


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    return SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def least(schema: dict[str, Any]) -> Any:
    """The smallest value of a schema, of letters that nobody would call private."""
    schema = resolved(schema)
    if "const" in schema or "enum" in schema:
        return schema.get("const", (schema.get("enum") or [None])[0])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return least(schema[key][0])
    match schema.get("type"):
        case "object":
            return {name: least(schema["properties"][name]) for name in schema.get("required", ())}
        case "array":
            return [least(one) for one in schema.get("prefixItems", ())][: schema.get("minItems", 0)]
        case "string":
            return "ab"
        case "boolean":
            return True
        case "null":
            return None
    return 7


def planted(schema: dict[str, Any], private: str, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every place of a schema where a text may stand, with the smallest value that has the private text there."""
    schema = resolved(schema)
    for one in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from planted(one, private, path)
    if (
        schema.get("type") == "string"
        and not {"enum", "const"} & schema.keys()
        and re.search(schema.get("pattern", ""), private)
    ):
        yield path, private
    if schema.get("type") == "array":
        before = schema.get("prefixItems", ())
        for at, one in enumerate(before):
            for where, value in planted(one, private, f"{path}/{at}"):
                yield where, [*map(least, before[:at]), value, *map(least, before[at + 1 : schema["minItems"]])]
        for where, value in planted(schema.get("items") or {}, private, path):
            yield where, [value]
    if schema.get("type") == "object":
        yield from planted_in_object(schema, private, path)


def planted_in_object(schema: dict[str, Any], private: str, path: str) -> Iterator[tuple[str, Any]]:
    for name, one in schema.get("properties", {}).items():
        for where, value in planted(one, private, f"{path}/{name}"):
            yield where, {**least(schema), name: value}
    more = schema.get("additionalProperties") or next(iter(schema.get("patternProperties", {}).values()), None)
    if more is True:
        yield f"{path}/KEY", {private: True}
        yield from [(path, {"k": value}) for value in (private, [private], {"k": private})]
    elif isinstance(more, dict):
        yield f"{path}/KEY", {private: least(more)}
        for where, value in planted(more, private, f"{path}/*"):
            yield where, {"k": value}


PLANTED = [(private, where, case) for private in (PRIVATE, PHRASE) for where, case in planted(SCHEMA, private)]


def stays(where: str) -> str | None:
    """The words of the docs for a place that stays, by itself or as a part of one."""
    found = [
        words
        for place, words in STAYS.items()
        if where == place or (place[-1] == "/" and f"{where}/".startswith(place))
    ]
    return found[0] if found else None


def say(text: str) -> str:
    return "".join(["x" if char.isalpha() else char for char in text])


def made(case: dict[str, Any]) -> str:
    return json.dumps(redacted({**BASE, **{key: value for key, value in case.items() if value is not None}}, say))


@pytest.mark.parametrize(("private", "where", "case"), PLANTED, ids=[where for _, where, _ in PLANTED])
def test_a_private_text_stays_in_no_field_but_those_of_which_the_docs_say_so(
    private: str, where: str, case: dict[str, Any]
) -> None:
    assert private in json.dumps(case)
    words = None if private == PHRASE and where in CODES else stays(where)
    assert (private in made(case)) == (words is not None)
    assert words is None or words in " ".join(DOCS.read_text().split())


def test_every_field_of_the_model_is_looked_at() -> None:
    places = {where for _, where, _ in PLANTED}
    assert {"/$schema", "/contract/title", "/contract/provenance/fact", "/tokenizer/revision"} <= places
    assert {"/input/stream", "/input/tokens/1", "/expect/events/text", "/engines/*/notes", "/tools/KEY"} <= places
    assert {place for place in STAYS if not any(f"{where}/".startswith(place) for where in places)} == set()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"tokenizer": {"name": "qwen", "revision": "acme", "fingerprint": "0af" + "0" * 61}},
         {"tokenizer": {"name": "qwen", "fingerprint": "0af" + "0" * 61}}),
        ({"tokenizer": None, "contract": "vllm"}, {"tokenizer": None, "contract": "vllm"}),
        ({"contract": {"name": "own", "title": "Acme", "unknown_tool": ["drop"],
                       "robustness": {"escaped.value": "info", "acme.value": "info"}}},
         {"contract": {"name": "own", "unknown_tool": ["drop"], "robustness": {"escaped.value": "info"}}}),
        ({"parser": {"name": "own", "engine": "vllm", "policy": {"recovery": "fail", "a": "a", "unknown_tool": "b"}}},
         {"parser": {"name": "own", "engine": "vllm", "policy": {"recovery": "fail"}}}),
        ({"context": {"finish_reason": "length"}, "expect": {"finish_reason": "acme"}},
         {"context": {"finish_reason": "length"}, "expect": {"finish_reason": "xxxx"}}),
    ],
)  # fmt: skip
def test_what_a_replay_or_a_search_goes_by_stays(given: dict[str, Any], told: dict[str, Any]) -> None:
    found = redacted({**BASE, **given}, say)
    assert {key: found[key] for key in told} == told


def test_words_of_apis_say_why_an_answer_ended() -> None:
    assert {"stop", "length", "tool_calls"} <= API_WORDS
