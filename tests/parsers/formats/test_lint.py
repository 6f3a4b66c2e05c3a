"""Static verification: one broken format for every code, and the built-in formats without fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.arguments import ARGUMENT_PARSERS
from parsers.formats.lint import MOST_COMBINATIONS, LintFinding, closers_of, lint, lint_file
from parsers.formats.model import Format, builtin_formats, load_format


class Codec:
    """A codec as lint sees it: its triggers, and one option. `listed` reads a run of states, as lists of calls do."""

    def __init__(self, *triggers: str, listed: bool = False) -> None:
        self.triggers = triggers
        self.spans_states = listed

    def due(self, last: str, options: Mapping[str, Any], policy: Mapping[str, str]) -> tuple[str, ...] | None:
        if not self.spans_states or policy["recovery"] == "fail":
            return ("LABEL",) if "LABEL" in self.triggers else ()
        return {"": ("ITEM_END",), "ITEM": ("ITEM_END",), "ITEM_END": ("ITEM", "DONE")}.get(last)

    def check_options(self, options: Mapping[str, Any]) -> list[tuple[str, str]]:
        return [(f"/{key}", f"unknown option {key}") for key in options if key != "good"]

    def scopes(self, options: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
        return {"open": {"VALUE_OPEN": "<v>"}} if self.triggers == () else {}

    def closers(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        return ("</v>",) if self.triggers == ("BARE",) else ()


CODECS = {
    **{"value": Codec("DONE", "OTHER"), "call": Codec("DONE", "OTHER", "REJECT", "ITEM"), "tags": Codec()},
    **{"labelled": Codec("LABEL"), "list": Codec("ITEM", "ITEM_END", "DONE", listed=True)},
}
END = {"on": "END", "to": "CONTENT"}


@pytest.fixture(autouse=True, scope="module")
def further_codecs() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("parsers.formats.lint.ARGUMENT_PARSERS", {**ARGUMENT_PARSERS, **CODECS})
        yield


def row(on: str, to: str, *emit: str, **more: Any) -> dict[str, Any]:
    return {"on": on, "to": to, "emit": list(emit), **more}


def make(**changes: Any) -> Format:
    """A sound format, with some parts replaced. States given as None are taken out."""
    states = {
        "CONTENT": {"text": "content", "rows": [row("OPEN", "CALL", "CallStart"), row("END", "CONTENT")]},
        "CALL": {
            "codec": {"name": "call"},
            "rows": [row("CLOSE", "CONTENT", "CallEnd"), row("REJECT", "CONTENT"), row("END", "CALL", "CallEnd")],
        },
    }
    states |= changes.pop("states", {})
    data = {
        "schema": 1,
        "name": "made",
        "title": "Made",
        "initial": "CONTENT",
        "terminals": {"OPEN": "<call>", "CLOSE": "</call>"},
        "states": {name: state for name, state in states.items() if state is not None},
        "example": "text",
    }
    return load_format(data | changes)


def content(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The state CONTENT with further rows."""
    return {"text": "content", "rows": [row("OPEN", "CALL", "CallStart"), END, *rows], **more}


def call(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The state CALL with further rows."""
    return {"codec": {"name": "call"}, "rows": [row("CLOSE", "CONTENT", "CallEnd"), END_CALL, *rows], **more}


END_CALL = row("END", "CALL", "CallEnd")
CLOSED = row("CLOSE", "CONTENT", "CallEnd")
ENDED, NEXT = row("ITEM_END", "CALLS", "CallEnd"), row("ITEM", "CALL", "CallStart")
NAME = {"text": "name", "rows": [CLOSED, END_CALL]}
GAP = {"text": "structure", "rows": [row("OTHER", "GAP"), END]}
PRE, V11, AUTO_OR_11 = ({"mistral_version": values} for values in (["pre_v11"], ["v11"], ["auto", "v11"]))
LISTED = {"policies": ["mistral_version"]}


def in_content(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The change that gives CONTENT further rows, and adds or replaces other states."""
    own = {key: more.pop(key) for key in ("inert", "unquote", "unescape") if key in more}
    return {"states": {"CONTENT": content(*rows, **own), **more}}


def in_call(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The change that gives CALL further rows, and adds or replaces other states."""
    codec = more.pop("codec", {"name": "call"})
    return {"states": {"CALL": call(*rows, codec=codec), **more}}


def in_list(*rows: dict[str, Any], calls: tuple[dict[str, Any], ...] = (), **more: Any) -> dict[str, Any]:
    """The change that makes CALL, with further rows, and CALLS, with `calls`, the states of a list of calls."""
    codec = {"name": "list"}
    return {"states": {"CALL": call(*rows, codec=codec), "CALLS": {"codec": codec, "rows": [END, *calls]}}, **more}


def terminals(**added: str) -> dict[str, Any]:
    return {"terminals": {"OPEN": "<call>", "CLOSE": "</call>", **added}}


ERRORS = [  # code, pointer, the changes that break the format
    ("unknown_initial", "/initial", {"initial": "START"}),
    ("unknown_initial", "/initial_when_reasoning_open", {"initial_when_reasoning_open": "REASONING"}),
    ("unknown_target", "/states/CONTENT/rows/2/to", in_content(row("CLOSE", "NOWHERE"))),
    ("unknown_target", "/states/CALL/rows/2/to", in_call(row("REJECT", "NOWHERE"))),
    ("unknown_trigger", "/states/CONTENT/rows/2/on", in_content(row("ITEM", "CONTENT"))),
    ("missing_end", "/states/CALL", {"states": {"CALL": {"codec": {"name": "call"}, "rows": [CLOSED]}}}),
    ("missing_end", "/states/GAP", in_content(row("CLOSE", "GAP"), GAP=GAP | {"rows": [END | {"when": V11}]}) | LISTED),
    ("missing_row", "/states/CALLS", in_list(ENDED)),
    ("missing_row", "/states/CALLS", in_list(ENDED, calls=(NEXT | {"when": PRE},)) | LISTED),
    ("missing_row", "/states/CALL", in_list(calls=(NEXT,))),
    ("missing_row", "/states/CALL", in_call(codec={"name": "labelled"})),
    ("same_text", "/terminals/CLOSE", terminals(CLOSE="<call>")),
    ("same_text", "/end_tokens/1", {"end_tokens": ["<eos>", "</call>"]}),
    (
        "endless_circle",
        "/states/CONTENT/rows/2",
        in_content(
            row("CLOSE", "GAP", keep="again"),
            GAP={"text": "content", "rows": [row("CLOSE", "CONTENT", keep="again"), END]},
        ),
    ),
    ("conflicting_rows", "/states/CONTENT/rows/2", in_content(row("OPEN", "CALL", "CallStart"))),
    (
        "conflicting_rows",
        "/states/CONTENT/rows/3",
        in_content(row("CLOSE", "CONTENT", when=AUTO_OR_11), row("CLOSE", "CONTENT", when=V11)) | LISTED,
    ),
    ("unknown_inert", "/states/CONTENT/inert/1", in_content(inert=["CLOSE", "THIRD"])),
    ("empty_state", "/states/GAP", in_content(row("CLOSE", "GAP"), GAP={"rows": [END]})),
    ("text_outside_call", "/states/NAME/text", in_content(row("CLOSE", "NAME"), NAME=NAME)),
    ("text_outside_call", "/states/HEADER/text", in_call(row("REJECT", "HEADER"), HEADER=NAME | {"text": "header"})),
    ("start_in_call", "/states/CALL/rows/2/emit", in_call(row("OPEN", "CALL", "CallStart"))),
    ("end_outside_call", "/states/CONTENT/rows/2/emit", in_content(row("CLOSE", "CONTENT", "CallEnd"))),
    ("end_outside_call", "/states/CALL/rows/2/emit", in_call(row("REJECT", "CONTENT", "CallEnd"))),
    ("call_left_open", "/states/ARGS/rows/0/emit", in_call(row("DONE", "ARGS"), ARGS=GAP | {"rows": [END]})),
    ("endless_circle", "/states/GAP/rows/0", in_content(row("CLOSE", "GAP"), GAP=GAP)),
    ("endless_circle", "/states/CALL/rows/2", in_call(row("REJECT", "CALL", "CallStart"))),
    ("endless_circle", "/states/CALL/rows/2", in_call(row("OTHER", "CALL"))),
    (
        "endless_circle",
        "/states/GAP/rows/0",
        in_call(
            row("REJECT", "GAP"),
            GAP=GAP | {"rows": [row("OTHER", "AGAIN", "CallStart"), END]},
            AGAIN={"codec": {"name": "call"}, "rows": [row("REJECT", "GAP"), END_CALL]},
        ),
    ),
    ("unknown_codec", "/states/CALL/codec/name", in_call(codec={"name": "yaml"})),
    (
        "codec_option",
        "/states/CALL/codec/options/bad",
        in_call(codec={"name": "call", "options": {"good": 1, "bad": 2}}),
    ),
    ("unknown_policy", "/policies/1", {"policies": ["recovery", "mood"]}),
    (
        "unknown_policy",
        "/states/CONTENT/rows/2/when/mood",
        in_content(row("CLOSE", "CONTENT", when={"mood": ["good"]})),
    ),
    (
        "unknown_policy_value",
        "/states/CONTENT/rows/2/when/mistral_version/1",
        in_content(row("CLOSE", "CONTENT", when={"mistral_version": ["v11", "v12"]})) | LISTED,
    ),
    ("reserved_name", "/terminals/DONE", in_content(inert=["DONE"]) | terminals(DONE=".")),
    ("reserved_name", "/terminals/ITEM", in_content(inert=["ITEM"]) | terminals(ITEM=".")),
]

WARNINGS = [
    ("unreachable_state", "/states/LOST", {"states": {"LOST": {"text": "content", "rows": [END]}}}),
    (
        "unreachable_state",
        "/states/LOST",
        in_content(
            row("CLOSE", "GAP", when=PRE),
            GAP={"text": "content", "rows": [END, row("OPEN", "LOST", when=V11)]},
            LOST={"text": "content", "rows": [END]},
        )
        | LISTED,
    ),
    ("unused_terminal", "/terminals/THIRD", terminals(THIRD=".")),
    ("never_fires", "/states/CONTENT/rows/2", in_content(row("DONE", "CONTENT"))),
    ("never_fires", "/states/CONTENT/rows/2", in_content(row("OTHER", "CONTENT"))),
    (
        "never_fires",
        "/states/CONTENT/rows/2",
        in_content(row("CLOSE", "CONTENT", when={"mistral_version": []})) | LISTED,
    ),
    ("never_fires", "/states/CALL/rows/2", in_call(row("REJECT", "CONTENT"), codec={"name": "value"})),
    ("inert_with_row", "/states/CONTENT/inert/0", in_content(inert=["OPEN"])),
    ("unknown_token", "/tokens/<~1a~0>", {"tokens": {"<call>": {}, "</a~>": {}}}),
    ("unquote", "/states/CONTENT/unquote", in_content(unquote=True)),
    ("unescape", "/states/CONTENT/unescape", in_content(unescape=True)),
    ("reserved_name", "/states/END", in_content(row("CLOSE", "END"), END={"text": "content", "rows": [END]})),
]

INFOS = [
    ("unlisted_policy", "/states/CONTENT/rows/2/when/mistral_version", in_content(row("CLOSE", "CONTENT", when=V11))),
    ("no_example", "/example", {"example": ""}),
    ("prefix_terminal", "/terminals/OPEN", in_content(inert=["CLOSE"]) | terminals(CLOSE="<call>>")),
]

BROKEN = [
    (severity, *one) for severity, found in (("error", ERRORS), ("warning", WARNINGS), ("info", INFOS)) for one in found
]

SOUND = [  # unusual, and allowed
    {},
    in_content(row("CLOSE", "GAP", keep="again"), GAP={"text": "content", "rows": [row("CLOSE", "CONTENT"), END]}),
    in_content(row("CLOSE", "GAP", keep="again"), GAP={"text": "content", "rows": [END]}),
    {"end_tokens": ["<eos>"], "tokens": {"<eos>": {}, "<call>": {}}},
    in_content(row("CLOSE", "TAGS", "CallStart"), TAGS={"codec": {"name": "tags"}, "rows": [END_CALL]})
    | {"tokens": {"<v>": {}}},
    in_call(row("OPEN", "CALL", "CallEnd", "CallStart")),
    in_call(row("ITEM", "CALL"), row("OTHER", "CONTENT", "ReasoningEnd", "CallEnd")),
    in_content(inert=["CLOSE"]),
    in_content(row("CLOSE", "CONTENT", when=V11), inert=["CLOSE"]) | LISTED,
    in_content(row("CLOSE", "CONTENT", when=PRE), row("CLOSE", "CALL", "CallStart", when=V11)) | LISTED,
    in_call(row("DONE", "GAP"), GAP=GAP | {"rows": [row("OTHER", "NAME"), END_CALL]}, NAME=NAME),
    in_call(
        row("OTHER", "ARGS"), ARGS={"codec": {"name": "value"}, "rows": [row("OTHER", "CONTENT", "CallEnd"), END_CALL]}
    ),
    {"initial_when_reasoning_open": "THINK"}
    | {"states": {"THINK": {"text": "reasoning", "rows": [row("CLOSE", "CONTENT"), END]}}},
    terminals(CLOSE="<call>>"),
    in_list(ENDED, calls=(NEXT,)),
    in_list(ENDED, calls=(NEXT, row("CLOSE", "CALLS"), row("DONE", "CONTENT"))),
    in_list(ENDED | {"keep": "again"}, calls=(NEXT, row("DONE", "CALLS"))),
    in_list(ENDED, policy={"recovery": "fail"}),
    in_call(row("LABEL", "CONTENT", "CallEnd"), codec={"name": "labelled"}),
]


@pytest.mark.parametrize(("severity", "code", "pointer", "changes"), BROKEN)
def test_a_broken_part_is_found_where_it_is(severity: str, code: str, pointer: str, changes: dict[str, Any]) -> None:
    findings = [one for one in lint(make(**changes)) if one.code == code]
    assert [(one.severity, one.pointer) for one in findings] == [(severity, pointer)]


@pytest.mark.parametrize("changes", SOUND)
def test_a_sound_format_has_no_findings(changes: dict[str, Any]) -> None:
    assert lint(make(**changes)) == []


@pytest.mark.parametrize("name", builtin_formats())
def test_every_built_in_format_is_without_error_or_warning(name: str) -> None:
    found = [one for one in lint(builtin_formats()[name]) if one.code != "cannot_round_trip"]
    assert [one for one in found if one.severity != "info"] == []


def test_every_message_is_one_sentence_with_advice() -> None:
    messages = {one.message for _, _, _, changes in BROKEN for one in lint(make(**changes))}
    assert [one for one in messages if not one.endswith(".") or ": " not in one or ". " in one or "\n" in one] == []


def test_errors_come_first() -> None:
    broken = make(initial="START", example="", tokens={"<x>": {}})
    assert [one.severity for one in lint(broken)] == sorted(
        [one.severity for one in lint(broken)], key=["error", "warning", "info"].index
    )


def test_a_missing_end_names_the_policy_value_that_lacks_it() -> None:
    rows = [row("OPEN", "CALL", "CallStart"), END | {"when": {"mistral_version": ["auto", "v11"]}}]
    findings = lint(make(states={"CONTENT": {"text": "content", "rows": rows}}, **LISTED))
    assert [one.message for one in findings] == [
        "CONTENT has no row on END when mistral_version is pre_v11: "
        "add one that says what to do when the output ends there."
    ]


def test_what_depends_on_an_unknown_codec_is_not_reported_too() -> None:
    codec = {"name": "yaml"}
    findings = lint(make(states={"CALL": call(row("NODE", "CALL"), row("REJECT", "CONTENT"), codec=codec)}))
    assert [one.code for one in findings] == ["unknown_codec"]


def test_a_circle_through_an_unknown_codec_is_not_guessed() -> None:
    states = {
        "CALL": call(row("REJECT", "GAP"), codec={"name": "yaml"}),
        "GAP": GAP | {"rows": [row("OTHER", "CALL"), END]},
    }
    assert "endless_circle" not in {one.code for one in lint(make(states=states))}


def test_guards_on_too_many_policies_are_taken_as_one() -> None:
    names = ("recovery", "mistral_version", "truncated_call", "unknown_tool", "invalid_call")
    guards = [row("CLOSE", "LOST", when={name: ["none"]}) for name in names]
    states = {"CONTENT": content(*guards), "LOST": {"text": "content", "rows": [END]}}
    assert MOST_COMBINATIONS < 3 * 3 * 4 * 3 * 2
    assert "unreachable_state" not in {one.code for one in lint(make(states=states))}


def test_circles_of_one_codec_in_two_states_are_found_once() -> None:
    both = call(row("OTHER", "AGAIN"), row("REJECT", "AGAIN"))
    again = call(row("OTHER", "CALL"), row("REJECT", "CALL"))
    found = [one for one in lint(make(states={"CALL": both, "AGAIN": again})) if one.code == "endless_circle"]
    assert [one.pointer for one in found] == ["/states/CALL/rows/2", "/states/CALL/rows/3"]


def test_two_circles_are_two_findings_and_one_circle_is_one() -> None:
    def gap(to: str) -> dict[str, Any]:
        return {"text": "structure", "rows": [row("OTHER", to), END]}

    states = {"CONTENT": content(row("CLOSE", "A"), row("DONE", "C")), "A": gap("B"), "B": gap("A"), "C": gap("C")}
    found = [one for one in lint(make(states=states)) if one.code == "endless_circle"]
    assert [one.pointer for one in found] == ["/states/A/rows/0", "/states/C/rows/0"]
    assert found[0].message.startswith("A on OTHER, then B on OTHER leads back to A")


def reading_with(codec: dict[str, Any]) -> Format:
    """A format with one call state that reads with this codec."""
    rows = [{"on": "CLOSE", "to": "CONTENT", "emit": ["CallEnd"]}, END_CALL]
    content = [{"on": "OPEN", "to": "NAME", "emit": ["CallStart"]}, {"on": "END", "to": "CONTENT"}]
    name = [{"on": "COLON", "to": "CALL"}, {"on": "END", "to": "NAME", "emit": ["CallEnd"]}]
    return load_format(
        {
            "schema": 1,
            "name": "made",
            "title": "Made",
            "initial": "CONTENT",
            "terminals": {"OPEN": "<call>", "COLON": ":", "CLOSE": "</call>"},
            "states": {
                "CONTENT": {"text": "content", "rows": content},
                "NAME": {"text": "name", "rows": name},
                "CALL": {"codec": codec, "rows": rows},
            },
            "example": "text",
        }
    )


def said(fmt: Format) -> list[tuple[str, str, str]]:
    return [(one.severity, one.code, one.pointer) for one in lint(fmt)]


def test_bare_values_cannot_hold_what_ends_them() -> None:
    fmt = reading_with({"name": "tagged", "options": {"value_close": "</v>", "implied_close": ["<k>"]}})
    assert said(fmt) == [("warning", "cannot_round_trip", "/states/CALL/codec")]
    assert "'</v>' or '<k>'" in lint(fmt)[0].message
    assert closers_of(fmt) == [("CALL", "</v>"), ("CALL", "<k>")]


@pytest.mark.parametrize("name", ["json_span", "json_call"])
def test_json_strings_are_escaped_and_hold_everything(name: str) -> None:
    assert [one for one in said(reading_with({"name": name})) if one[1] == "cannot_round_trip"] == []
    assert closers_of(reading_with({"name": name})) == []


@pytest.mark.parametrize("codec", [{"name": "nonsense"}, {"name": "tagged", "options": {"value_close": 3}}])
def test_a_codec_that_cannot_work_has_only_its_own_finding(codec: dict[str, Any]) -> None:
    assert "cannot_round_trip" not in [code for _, code, _ in said(reading_with(codec))]


def test_an_unknown_codec_has_no_closers() -> None:
    assert closers_of(reading_with({"name": "nonsense"})) == []


def test_the_message_is_one_sentence_with_advice() -> None:
    message = lint(reading_with({"name": "tagged"}))[0].message
    assert message.endswith(".")
    assert ": " in message
    assert ". " not in message


@pytest.mark.parametrize("name", ["qwen", "kimik2"])
def test_the_json_formats_say_everything(name: str) -> None:
    assert closers_of(builtin_formats()[name]) == []


# Findings about a file that extends another

PARENT: dict[str, Any] = {
    "schema": 1,
    "name": "parent",
    "title": "Parent",
    "initial": "CONTENT",
    "terminals": {"OPEN": "<call>", "CLOSE": "</call>"},
    "states": {
        "CONTENT": content(),
        "CALL": {"codec": {"name": "json_call"}, "rows": [CLOSED, END_CALL]},
    },
}
LOST = PARENT | {"states": {**PARENT["states"], "CONTENT": content(row("CLOSE", "GONE"))}}
FILE_FINDINGS = [  # what the file says, its finding, the pointer, the first words
    ({"initial": "GONE"}, "unknown_initial", "/initial", "The format starts in GONE"),
    (
        {"states": {"CALL": {"rows": [{"on": "OTHER", "to": "GONE"}]}}},
        "unknown_target",
        "/states/CALL/rows/0/to",
        "CALL goes to GONE on OTHER",
    ),
    ({"extends": "lost"}, "unknown_target", "/extends", "From lost: CONTENT goes to GONE on CLOSE"),
    (
        {"reasoning": {"start": "<t>", "end": "<t>"}},
        "same_text",
        "/reasoning",
        "Reasoning block: THINK_END has the text of THINK_START",
    ),
    ({"extends": "nobody"}, "not_a_format", "/extends", "there is no format 'nobody' to extend"),
    ({"states": {"CALL": {"rows": [{"on": "DONE", "to": 3}]}}}, "not_a_format", "/states/CALL/rows/0/to", "Input"),
    ({"terminals": {"BIG": "a" * 1_001}}, "not_a_format", "/terminals/BIG", "String should have at most 1000 char"),
    ({"extends": "typo"}, "not_a_format", "/extends", "From typo: Extra inputs are not permitted"),
]


@pytest.mark.parametrize(("says", "code", "pointer", "words"), FILE_FINDINGS)
def test_a_finding_leads_into_the_file_and_names_what_it_inherits(
    says: dict[str, Any], code: str, pointer: str, words: str
) -> None:
    parents = {"parent": PARENT, "lost": LOST, "typo": PARENT | {"endtokens": []}}
    child = {"schema": 1, "name": "child", "title": "Child", "extends": "parent", "example": "x", **says}
    (found,) = [one for one in lint_file(child, parents.get) if one.severity == "error"]
    assert (found.code, found.pointer) == (code, pointer)
    assert found.message.startswith(words)


STATES = st.sampled_from(["A", "B", "C", "END"])
TRIGGERS = st.sampled_from(["T", "U", "V", "END", "DONE", "REJECT", "OTHER", "ITEM", "?"])
EMITS = st.lists(st.sampled_from(["CallStart", "CallEnd", "ReasoningEnd"]), max_size=2)
GUARDS = st.dictionaries(st.sampled_from(["recovery", "mistral_version", "mood"]), st.just(["v11"]), max_size=1)
ROWS = st.lists(st.builds(lambda on, to, emit, when: row(on, to, *emit, when=when), TRIGGERS, STATES, EMITS, GUARDS))
TEXTS = st.sampled_from([None, "content", "reasoning", "name", "header", "id", "structure"])
REFS = st.sampled_from([None, {"name": "value"}, {"name": "call", "options": {"x": 1}}, {"name": "yaml"}])
STATE = st.fixed_dictionaries({"text": TEXTS, "codec": REFS, "rows": ROWS, "inert": st.lists(st.sampled_from("TUVW"))})


@pytest.mark.replays
@given(st.dictionaries(STATES, STATE), STATES, st.sampled_from([{"T": "a"}, {"T": "a", "U": "ab", "V": "ab"}]))
def test_lint_never_raises_and_its_pointers_lead_somewhere(
    states: dict[str, Any], initial: str, terminals: dict[str, str]
) -> None:
    fmt = make(states={"CONTENT": None, "CALL": None} | states, initial=initial, terminals=terminals, example="")
    data = fmt.model_dump(by_alias=True)
    for finding in lint(fmt):
        assert follow(data, finding) is not None


def follow(data: Any, finding: LintFinding) -> bool:
    """Walk the pointer down the format's JSON; a missing place raises."""
    for step in finding.pointer.split("/")[1:]:
        data = data[int(step)] if isinstance(data, (list, tuple)) else data[step.replace("~1", "/").replace("~0", "~")]
    return True
