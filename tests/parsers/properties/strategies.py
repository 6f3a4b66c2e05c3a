"""What is drawn: messages, outputs with damage, noise of markers and JSON, policies, request contexts.

Strategies are made once for each dialect and parser: making them takes longer than drawing from them.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from hypothesis import strategies as st

from parsers.cases.written.dialects import DIALECTS
from parsers.cases.written.notation import Call, Dialect, Spoken
from parsers.formats.lint import closers_of
from parsers.formats.model import Format, policy_values
from parsers.machine.program import literals
from parsers.selection.registry import get_format, names
from parsers.vocabulary.types import Context, Tool
from tests.parsers.properties.invariants import Run, as_ids, as_text

PARSERS = tuple(names())
WRITTEN = tuple(dict.fromkeys(dialect.parser for dialect in DIALECTS.values()))
PYTHON_BITS = (
    *"[](){},=:'\"\\f \n",
    *("[f(a=1", "[f(s='", "[f(", ", g(", "(1, ", "{'k': ", "b = ", "a=", "=='", "True", "None", "x.y", "call:", "')]"),
    *("-5", "1_0", "0x1F", ".5", "007", "b'", "''", "'''", "\\x4", "\\ud83d", "\\ude00", "\\12", "\\N{", "BULLET}"),
)
KEYVALUE_BITS = (
    *"[](){},:f \n",
    *("call:f{a:", "call:f{", "call:", "f{", "a:", "s:", "o:{x:", "true", "12", "1.", "x y", '"x"', "{{", "}}", "<|"),
    *("}<tool_call|>", "<|tool_call>call:f{s:", "thought\n", "thought", "word\n", "<esc"),
)
EXTRA = {
    **dict.fromkeys(("pythonic", "llama4_pythonic", "lfm2", "olmo3"), PYTHON_BITS),
    **dict.fromkeys(("gemma4", "functiongemma"), KEYVALUE_BITS),
    "qwen_coder": ("&amp;", "&am"),
    "kimik2": ("functions.f:0", "f:1"),
    "mistral": ("abcdefghi", "f"),
    "hunyuan": ("</arg_key>", "<arg_value>", "</arg_value>", "\n<arg_key>", "f", "a"),
}
JSON_BITS = (
    *'{}[]:,"\\-',
    *('\\"', "\\\\", "\\u00", "\\ud83d", "e9", "\\n", "1", "2.5", "tr", "ue", "nul", "null", '""'),
    *('"name"', '"arguments"', '"parameters"', '"name":', '"f"', '"name": "f"', '"arguments":', '"a":', '"s":'),
    *('{"name":"f","arguments":{"a":1}}', '{"arguments":{"a":"1"},"name":"f"}', '{"a": "x"}', '{"name": "g", '),
)
MENTION_BITS = (" now.", "I could call ", " f ", "[{", '[{"name":"f","parameters":{"a":', "}]", "[]", '{"a": 1}')
WORDS = (" ", "\n", "  \n", "x", "hello", "é", "😀", "\u2028", "\x00", "<", "&", ";", "; ", "/", "|", "\t")
TOOLS: tuple[tuple[Tool, ...], ...] = (
    (),
    (Tool("f", {}), Tool("g")),
    (
        Tool(
            "f",
            {
                "type": "object",
                "properties": {
                    "a": {"type": "integer"},
                    "s": {"type": "string"},
                    "n": {"type": ["number", "null"]},
                    "o": {"type": "object", "properties": {"x": {"type": "boolean"}}},
                },
            },
        ),
    ),
)

drawn_names = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=12).map(lambda name: "f" + name)
letters = st.sampled_from(string.ascii_letters + string.digits + " \n\t.,:'\"\\/{}[]()<>|&=_-éß漢😀\u00a0\u2028")


def marker_texts(fmt: Format) -> tuple[str, ...]:
    return (*dict.fromkeys(literals(fmt)), *EXTRA.get(fmt.name, ()))


def seen_in_text(fmt: Format) -> list[str]:
    """The literals that mean something in content or reasoning."""
    open_states = [state for state in fmt.states.values() if state.text in ("content", "reasoning")]
    used = [row.on for state in open_states for row in state.rows if row.on in fmt.terminals]
    return [*dict.fromkeys(fmt.terminals[name] for name in used), *fmt.end_tokens]


def closers(fmt: Format) -> tuple[str, ...]:
    """What ends a value of the format where nothing can be escaped, wherever it stands in it."""
    options = [state.codec.options for state in fmt.states.values() if state.codec]
    own = [one[key] for one in options for key in ("open", "close") if key in one]
    first = [one["value_close"] for one in options if "value_close" in one and not one.get("followed")]
    return (*own, *first, *[text for one in options for text in one.get("implied_close", ())])


def followed_closers(fmt: Format) -> tuple[str, ...]:
    """What ends a value of the format where a tag follows."""
    options = [state.codec.options for state in fmt.states.values() if state.codec]
    return tuple([one["value_close"] for one in options if one.get("followed")])


def _tag_after_closer(fmt: Format) -> re.Pattern[str]:
    """A closer before what may be a tag; every marker is taken for one."""
    tags = "|".join([re.escape(text.rstrip('=">')) for text in marker_texts(fmt)])
    closing = "|".join(map(re.escape, followed_closers(fmt)))
    return re.compile(rf"(?:{closing})\s*(?:{tags})" if closing else r"(?!)")


def _has(text: str, parts: Sequence[str]) -> bool:
    return any(part in text for part in parts)


@cache
def prose(dialect: Dialect) -> st.SearchStrategy[str]:
    """Text that holds no marker, but beginnings of markers; nothing that llama takes for a call or a separator."""
    markers = seen_in_text(get_format(dialect.parser))
    starts = st.sampled_from([text[: len(text) // 2] for text in markers] or ["<"])
    parts = st.lists(letters | starts | st.text(letters, max_size=12), max_size=5)
    return parts.map(partial(_without, markers))


def _without(markers: Sequence[str], parts: Sequence[str]) -> str:
    text = "".join(parts)
    for marker in markers:
        text = text.replace(marker, "")
    return text if not _has(text, markers) else ""


@cache
def values(dialect: Dialect) -> st.SearchStrategy[Any]:
    """A JSON value with marker texts and escapes in its strings."""
    markers = st.sampled_from([*marker_texts(get_format(dialect.parser)), '\\"', "\\", '{"name": "g"}', "\u0000"])
    texts = st.lists(markers | letters | st.text(max_size=6), max_size=4).map("".join)
    leaves = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(-1e6, 1e6) | texts
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
    )


def own_values(dialect: Dialect) -> st.SearchStrategy[Any]:
    """Values that a notation of the format's own can say: no string holds what closes strings, or the call."""
    fmt = get_format(dialect.parser)
    ends = [*{text for _, text in closers_of(fmt)}, fmt.terminals.get("CALL_END", "\ud800")]
    return values(dialect).filter(lambda value: not _has("\n".join(strings_in(value)), ends))


def strings_in(value: Any) -> list[str]:
    """Every string of a value, keys too."""
    if isinstance(value, dict):
        return [*value, *(text for one in value.values() for text in strings_in(one))]
    if isinstance(value, list):
        return [text for one in value for text in strings_in(one)]
    return [value] if isinstance(value, str) else []


@cache
def arguments(dialect: Dialect) -> st.SearchStrategy[dict[str, Any]]:
    """The arguments of a call. Where the format cannot escape, no text holds what would close it."""
    if dialect.values == "own":
        return st.dictionaries(st.from_regex(r"[a-z][a-z_0-9]{0,5}", fullmatch=True), own_values(dialect), max_size=4)
    if dialect.values not in ("tags", "typed"):
        return st.dictionaries(st.text(letters, max_size=6) | st.just("name"), values(dialect), max_size=4)
    keys = st.text(string.ascii_letters + "_é.", min_size=1, max_size=8)
    drawn = st.dictionaries(keys, values(dialect), max_size=4)
    fmt = get_format(dialect.parser)
    return drawn.map(partial(_that_stay_open, closers(fmt), _tag_after_closer(fmt)))


def _that_stay_open(ends: Sequence[str], tagged: re.Pattern[str], drawn: dict[str, Any]) -> dict[str, Any]:
    """The arguments, empty where a value holds what ends it."""
    kept = {}
    for key, value in drawn.items():
        written = f"\n{value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}\n"
        closes = _has(written, ends) or _has(json.dumps(value), ends) or tagged.search(written)
        kept[key] = "" if closes else value
    return kept


@cache
def messages(dialect: Dialect) -> st.SearchStrategy[Spoken]:
    """A message that the format can write."""
    calls = st.lists(st.builds(Call, drawn_names, arguments(dialect)), max_size=3)
    texts, styles = prose(dialect), st.integers(0, 11)
    reasoning = st.none() | texts if dialect.think else st.none()

    @st.composite
    def message(draw: st.DrawFn) -> Spoken:
        said = draw(calls)
        return Spoken([draw(texts) for _ in range(len(said) + 1)], said, draw(reasoning), draw(styles))

    return message()


@cache
def noise(parser: str) -> st.SearchStrategy[str]:
    """Arbitrary text over the format's markers, pieces of JSON and words."""
    bits = st.sampled_from((*marker_texts(get_format(parser)), "<tool_call>"))
    parts = st.one_of(bits, bits, st.sampled_from(JSON_BITS), st.sampled_from((*WORDS, *MENTION_BITS)))
    return st.lists(parts, max_size=16).map("".join)


@cache
def damaged(parser: str) -> st.SearchStrategy[str]:
    """A good output, then cut, and with parts deleted, doubled, swapped or put in."""
    dialects = st.sampled_from([one for one in DIALECTS.values() if one.parser == parser])
    bits = st.sampled_from((*marker_texts(get_format(parser)), *JSON_BITS, *WORDS))
    kinds = st.lists(st.sampled_from(["cut", "delete", "double", "swap", "insert"]), min_size=1, max_size=3)

    @st.composite
    def output(draw: st.DrawFn) -> str:
        dialect = draw(dialects)
        text = dialect.write(draw(messages(dialect)))
        for kind in draw(kinds):
            start = draw(st.integers(0, len(text)))
            end = min(len(text), start + draw(st.integers(0, 12)))
            text = {
                "cut": text[:start],
                "delete": text[:start] + text[end:],
                "double": text[:end] + text[start:],
                "swap": text[end:] + text[start:end] + text[:start],
                "insert": text[:start] + draw(bits) + text[start:],
            }[kind]
        return text

    return output()


def policies_of(fmt: Format) -> st.SearchStrategy[dict[str, str]]:
    """Some policies of the format with any of their values."""
    values_of = policy_values()
    optional = {name: st.sampled_from(values_of[name]) for name in fmt.policies}
    return st.fixed_dictionaries({}, optional=optional)


contexts = st.builds(
    Context,
    tools=st.sampled_from(TOOLS),
    tool_choice=st.sampled_from(["auto", "auto", "auto", "none", "required", "named"]),
    named_tool=st.just("f"),
    reasoning_open=st.booleans(),
    finish_reason=st.sampled_from([None, "stop", "length"]),
)


def runs(parser: str, texts: st.SearchStrategy[str]) -> st.SearchStrategy[Run]:
    """Outputs of a built-in parser."""
    return runs_of(get_format(parser), texts)


@st.composite
def runs_of(draw: st.DrawFn, fmt: Format, texts: st.SearchStrategy[str]) -> Run:
    """An output under any policies and context; in ids mode some markers may be typed by ordinary tokens."""
    text = draw(texts)
    policy = draw(policies_of(fmt))
    context = draw(contexts)
    if not fmt.tokens or draw(st.booleans()):
        return Run(fmt, as_text(text), policy, context)
    markers = {marker: 1000 + index for index, marker in enumerate(fmt.tokens)}
    special = {marker: token.special for marker, token in fmt.tokens.items()}
    typed = draw(st.just(0) | st.integers(0, 255))
    return Run(fmt, as_ids(text, markers, special, typed), policy, context, "ids", markers)
