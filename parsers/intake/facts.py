"""What follows from a recording and its request: how sure each thing about it is, and what a person could add.

One fact for each of the seven things, in a fixed order. A reader that knows better gives its own fact; the rest follows
from what is there and what is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import get_args

from parsers.intake.model import About, Ask, Fact, number
from parsers.vocabulary.types import Recording, Request

_ORDER: tuple[About, ...] = get_args(About)


def facts(recording: Recording, given: Iterable[Fact] = ()) -> tuple[Fact, ...]:
    """All seven facts: those `given`, and for the rest what the recording and its request show."""
    told = {fact.about: fact for fact in given}
    return tuple([told.get(about) or _DERIVED[about](recording) for about in _ORDER])


def asks(recording: Recording) -> tuple[Ask, ...]:
    """What is missing and can be given, the most important first."""
    request = recording.request or Request()
    found: list[Ask] = []
    if recording.text is None and recording.ids is not None:
        found.append(Ask("tokenizer", "Choose or upload the model's tokenizer: it turns the token ids into text."))
    elif recording.text is None:
        found.append(Ask("text", "Give the raw output if you can record it; without it only the chunks are checked."))
    if request.tools is None and recording.kind != "raw_text":
        found.append(Ask("tools", "Give the tools of the request: argument types and unknown names depend on them."))
    if _start(recording).certainty != "exact" and recording.kind != "raw_text":
        found.append(Ask("reasoning_open", "Say whether the prompt ended inside a reasoning block such as `<think>`."))
    return tuple(found)


def _text(recording: Recording) -> Fact:
    if recording.text is not None:
        words = "The raw text is there, character for character."
        return Fact("text", "exact", "The raw text was rebuilt from its bytes." if recording.pieces else words)
    if recording.ids is not None:
        return Fact("text", "missing", "The raw text takes the model's tokenizer: its ids are here, its text is not.")
    return Fact("text", "missing", "The raw text is not in it: the server's parser has already taken it apart.")


def _ids(recording: Recording) -> Fact:
    known = recording.ids if recording.ids is not None else _ids_of(recording)
    if known is not None:
        return Fact("ids", "exact", f"{number(len(known), 'token id')} recorded.")
    return Fact("ids", "missing", "No token ids: how the text was split into tokens is assumed.")


def _ids_of(recording: Recording) -> tuple[int, ...] | None:
    """The ids that pieces or deltas carry, if all of them do."""
    if recording.pieces:
        found = [piece.token_id for piece in recording.pieces if piece.token_id is not None]
        return tuple(found) if len(found) == len(recording.pieces) else None
    parts = [delta.ids for delta in recording.deltas or () if delta.text or delta.ids]
    if not parts or None in parts:
        return None
    return tuple([one for part in parts for one in part or ()])


def _deltas(recording: Recording) -> Fact:
    steps = recording.deltas if recording.deltas is not None else recording.counts
    if steps is not None:
        return Fact("deltas", "exact", f"The output came in {number(len(steps), 'delta')}; where each ends is known.")
    words = "Where one delta ended and the next began is not known; a chunking is assumed."
    return Fact("deltas", "missing", words)


def _server(recording: Recording) -> Fact:
    if recording.stream is None:
        return Fact("server", "missing", "Nothing shows what the server's own parser made of it.")
    if len(recording.stream) == 1 and recording.counts is None and recording.deltas is None:
        return Fact("server", "exact", "The answer is as the server sent it, in one piece.")
    return Fact("server", "exact", f"{number(len(recording.stream), 'chunk')} as the server sent them.")


def _tools(recording: Recording) -> Fact:
    tools = recording.request.tools if recording.request else None
    if tools is None:
        return Fact("tools", "missing", "The tools of the request are not known: every name and type is accepted.")
    return Fact("tools", "exact", f"{number(len(tools), 'tool')} taken from the request.")


def _start(recording: Recording) -> Fact:
    request = recording.request or Request()
    if recording.prompt_text is not None or request.prompt_tail is not None:
        return Fact("start", "exact", "The end of the prompt is known, and with it the state that the output began in.")
    if request.reasoning_open is not None:
        return Fact("start", "exact", "It is known whether the prompt left a reasoning block open.")
    if recording.prompt_ids is not None:
        words = "The prompt's token ids are known; the model's tokenizer shows how the prompt ended."
        return Fact("start", "exact", words)
    return Fact("start", "assumed", "The end of the prompt is not known; assumed that no reasoning block was open.")


def _finish(recording: Recording) -> Fact:
    if recording.finish_reason is None:
        return Fact("finish", "missing", "Why the output ended is not recorded.")
    return Fact("finish", "exact", f"The server gave the finish reason {recording.finish_reason}.")


_DERIVED: dict[About, Callable[[Recording], Fact]] = {
    "text": _text,
    "ids": _ids,
    "deltas": _deltas,
    "server": _server,
    "tools": _tools,
    "start": _start,
    "finish": _finish,
}
