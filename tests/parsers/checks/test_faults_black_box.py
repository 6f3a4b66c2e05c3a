"""Broken parsers of which only the deltas are seen: what can still be found, and that it points at the fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from parsers.vocabulary.types import Context, MessageDelta, Tool, ToolCallDelta
from tests.parsers.checks.broken import Fault, closed_box
from tests.parsers.checks.test_faults import TEXT, TOOLS, Throws

TAGGED = (
    "<tool_call>\n<function=show>\n<parameter=zip>\n02134\n</parameter>\n<parameter=days>\n3\n</parameter>\n"
    "</function>\n</tool_call>"
)
TYPED = Context(
    (Tool("show", {"type": "object", "properties": {"zip": {"type": "string"}, "days": {"type": "integer"}}}),)
)
Sent = MessageDelta | None


class Deltas(Fault):
    """Deltas that `when` picks become what `change` makes of them."""

    def __init__(self, when: Callable[[MessageDelta], bool], change: Callable[[MessageDelta], Sent]) -> None:
        super().__init__()
        self.when, self.change = when, change

    def delta(self, number: int, delta: Sent) -> Sent:
        if delta is None or not self.when(delta):
            return delta
        self.mark(number)
        return self.change(delta)


class Whole(Fault):
    """Its arguments are kept back, and sent at once, changed."""

    def __init__(self, change: Callable[[str], str]) -> None:
        super().__init__()
        self.change = change

    def begin(self) -> None:
        self.kept = ""
        self.call = -1

    def delta(self, number: int, delta: Sent) -> Sent:
        for part in [] if delta is None else delta.tool_calls:
            self.kept, self.call = self.kept + (part.arguments or ""), part.index
            part.arguments = None if part.name is None else ""
            if self.kept.endswith("}"):
                self.mark(number)
                part.arguments, self.kept = self.change(self.kept), ""
        return delta


class Prefix(Fault):
    """It lets the first character of a marker go."""

    def delta(self, number: int, delta: Sent) -> Sent:
        if self.text.endswith("up. <") and self.hit is None:
            self.mark(number)
            return MessageDelta(content=" <")
        return delta


class Late(Fault):
    """Nothing is sent before the end."""

    def begin(self) -> None:
        self.kept = ""

    def delta(self, number: int, delta: Sent) -> Sent:
        self.kept += "" if delta is None else delta.content or ""
        if not self.text.endswith("Done.") or not self.kept:
            return None
        sent, self.kept = self.kept, ""
        return MessageDelta(content=sent)


def content(words: str) -> Callable[[MessageDelta], bool]:
    return lambda delta: words in (delta.content or "")


def says(text: str) -> Callable[[MessageDelta], Sent]:
    return lambda delta: MessageDelta(content=text)


def blanks_doubled(delta: MessageDelta) -> Sent:
    return MessageDelta(delta.reasoning, (delta.content or "").replace(" ", "  "), delta.tool_calls)


def calls(delta: MessageDelta) -> bool:
    return bool(delta.tool_calls)


def each(change: Callable[[ToolCallDelta], ToolCallDelta | None]) -> Callable[[MessageDelta], Sent]:
    def changed(delta: MessageDelta) -> Sent:
        parts = [part for old in delta.tool_calls if (part := change(old)) is not None]
        return MessageDelta(delta.reasoning, delta.content, parts) if parts or delta.content else None

    return changed


def part(
    index: int | None = None, id: str | None = None, name: str | None = None
) -> Callable[[ToolCallDelta], ToolCallDelta]:
    """The part with another index, id or name, where it has one."""

    def changed(old: ToolCallDelta) -> ToolCallDelta:
        new = old.index + 1 if index is not None else old.index
        return ToolCallDelta(
            new,
            id if id is not None and old.id else old.id,
            name if name is not None and old.name else old.name,
            old.arguments,
        )

    return changed


class Case(NamedTuple):
    fault: Callable[[], Fault]
    check: str
    words: str
    severity: str = "error"
    pointed: bool = True


FAULTS = {
    "a word is lost": Case(
        lambda: Deltas(content("look"), lambda _: None),
        "spans_cover_input",
        "The word `look` of the output is nowhere in the message.",
        severity="warning",
        pointed=False,
    ),
    "a word is doubled": Case(
        lambda: Deltas(content("look"), says("looklook")), "no_double_ownership", "once more than the output has it"
    ),
    "a word is made up": Case(lambda: Deltas(content("look"), says("look; Sure!")), "nothing_invented", "Sure!"),
    "reasoning is content as well": Case(
        lambda: Deltas(lambda d: d.reasoning is not None, lambda d: MessageDelta(d.reasoning, d.reasoning)),
        "no_double_ownership",
        "together more than the output has",
    ),
    "everything is lost": Case(
        lambda: Deltas(lambda _: True, lambda _: None), "all_output_lost", "the message is empty", pointed=False
    ),
    "the beginning of a marker leaks": Case(
        Prefix, "no_early_leak", "`<` is sent in the content, then `<tool_call>` is read as a marker."
    ),
    "a marker leaks": Case(
        lambda: Deltas(content("Done"), says("</tool_call> Done")),
        "no_terminal_leak",
        "`</tool_call>` leaks into the content, while the built-in parser `qwen` reads it as a marker.",
    ),
    "reasoning goes on": Case(
        lambda: Deltas(lambda d: bool(d.content), lambda d: MessageDelta(d.content)),
        "reasoning_boundary",
        "Text after `</think>` is sent as reasoning.",
    ),
    "a call is dropped": Case(
        lambda: Deltas(calls, each(lambda old: None if old.index else old)),
        "tool_call_dropped",
        "The call to `show` is not found; the built-in parser `qwen` reads it whole.",
        pointed=False,
    ),
    "a name is changed": Case(
        lambda: Deltas(calls, each(part(name="lookup"))),
        "names_kept",
        "The output names call 0 `find`; the parser sends `lookup`.",
    ),
    "reasoning is content": Case(
        lambda: Deltas(lambda d: d.reasoning is not None, lambda d: MessageDelta(None, d.reasoning)),
        "channels_kept",
        "`Where is it?` is sent as content; in the output it is reasoning.",
    ),
    "a blank is doubled": Case(
        lambda: Deltas(lambda d: d.content is not None, blanks_doubled),
        "spaces_kept",
        "`I look` becomes `I  look`",
        severity="warning",
        pointed=False,
    ),
    "a name is empty": Case(
        lambda: Deltas(calls, each(part(name=""))), "no_empty_delta", "The name of call 0 is sent empty."
    ),
    "calls are numbered from one": Case(
        lambda: Deltas(calls, each(part(index=1))), "index_dense", "Call 1 begins where call 0 should."
    ),
    "ids are shared": Case(
        lambda: Deltas(calls, each(part(id="x"))), "id_once", "Calls 0 and 1 have the same id.", pointed=False
    ),
    "a string is cut at something inside it": Case(
        lambda: Whole(lambda text: text.replace("New York", "New")), "values_kept", "is cut", pointed=False
    ),
    "a key is lost": Case(
        lambda: Whole(lambda text: text.replace('"zip": "02134"', "")),
        "values_kept",
        '`zip` of call 1 (`show`) is "02134" in the output and is missing.',
        pointed=False,
    ),
    "the last brace is lost": Case(
        lambda: Whole(lambda text: text[:-1]), "arguments_closed", "are left open, though the output ends the call"
    ),
    "arguments are guessed": Case(
        lambda: Whole(lambda text: text.replace("New York", "New Jersey")), "nothing_invented", "`Jersey`"
    ),
    "arguments are sent twice": Case(
        lambda: Whole(lambda text: text * 2), "arguments_prefix", "cannot become a JSON object"
    ),
    "a character is damaged": Case(
        lambda: Deltas(content("look"), says("lo\ufffd")), "utf8_clean", "could not be decoded (U+FFFD)"
    ),
    "it throws": Case(Throws, "parser_raised", "KeyError"),
}


def test_a_right_parser_is_blamed_for_nothing() -> None:
    assert closed_box("qwen", TEXT, Fault(), TOOLS)[0] == []


@pytest.mark.parametrize("case", FAULTS.values(), ids=FAULTS)
def test_a_broken_parser_is_found_by_its_deltas(case: Case) -> None:
    fault = case.fault()
    findings, _ = closed_box("qwen", TEXT, fault, TOOLS)
    found = next((finding for finding in findings if finding.check == case.check), None)
    assert found is not None, findings
    assert case.words in found.message
    assert found.severity == case.severity
    assert not case.pointed or found.step == fault.hit


def test_a_declared_string_that_becomes_a_number_is_found() -> None:
    fault = Whole(lambda text: text.replace('"02134"', "2134"))
    findings, _ = closed_box("qwen_coder", TAGGED, fault, TYPED)
    assert [f.check for f in findings if f.severity == "error"] == ["strings_whole"]
    assert findings[0].message == "`zip` of call 0 (`show`) is declared a string and has become 2134."


def test_silence_is_a_note() -> None:
    findings, _ = closed_box("passthrough", "word " * 80 + "Done.", Late(), Context())
    assert [(f.check, f.severity, f.message) for f in findings] == [
        ("emission_lag", "info", "Nothing is sent while 404 characters arrive.")
    ]
