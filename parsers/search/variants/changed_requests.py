"""Variants of the request and of the parser, and the calls as the next request will hold them.

Only for `rerendered` the text changes: to what the chat template, run elsewhere, writes for the calls. It is the
assistant's part of a conversation, so it begins where an output begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from parsers.checks.subject import Variant, chunking_of
from parsers.machine.reasoning import prompt_opens, reasoning_markers
from parsers.replays.chunking import Chunking
from parsers.replays.edits import Edit
from parsers.replays.replayer import Replayer
from parsers.search.sweep import json_of, one_delta
from parsers.search.variants.ground import Ground
from parsers.vocabulary.events import CallStart, Diagnostic
from parsers.vocabulary.json_values import is_json
from parsers.vocabulary.trace import Proof, StreamParser, Trace
from parsers.vocabulary.types import Message

PROBE = "Hello"
AS = {"object": "an object", "string": "text"}
REQUEST = {"finish_reason": "stop", "reasoning_open": False, "prompt_tail": None}


def no_tools(ground: Ground) -> Iterator[Variant]:
    """The request without its tools: what the schemas changed, and whether names are still accepted."""
    if ground.replayer.context.tools and ground.can_call:
        yield from ground.run("no_tools", "without the declared tools", context={"tools": ()})


def no_calls(ground: Ground) -> Iterator[Variant]:
    """The request with tool_choice none."""
    known = ground.replayer.format is not None  # an engine that reads no grammar of ours leaves tool_choice to others
    if known and ground.can_call and ground.base(ground.chunkings[0]).tool_calls:
        yield from ground.run("no_calls", "with tool_choice none", context={"tool_choice": "none"})


def reused(ground: Ground) -> Iterator[Variant]:
    """One parser instance for the output twice, after a broken-off output, and after one with a marker deleted.

    A second code path for whole outputs is another parser: the one that streams is compared with itself. The numbers of
    the calls are compared with those of the first replay. Where a new instance goes on counting as well, what one
    request leaves behind is there for every other: then that alone is told.
    """
    outlives = next(_goes_on(ground), None)
    if outlives is not None:
        yield outlives
        return
    if ground.replayer.tapes is not None:  # whoever makes the replays elsewhere takes a new instance for each
        return
    for chunking in (one_delta(ground.replayer.one_shot is not None), ground.streamed):
        for label, edits, ends in _before(ground):
            parser = ground.replayer.make()
            _use(parser, ground.replayer.changed(edits), chunking, ends=ends)
            again = ground.replayer.with_pieces(ground.pieces).with_parser(partial(_identity, parser))
            trace, proof = again.trace(chunking), Proof(json_of(chunking))
            facts, base = {"numbers": (_numbers(ground.trace), _numbers(trace))}, ground.base(chunking)
            yield Variant("reused", label, proof, ground.text, trace.message, trace.failure, facts, base)


def _goes_on(ground: Ground) -> Iterator[Variant]:
    """The replay under study once more, by a new instance, where that gives its calls other numbers."""
    said, first = chunking_of(ground.trace), ground.trace
    trace = ground.replayer.with_pieces(ground.replayer.pieces).trace(Chunking.model_validate(said))
    numbers = _numbers(first), _numbers(trace)
    if trace.failure is None and numbers[0] != numbers[1]:
        facts = {"numbers": numbers, "failures": (None, None)}
        yield Variant("reused", "again", Proof(said), ground.text, trace.message, None, facts, first.message)


def _numbers(trace: Trace) -> tuple[int, ...]:
    """The numbers that the parser gave to its calls, in order."""
    return tuple(sorted([event.call for _, event in trace.events() if isinstance(event, CallStart)]))


def _identity(parser: StreamParser) -> StreamParser:
    return parser


def _before(ground: Ground) -> Iterator[tuple[str, tuple[Edit, ...], bool]]:
    """Yield what the instance reads first, as edits of the output, and whether that is ended."""
    size = len(ground.text)
    yield "after the same output", (), True
    if size > 1:
        yield "after the first half of it, which never ended", ((size // 2, size, ""),), False
    if ground.markers:
        marker = max(ground.markers, key=ground.text.rfind)
        at = ground.text.rfind(marker)
        # Where the marker is the end of the output, what is left of it never ends either.
        rest = ((at, at + len(marker), ""),)
        yield f"after the same output without its last `{marker}`", rest, at + len(marker) < size


def _use(parser: StreamParser, before: Replayer, chunking: Chunking, *, ends: bool) -> None:
    """Let the parser read something first; where it fails, that is no finding here."""
    with suppress(Exception):
        parser.begin(before.context, mode=before.mode, markers=before.markers)
        for delta in before.deltas(chunking):
            parser.feed(delta)
        if ends:
            parser.finish(before.context.finish_reason)


def start_state(ground: Ground) -> Iterator[Variant]:
    """The other start state where the prompt is not known and the output gives reason to doubt; else a probe.

    Reasons to doubt: reasoning ends that never began, or reasoning that was said to be open never ends.
    """
    context, fmt = ground.replayer.context, ground.replayer.format
    if fmt is None or fmt.initial_when_reasoning_open is None:
        return
    if context.prompt_tail is not None:
        # A plain word in place of the output shows in which channel the parser begins.
        expected = "reasoning" if prompt_opens(fmt, context.prompt_tail) else "content"
        facts, edit = {"expected": expected, "probe": PROBE}, ((0, len(ground.text), PROBE),)
        label = f"the word {PROBE} in place of the output"
        yield from ground.run("start_state", label, edits=edit, facts=facts, chunkings=ground.chunkings[:1])
        return
    doubt = _unclosed(ground) if context.reasoning_open else _orphan(ground)
    if doubt is not None:
        said = {"open": not context.reasoning_open, "doubt": doubt}
        label = f"with reasoning {'not ' if context.reasoning_open else ''}open at the start"
        changes = {"reasoning_open": not context.reasoning_open}
        yield from ground.run("start_state", label, context=changes, facts=said, chunkings=ground.chunkings[:1])


def _orphan(ground: Ground) -> str | None:
    """The end marker of reasoning that nothing began, where the output has one."""
    events = ground.own.events() if ground.own is not None else ()
    codes = [event for _, event in events if isinstance(event, Diagnostic)]
    return next((ground.text[e.start : e.end] for e in codes if e.code == "orphan_reasoning_end"), None)


def _unclosed(ground: Ground) -> str | None:
    """The end marker of reasoning that never comes, where all text became reasoning."""
    message: Message = ground.base(ground.chunkings[0])
    fmt = ground.replayer.format
    closers = reasoning_markers(fmt).closers if fmt is not None else ()
    if message.reasoning and not message.content and not message.tool_calls and closers:
        return None if any(closer in ground.text for closer in closers) else closers[0]
    return None


def rerendered(ground: Ground) -> Iterator[Variant]:
    """The calls as the chat template writes them, once for each way it needs their arguments."""
    replayer, calls = ground.replayer, ground.trace.message.tool_calls
    whole = all(call.complete and is_json(call.arguments) for call in calls)
    if replayer.rerender is None or replayer.plays or not ground.can_call or not calls or not whole:
        return
    ends = () if replayer.format is None else replayer.format.end_tokens
    for one in replayer.rerender(calls, replayer.context, ends):
        label = f"Written by the chat template with arguments as {AS[one.spelling]}"
        facts: dict[str, str] = {"spelling": one.spelling}
        if one.problem:
            yield Variant(
                "rerendered", label, Proof(), "", ground.trace.message, facts={**facts, "problem": one.problem}
            )
            continue
        edits = ((0, len(ground.text), one.text),)
        yield from ground.run("rerendered", label, edits=edits, context=REQUEST, facts=facts)
