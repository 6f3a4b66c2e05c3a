"""What a test for somebody's own suite is written from: a run, what is right, and the smallest chunking that fails.

The same run always gives the same subject. Tokens that have no id get one, as they do where an engine replays them, so
that ids and text always agree; markers of the format that do not occur in the output have ids as well, for parsers
look them up when they are made.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import count
from typing import Any

from parsers.cases import jsontext
from parsers.cases.case import Case, Compare, Expect, ExpectedCall, NamedTool
from parsers.cases.expect import Difference, expected_parts, trace_differences
from parsers.cases.jsontext import JsonError
from parsers.cases.made_tools import made_tools
from parsers.cases.message_events import MessageEvent, events_of
from parsers.cases.run import CaseRun, sent_of
from parsers.cases.stated_order import states_order
from parsers.checks.leaks import unmistakable_markers
from parsers.formats.model import Format, builtin_sources
from parsers.machine.reasoning import reasoning_markers
from parsers.replays.chunking import WHOLE, Chunking, apply, label
from parsers.selection.registry import Evidence, Selection, get_format, known_format, select
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Delta, Piece, ToolCall, UsageError

_THINKING = "qwen3"
_LONGEST_PARSER = 40  # characters of it in the name of a test
OWN_IDS = 2_000_000  # above every vocabulary
_MADE = OWN_IDS + 1_000  # of what is cut out of tokens
_NUMBERED = OWN_IDS + 500_000  # of tokens that no server gave one
_NEED_TOOLS = ("vllm", "sglang", "lmdeploy")
REASONING = "reasoning_parser"  # the option of an engine that names it


@dataclass(slots=True, frozen=True)
class ParserNames:
    """The parsers of one server by their names: which format each of them reads."""

    tool: Mapping[str, str | None]
    reasoning: Mapping[str, str | None]

    def has(self, fmt: str) -> bool:
        """Return whether one of them reads a format."""
        return fmt in {*self.tool.values(), *self.reasoning.values()}


@dataclass(slots=True, frozen=True)
class TestedTokens:
    """The tokens of an output as a test feeds them: each with an id, `vocabulary` the ids of markers.

    `deltas` are texts with the ids that come with them; `sizes` how many tokens each of them has, None where some
    text comes later than its id; `prompt` are the ids of markers at the end of the prompt.
    """

    tokens: tuple[tuple[int, str], ...]
    vocabulary: Mapping[str, int]
    deltas: tuple[tuple[str, tuple[int, ...]], ...]
    sizes: tuple[int, ...] | None
    prompt: tuple[int, ...] = ()


@dataclass(frozen=True)
class Subject:
    """A case as a test of somebody's suite tells it.

    `engine` is the kind of engine that the case names, "" for one of ours; `own_class` is a parser class, as
    module:Class. `fails` says what is wrong today; `events` are the parts of a replay that is as expected, in order.
    `whole`: it is read by the code that the engine has for an output that does not stream. `expect` says in texts and
    calls what its events say, `in_parts` are the texts that these alone say; `only_order`: nothing but that of its
    parts is wrong; `only_spelling`: nothing but how arguments are written that mean the same to most readers of JSON.
    `key` tells it from other cases of its parser.
    """

    case: Case
    expect: Expect
    parser: str
    format: Format
    chunking: Chunking
    pieces: tuple[Piece, ...]
    deltas: tuple[Delta, ...]
    events: tuple[MessageEvent, ...] | None = None
    engine: str = ""
    own_class: str = ""
    fails: str = ""
    permalink: str | None = None
    whole: bool = False
    only_order: bool = False
    in_parts: frozenset[str] = frozenset()
    only_spelling: bool = False
    key: str = ""

    @property
    def title(self) -> str:
        """What the case is called."""
        return self.case.title or f"{self.format.name}, {label(self.chunking)}"

    @property
    def slug(self) -> str:
        """The title as the end of a name in any language; of a case without one the parser, and what tells it from
        others."""
        return identifier(self.case.title or f"{self.parser[:_LONGEST_PARSER]} {self.key}")

    @property
    def chunks(self) -> tuple[str, ...]:
        """The text of every delta."""
        return tuple([delta.text for delta in self.deltas])

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools as a request has them: those that are declared, else those that the calls name. Servers read no
        call where a request has no tools, which is nothing that a case of one of our parsers says."""
        return [dict(tool) for tool in self.made_tools] or tools_of(self.case)

    @cached_property
    def made_tools(self) -> tuple[Mapping[str, Any], ...]:
        """The tools that the calls name, where a case of one of our parsers declares none."""
        if self.case.tools or self.engine or self.own_class:
            return ()
        calls = [(call.name or "", call.raw, call.arguments) for call in self.calls or ()]
        return made_tools([ToolCall(None, name, raw or jsontext.plain(value)) for name, raw, value in calls])

    @property
    def tool_choice(self) -> Any:
        """The choice as a request has it."""
        return choice_of(self.case)

    @property
    def source(self) -> str:
        """Where the case is, or comes from."""
        link = self.case.source.link if self.case.source else None
        return self.permalink or link or "Toolcall Inspector"

    @property
    def soft(self) -> bool:
        """Return whether white space does not count in texts."""
        return self.case.compare.whitespace == "soft"

    def told(self, text: str) -> str:
        """A text of an expected part as a test compares it: where white space does not count its words, between
        blanks."""
        return " ".join(text.split()) if self.soft else text

    def sign(self, field: str) -> str:
        """What stands between the words of "reasoning" or "content" where white space does not count: nothing where
        the case says several parts of it and no more, for nobody says what stands between these."""
        return "" if self._is_parted(field) else " "

    def wanted(self, field: str, *, ordered: bool = False) -> str | None:
        """What "reasoning" or "content" should be, as a test compares it; None where nobody says. `ordered`: the test
        compares the order too, which says what stands in parts."""
        text = {"reasoning": self.expect.reasoning, "content": self.expect.content}[field]
        if not self.soft or text is None:
            return text
        return None if ordered and self._is_parted(field) and self.order() else self.sign(field).join(text.split())

    def _is_parted(self, field: str) -> bool:
        kind = {"content": "text"}.get(field, field)
        parts = [one for one in expected_parts(self.expect, soft=self.soft) if one.kind == kind]
        return field in self.in_parts and len(parts) > 1

    def refuse_soft(self, project: str) -> None:
        """Raise UsageError where white space does not count in texts, and a suite compares them exactly."""
        if self.soft:
            words = (
                f"{project} compares texts exactly, and in this case white space does not count (compare.whitespace)"
            )
            raise UsageError(f"{words}: export it to pytest")

    @property
    def reads_calls(self) -> bool:
        """Return whether a server asks its parser of calls at all: not where the request forbids calls. Without tools
        these servers do not either; a case of one of our parsers says nothing by having none."""
        return self.tool_choice != "none" and bool(self.case.tools or self.engine not in _NEED_TOOLS)

    def refuse_unread(self, project: str) -> None:
        """Raise UsageError where a server does not ask its parser of calls, and a suite does."""
        if not self.reads_calls:
            why = "with tool_choice 'none'" if self.tool_choice == "none" else "without tools"
            words = f"a server reads no call of a request {why}, and {project} asks the parser all the same"
            raise UsageError(f"{words}: export the case to pytest")

    @property
    def calls(self) -> tuple[ExpectedCall, ...] | None:
        """The calls that should come out, by their text where the case says that among its calls or its events; None
        where nobody says."""
        calls, events = self.expect.tool_calls, self.expect.events or ()
        told = [one.call for one in events if one.kind == "tool_call" and one.raw is not None]
        if calls is None or len(told) != len(calls):
            return calls
        return tuple([_as_text(call, text) for call, text in zip(calls, told, strict=True)])

    @cached_property
    def tokens(self) -> TestedTokens:
        """The output in tokens, each of which has an id; those that a server sent are whole, wherever text is cut."""
        ids, deltas = self._ids, [(delta.text, tuple(self._ids.ids(delta))) for delta in self.deltas]
        if self._ids_come_early:
            return self._tested(ids.tokens(self.pieces), deltas, None)
        rows = [ids.tokens(whole) for whole in self._whole]
        halved = any(_is_rest(piece) for delta in self.deltas for piece in delta.pieces)
        return self._tested([one for row in rows for one in row], deltas, None if halved else [*map(len, rows)])

    @cached_property
    def cut_tokens(self) -> TestedTokens:
        """The same for a suite that feeds nothing but whole tokens: what is cut is several of them, none a server's."""
        if self._ids_come_early:
            return self.tokens
        sent = {id(piece) for piece in self.pieces}
        rows = [
            self._ids.tokens([piece if id(piece) in sent else replace(piece, recorded=False) for piece in delta.pieces])
            for delta in self.deltas
        ]
        deltas = [
            (delta.text, tuple([number for number, _ in row])) for delta, row in zip(self.deltas, rows, strict=True)
        ]
        return self._tested([one for row in rows for one in row], deltas, [*map(len, rows)])

    @property
    def _whole(self) -> Iterator[list[Piece]]:
        """The pieces of each delta, with a token that a server sent whole where it begins."""
        sent = iter([piece for piece in self.pieces if _is_sent(piece)])
        for delta in self.deltas:
            yield [next(sent) if _is_sent(piece) else piece for piece in delta.pieces]

    @cached_property
    def _ids(self) -> TestedIds:
        return TestedIds(self.case, self.parser, self.format, self.pieces, self.deltas)

    @property
    def _ids_come_early(self) -> bool:
        """Return whether some text comes later than its ids, which are those of whole tokens then."""
        fed = [piece for delta in self.deltas for piece in delta.pieces]
        late = any(delta.early_ids not in (None, _of_pieces(delta)) for delta in self.deltas)
        return late or (fed != [*self.pieces] and any(delta.early_ids is not None for delta in self.deltas))

    def _tested(
        self,
        tokens: Sequence[tuple[int, str]],
        deltas: Sequence[tuple[str, tuple[int, ...]]],
        sizes: Sequence[int] | None,
    ) -> TestedTokens:
        counted = None if sizes is None else tuple(sizes)
        return TestedTokens(
            tuple(tokens), self._ids.vocabulary, tuple(deltas), counted, tuple(self._ids.prompt(self.case))
        )

    def parts(self) -> list[dict[str, Any]]:
        """What should come out, in order: as the case says, else as a replay has it that is right, else reasoning, text
        and calls."""
        if self.expect.events is not None:
            return [
                {"kind": one.kind, **(_call(one.call) if one.kind == "tool_call" else {"text": one.text})}
                for one in expected_parts(self.expect, soft=self.soft)
            ]
        if self.events is not None:
            return [
                {"kind": one.kind, **(_sent_call(one) if one.kind == "tool_call" else {"text": one.text})}
                for one in self.events
            ]
        texts = (("reasoning", self.expect.reasoning), ("text", self.expect.content))
        said: list[dict[str, Any]] = [{"kind": kind, "text": text} for kind, text in texts if text]
        return said + [{"kind": "tool_call", **_call(call)} for call in self.calls or ()]

    def order(self) -> list[tuple[str, str]]:
        """The parts in order where the case states it and the output streams, for a test to compare: a text by itself,
        a call by its name."""
        parts = [
            ("call", one.name or "") if one.kind == "tool_call" else (one.kind, self.told(one.text or ""))
            for one in expected_parts(self.expect, soft=self.soft)
        ]
        return [] if self.whole else parts

    def named(self, engine: str, names: ParserNames) -> tuple[str | None, str | None]:
        """The tool and the reasoning parser of a server: those of the case, or those that read its format.

        Raises UsageError where the server has none.
        """
        if self.engine == engine:
            return own_names(self.case, self.parser, names)
        reasoning = bool(self.expect.reasoning or self.case.context.reasoning_open)
        tool, thinking = readers_of(names, self.format, "".join(self.chunks), reasoning=reasoning)
        if tool is None and thinking is None:
            raise UsageError(f"{engine} has no parser that reads {self.format.name}: export the case to another suite")
        return tool, thinking


def _is_sent(piece: Piece) -> bool:
    """Return whether a piece is a token that a server sent, or the first part of one."""
    return piece.recorded and piece.token_id is not None


def _is_rest(piece: Piece) -> bool:
    """Return whether a piece is a further part of a token that a server sent, whose id has come."""
    return piece.recorded and piece.token_id is None


def _of_pieces(delta: Delta) -> tuple[int, ...]:
    return tuple([piece.token_id for piece in delta.pieces if piece.token_id is not None])


def tools_of(case: Case) -> list[dict[str, Any]]:
    """The declared tools of a case as a request has them."""
    functions = [tool["function"] if isinstance(tool.get("function"), dict) else tool for tool in case.tools]
    known = [function if "parameters" in function else {**function, **_PARAMETERS} for function in functions]
    return [{"type": "function", "function": function} for function in known]


def choice_of(case: Case) -> Any:
    """The tool choice of a case as a request has it."""
    choice = case.context.tool_choice
    return {"type": "function", "function": {"name": choice.name}} if isinstance(choice, NamedTool) else choice


def own_names(case: Case, parser: str, names: ParserNames) -> tuple[str | None, str | None]:
    """The tool and the reasoning parser of a server that a case of it names."""
    alone = parser in names.reasoning and parser not in names.tool
    return (None, parser) if alone else (parser, case.parser.options.get(REASONING))


def grammar_of(case: Case, selection: Selection) -> Format:
    """The format that the chosen parser of a case reads: its own, the one of its name, else the one that the output
    shows."""
    fmt = case.parser.format or known_format(selection.name)
    return fmt if fmt is not None and fmt.terminals else get_format(shown_by(case.text()))


def compared(expect: Expect | None) -> Expect:
    """What a test compares. Raises UsageError where that is nothing."""
    if expect is None:
        raise UsageError("this case expects nothing yet: accept today's result, or write what is right, then export")
    if not expect.is_of_parser:
        words = "this case expects nothing that a parser decides, and a server decides the finish reason around it"
        raise UsageError(f"{words}: write which content, reasoning or tool_calls are right, then export")
    return expect


_PARAMETERS = {"parameters": {"type": "object", "properties": {}}}


def subject_of(
    run: CaseRun,
    *,
    expect: Expect | None = None,
    engine: str = "",
    own_class: str = "",
    permalink: str | None = None,
    one_shot: bool = False,
    key: str = "",
) -> Subject:
    """The subject of a run; `expect` where the case expects nothing. Raises UsageError where nobody says what is right.

    A chunking that fails is looked for among the replays that the run has: the one of fewest deltas. `one_shot`: the
    engine reads an output that does not stream by other code, which is tested where only that fails. `key` tells the
    case from others of its parser.
    """
    wanted = compared(expect or run.case.known.expect)
    # one whose message is that of the traced one has steps where the case states the order, which may still be another
    others = [(one.chunking, one.trace) for one in run.compared if one.trace.steps]
    replays = [(run.chunking, run.trace), *others, (WHOLE, run.whole)]
    failing = [one for one in replays if trace_differences(wanted, one[1], run.case.compare)]
    right = next((trace for _, trace in replays if not trace_differences(wanted, trace, run.case.compare)), None)
    unordered = partial(_unordered, run.case.compare, wanted)

    def size(one: tuple[Chunking, Trace]) -> tuple[bool, bool, int]:
        """Whether it streams, shows what is wrong to whoever sees the deltas, and how many of these there are."""
        shows = wanted.events is None or bool(unordered(one[1])) or states_order(one[1])
        return one_shot and one[0] == WHOLE, not shows, len(one[1].steps)

    chunking, trace = min(failing, key=size, default=replays[0])
    due, theirs = run.decoded.due if run.decoded else None, bool(engine or own_class)
    pieces = numbered(run.pieces)
    return Subject(
        run.case,
        wanted.in_fields,
        run.selection.name,
        grammar_of(run.case, run.selection),
        chunking,
        pieces,
        tuple(apply(chunking, pieces, run.trace.mode, due=due, sent=sent_of(run.case), halves=theirs)),
        None if right is None else tuple(events_of(right)),
        engine,
        own_class,
        _fails(run, wanted, trace) if failing else "",
        permalink,
        one_shot and chunking == WHOLE,
        bool(failing) and not unordered(trace),
        _said_in_parts(wanted),
        bool(failing) and all(map(_is_spelling, trace_differences(wanted, trace, run.case.compare))),
        key,
    )


def _unordered(compare: Compare, expect: Expect, trace: Trace) -> list[Difference]:
    """What differs in texts and calls, whatever their order. Where white space does not count it does not between the
    parts of a text."""
    plain, apart = expect.in_fields.model_copy(update={"events": None}), _said_in_parts(expect)
    soft = apart if compare.whitespace == "soft" else ()
    found = trace_differences(plain, trace, compare)
    return [one for one in found if one.field not in soft or _letters(one.expected) != _letters(one.actual)]


def _is_spelling(found: Difference) -> bool:
    """Return whether arguments differ in what most readers of JSON do not tell: white space, and a key given twice."""
    expected, actual = found.expected, found.actual
    if found.field.startswith("events["):  # where the name of a call stands before them
        (name, _, expected), (other, _, actual) = expected.partition(" "), actual.partition(" ")
        if name != other:
            return False
    elif not found.field.endswith(".arguments"):
        return False
    try:
        return json.dumps(json.loads(expected)) == json.dumps(json.loads(actual))
    except (ValueError, RecursionError):
        return False


def _letters(text: str) -> str:
    return "".join(text.split())


def _said_in_parts(expect: Expect) -> frozenset[str]:
    """The texts that the events of an expectation alone say."""
    texts = {"reasoning": expect.reasoning, "content": expect.content}
    return frozenset([name for name, text in texts.items() if text is None and expect.events is not None])


def _fails(run: CaseRun, expect: Expect, trace: Trace) -> str:
    first = trace_differences(expect, trace, run.case.compare)[0]
    return f"{first.field}: expected {first.expected!r}, came {first.actual!r}"


def identifier(words: str) -> str:
    """Words as the end of a name in any language: small letters, digits and underscores."""
    return "_".join(re.findall("[a-z0-9]+", words.lower()))[:60].strip("_") or "case"


def object_of(call: ExpectedCall) -> dict[str, Any] | None:
    """The arguments of a call as an object; None where they are text that is none, or one of which a language has no
    literal: JSON may spell half a surrogate pair, and a number that is infinite."""
    if call.arguments is not None or call.raw is None:
        return call.arguments
    try:
        value = jsontext.read(call.raw)
        jsontext.check(value)
    except JsonError:
        return None
    return value if isinstance(value, dict) else None


def _as_text(call: ExpectedCall, text: ExpectedCall) -> ExpectedCall:
    """A call by the text of its arguments, where that says the same call."""
    agree = call.raw is None and call.name == text.name and jsontext.same(object_of(text), call.arguments)
    return text if agree else call


def _call(call: ExpectedCall) -> dict[str, Any]:
    value = object_of(call)
    return {"name": call.name, "arguments": call.raw if value is None else value}


def _sent_call(event: MessageEvent) -> dict[str, Any]:
    return _call(ExpectedCall(name=event.name, raw=event.text))


def readers_of(
    names: ParserNames, fmt: Format, text: str, *, reasoning: bool, called: str = ""
) -> tuple[str | None, str | None]:
    """The tool and the reasoning parser of a server that read an output of a format; None where it has none.

    Where only a reasoning parser reads the format, calls are read by the parser of the grammar that they show; if that
    is none of the format's, by that of a format that it extends, if any. `called`: the parser to take of several.
    """
    tool, thinking = _reader(names.tool, fmt.name, called), _reader(names.reasoning, fmt.name, called)
    if tool is None and thinking is not None:
        tool = _reader_of_calls(names.tool, fmt, text)
    return tool, (thinking or _between_same_markers(names, fmt)) if reasoning else None


def case_readers(names: ParserNames, case: Case) -> tuple[str | None, str | None]:
    """The same for a case that names one of our parsers: its reasoning is read where it is expected, open or ended."""
    fmt = case.parser.format or known_format(case.parser.name) if case.parser.engine is None else None
    if fmt is None:
        return None, None
    text, expect = case.text(), case.known.expect
    told = case.context.reasoning_open or (expect is not None and bool(expect.in_fields.reasoning))
    ended = any(marker in text for marker in reasoning_markers(fmt).closers)
    return readers_of(names, fmt, text, reasoning=told or ended, called=case.parser.name)


def _reader(names: Mapping[str, str | None], fmt: str, called: str = "") -> str | None:
    """The parser that reads a format: the one that is `called` so, or as the format is, else the first."""
    first = next((name for name, read in names.items() if read == fmt), None)
    return next((name for name in (called, fmt) if names.get(name) == fmt), first)


def _reader_of_calls(names: Mapping[str, str | None], fmt: Format, text: str) -> str | None:
    """The tool parser for a format that has none of its own; None where the output shows nothing of calls."""
    shown = get_format(shown_by(text))
    read = _reader(names, shown.name)
    if _call_codecs(shown) <= _call_codecs(fmt):
        return read
    return next((found for name in _extended(fmt.name) if (found := _reader(names, name)) is not None), read)


@lru_cache(maxsize=1)  # several ask it of one output, and it is most of what reading a sample costs
def shown_by(text: str) -> str:
    """The format that an output shows by itself."""
    return select(Evidence(text=text)).name


def _call_codecs(fmt: Format) -> set[str]:
    return {state.codec.name for state in fmt.states.values() if state.codec is not None}


def _extended(name: str) -> Iterator[str]:
    """The built-in formats that a format extends, the nearest first."""
    while (name := builtin_sources().get(name, {}).get("extends", "")) != "":
        yield name


def _between_same_markers(names: ParserNames, fmt: Format) -> str | None:
    """The usual parser of reasoning between <think> and </think>, where that is how the format has it."""
    usual = get_format(_THINKING)
    same = reasoning_markers(fmt) == reasoning_markers(usual)
    return _THINKING if same and _THINKING in names.reasoning else None


def numbered(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Pieces that all have an id, which is one of ours where no server gave it, the same for the same text. So text
    that comes later than its ids does so here as well, and whoever reads a test can tell such ids from a server's."""
    texts = dict.fromkeys([piece.text for piece in pieces if not piece.recorded and piece.text])
    made = {text: number for number, text in enumerate(texts, _NUMBERED)}
    return tuple([one if one.recorded else replace(one, token_id=made.get(one.text)) for one in pieces])


class TestedIds:
    """Gives an id to every token of an output, and to what some deltas of it cut them into."""

    def __init__(self, case: Case, parser: str, fmt: Format, tokens: Sequence[Piece], deltas: Sequence[Delta]) -> None:
        known = dict(case.markers() or {})
        told = known_format(parser) is not None and bool(fmt.tokens)  # else nobody says which are tokens
        texts = [*fmt.tokens, *fmt.end_tokens]
        texts += [] if told else [one for one in unmistakable_markers() if one in case.text()]
        sent = {one.text: one.token_id for one in tokens if one.recorded and one.token_id is not None and one.text}
        for number, text in enumerate(dict.fromkeys(texts)):  # a marker is the token that a server sent for it
            known.setdefault(text, sent.get(text, OWN_IDS + number))
        self.vocabulary: Mapping[str, int] = known
        self._made, self._parts = {**sent, **known}, count(_MADE + len(known))
        self._texts: dict[int, str] = {}  # of tokens whose ids are ours
        for piece in [*tokens, *[piece for delta in deltas for piece in delta.pieces]]:  # some of the latter are cut
            own = None if piece.recorded else piece.token_id
            if own is not None and len(piece.text) >= len(self._texts.get(own, "")):
                self._texts[own] = piece.text
        for number, text in self._texts.items():  # before any part of a token asks for an id of the same text
            self._made.setdefault(text, number)

    def tokens(self, pieces: Sequence[Piece]) -> list[tuple[int, str]]:
        """The tokens of pieces of the output: of a delta, or all of them as they were given. No id comes with the rest
        of a token that a server sent."""
        return [self._token(piece) for piece in pieces if _is_sent(piece) or (piece.text and not piece.recorded)]

    def ids(self, delta: Delta) -> list[int]:
        """The ids that come with a delta."""
        if delta.early_ids is None:
            return [number for number, _ in self.tokens(delta.pieces)]
        return [self._made[self._texts[one]] if one in self._texts else one for one in delta.early_ids]

    def prompt(self, case: Case) -> list[int]:
        """The ids of the markers at the end of the prompt, which tell whether reasoning is open."""
        tail = case.context.prompt_tail or ""
        found = [(tail.rfind(text), number) for text, number in self.vocabulary.items() if text and text in tail]
        return [number for _, number in sorted(found)]

    def _token(self, piece: Piece) -> tuple[int, str]:
        if piece.recorded and piece.token_id is not None:
            return piece.token_id, piece.text
        if piece.text not in self._made:
            self._made[piece.text] = next(self._parts)
        return self._made[piece.text], piece.text
