"""Formats nobody has written: a state of content, sometimes one of reasoning, and a few states inside a call.

Calls may begin inside reasoning, which the prompt may open; the marker that opens it may be text there.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from parsers.formats.model import Format, load_format, policy_values

TERMINALS = {"A": "<a>", "B": "</a>", "C": "ab", "D": "b", "E": "{", "F": ">", "G": "<a>b", "H": "|"}
CODECS: tuple[dict[str, Any], ...] = (
    {"name": "json_span"},
    {"name": "json_call"},
    {"name": "json_call", "options": {"require_arguments": True}},
    {"name": "json_calls"},
    {"name": "json_calls", "options": {"require_arguments": True}},
    {"name": "elements", "options": {"implied_close": ["</a>", "<a>b"]}},
    {"name": "elements", "options": {"open": "<k>", "close": "</v>", "tag_end": "|", "item": "a"}},
    {"name": "tagged_pairs", "options": {"key_open": "<k>", "key_close": "|", "call_close": ["</a>", "<a>"]}},
    {
        "name": "tagged_pairs",
        "options": {"key_close": ">", "value_open": "<v>", "value_close": "</v>", "trim": "space"},
    },
    {"name": "keyvalue", "options": {"string": "|", "call_end": "</a>"}},
    {"name": "keyvalue", "options": {"string": "<v>", "require_key": True}},
    {"name": "label", "options": {"labels": ["ab", "x"]}},
    {"name": "label", "options": {"labels": ["f"], "after_marker": True}},
    {"name": "pythonic"},
    {"name": "pythonic", "options": {"brackets": False}},
    {"name": "mistral"},
    {"name": "tagged"},
    {
        "name": "tagged",
        "options": {"key_open": "<k>", "key_close": "|", "value_open": "<v>", "value_close": "</v>", "trim": "space"},
    },
    {
        "name": "tagged",
        "options": {
            "key_open": "<k>",
            "key_close": ">",
            "value_close": "<k>",
            "implied_close": ["</a>"],
            "trim": "none",
        },
    },
)
WORDS = (
    *TERMINALS.values(),
    *("<k>", "</v>", "<v>", "x", " ", "\n", '"', "f", "<", "</", "a", "}", "[", "]", ",", ":", "1", "\\"),
    *("f(", "(", ")", "f{a:", "[f(a=1)", "f()", "f(a='", "'"),
    *('[{"name":"f","arguments":{}}', '{"name":3,'),
    *('{"name":"f","arguments":{"a":"1"}}', '{"a":1}', "<parameter=", "</parameter>"),
)
IN_CALL = ("HEAD", "MORE", "GAP", "BODY")
CALL_IN_REASONING = (["ReasoningEnd", "CallStart"], ["ReasoningEnd"], ["CallStart"])
LAST = {"on": "END", "to": "TOP", "emit": ["CallEnd"]}


@st.composite
def inside(draw: st.DrawFn, state: dict[str, Any], triggers: tuple[str, ...]) -> dict[str, Any]:
    """A state of an open call: its rows go on with the call, end it, or end it and begin the next."""
    rows = []
    for on in draw(st.lists(st.sampled_from([*triggers]), unique=True, max_size=4)):
        kind = draw(st.sampled_from(["on", "end", "next"])) if on in TERMINALS else "end"
        to = draw(st.sampled_from(IN_CALL)) if kind == "on" else "HEAD" if kind == "next" else "TOP"
        emit = {"on": [], "end": ["CallEnd"], "next": ["CallEnd", "CallStart"]}[kind]
        rows.append({"on": on, "to": to, "emit": emit, "keep": draw(st.sampled_from(["drop"] * 5 + ["text"]))})
    for row in rows:
        row["keep"] = row["keep"] if row["on"] in TERMINALS else "drop"
    taken = {row["on"] for row in rows}
    inert = draw(st.lists(st.sampled_from([name for name in TERMINALS if name not in taken]), unique=True, max_size=1))
    return {**state, "rows": [*rows, LAST], "inert": inert}


@st.composite
def formats(draw: st.DrawFn) -> Format:
    """A format; the static check may still find fault with it."""
    names = tuple(TERMINALS)
    heads = st.sampled_from(["name", "header", "id", "structure"])
    codec = draw(st.sampled_from(CODECS))
    begins = draw(st.lists(st.sampled_from(names), min_size=2, max_size=3, unique=True))
    into = [{"on": on, "to": draw(st.sampled_from(IN_CALL)), "emit": ["CallStart"]} for on in begins[:2]]
    think = [{"on": on, "to": "THINK"} for on in begins[2:]]
    states: dict[str, Any] = {
        "TOP": {"text": "content", "rows": [*into, *think, {"on": "END", "to": "TOP"}]},
        "HEAD": draw(inside({"text": draw(heads)}, (*names, "OTHER"))),
        "MORE": draw(inside({"text": draw(heads)}, (*names, "OTHER"))),
        "GAP": draw(inside({"text": "structure"}, (*names, "OTHER"))),
        "BODY": draw(
            inside({"codec": codec}, (*names, "DONE", "OTHER", "REJECT", "MALFORMED", "ITEM", "ITEM_END", "LABEL"))
        ),
    }
    opens = draw(st.booleans())
    if think:
        out = {"on": begins[0], "to": "TOP", "emit": ["ReasoningEnd"]}
        call = {"on": begins[1], "to": into[1]["to"], "emit": draw(st.sampled_from(CALL_IN_REASONING))}
        calls = [call] if draw(st.booleans()) else []
        rows = [out, *calls, {"on": "END", "to": "THINK"}]
        inert = begins[2:] if draw(st.booleans()) else []
        states["THINK"] = {"text": "reasoning", "inert": inert, "rows": rows}
    return load_format({
        "schema": 1,
        "name": "drawn",
        "title": "Drawn",
        "initial": "TOP",
        "initial_when_reasoning_open": "THINK" if opens and "THINK" in states else None,
        "states": states,
        "terminals": TERMINALS,
        "content": draw(st.sampled_from(["plain", "plain", "llama"])),
        "policies": list(policy_values()),
        "tokens": {"<a>": {"special": True}, "</a>": {}},
    })  # fmt: skip


@st.composite
def outputs(draw: st.DrawFn, fmt: Format) -> str:
    """Words, and walks along the rows of the format with a word in each state."""
    words = st.sampled_from(WORDS)
    parts = draw(st.lists(words, max_size=3))
    state = "TOP"
    for _ in range(draw(st.integers(0, 8))):
        ways = [row for row in fmt.states[state].rows if row.on in TERMINALS]
        if not ways:
            break
        row = draw(st.sampled_from(ways))
        parts += [TERMINALS[row.on], draw(words)]
        state = row.to
    return "".join([*parts, *draw(st.lists(words, max_size=3))])
