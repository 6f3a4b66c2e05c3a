"""What a server sent: OpenAI chat chunks in either dialect, or one whole answer, as deltas in this library's own form.

Nothing in a stream is an error here: whatever a chunk holds that a client would not expect becomes a `Note` on it, and
the reading goes on with what a lenient client would take it for. A call without an index belongs to the call with its
id, or to the latest one; arguments that are no text are written as JSON; the old `function_call` is call 0.

Shapes: OpenAI API reference (chat, streaming and not); `reasoning_content` is the name that SGLang, vllm.rs and older
vLLM give to `reasoning`. Choices of one answer are taken apart before: of several in one chunk the first counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from parsers.vocabulary.events import Severity
from parsers.vocabulary.types import MessageDelta, ToolCallDelta
from parsers.wire.endings import End, end_of
from parsers.wire.halves import with_whole_characters

_THOUGHTS = ("thinking", "reasoning")
_WORDS = ("text", "thinking", "reasoning", "refusal")  # the names that parts have for their text
MOST_CALLS = 1_000_000  # of a message: a larger index is none
SERVER_ERROR = "server_error"
FINISH_OTHER = "finish_other"  # a second finish reason that is not the first one
CLOSED_OTHERWISE: Final = "closed_otherwise"
CLOSED_SHORT: Final = "closed_short"
DELTAS_SHORT: Final = "deltas_short"
EVENTS_MISSING: Final = "events_missing"
BLOCKS_APART: Final = "blocks_apart"
BLOCK_UNENDED: Final = "block_unended"
# Also the fields of a chunk in which the reader of another API's log says so.
OF_OTHER_LOGS: tuple[
    Literal["closed_otherwise", "closed_short", "deltas_short", "events_missing", "blocks_apart", "block_unended"], ...
] = (
    CLOSED_OTHERWISE,
    CLOSED_SHORT,
    DELTAS_SHORT,
    EVENTS_MISSING,
    BLOCKS_APART,
    BLOCK_UNENDED,
)
NOTES: dict[str, Severity] = {
    SERVER_ERROR: "error",
    CLOSED_OTHERWISE: "warning",
    CLOSED_SHORT: "error",
    DELTAS_SHORT: "error",
    EVENTS_MISSING: "warning",
    BLOCKS_APART: "error",
    BLOCK_UNENDED: "warning",
    "no_object": "error",
    "no_index": "error",
    "odd_index": "error",
    "arguments_object": "error",
    "function_call": "warning",
    "flat_call": "error",
    "odd_field": "warning",
    "two_reasonings": "warning",
    "content_parts": "info",
    "refusal": "info",
    "several_choices": "info",
    "finish_again": "warning",
    FINISH_OTHER: "error",
    "after_finish": "warning",
}


@dataclass(slots=True, frozen=True)
class _Note:
    """Something about a chunk that clients do not expect: a name for programs (a key of `NOTES`), and a sentence."""

    code: str
    words: str


@dataclass(slots=True)
class ServerChunk:
    """Holds what one chunk says. `delta` None: nothing for the message (a role, usage, a comment). `ids`: its token
    ids. `may_finish`: it has a place for a finish reason, be it empty. `whole`: it is an answer that was not streamed.
    `error`: what the server says went wrong."""

    delta: MessageDelta | None = None
    finish_reason: str | None = None
    ids: tuple[int, ...] | None = None
    notes: tuple[_Note, ...] = ()
    may_finish: bool = field(default=False, compare=False)
    whole: bool = field(default=False, compare=False)
    error: str | None = field(default=None, compare=False)
    end: End | None = field(default=None, compare=False)
    """Why the answer ended, in the words of another API that sent it."""
    tokens: int | None = field(default=None, compare=False)
    """How many tokens the server counted by then, without those of reasoning that it counts apart."""

    @property
    def note(self) -> str:
        """All notes in one line, "" where there is nothing to note."""
        return " ".join([note.words for note in self.notes])


def read_stream(stream: Iterable[Any]) -> list[ServerChunk]:
    """The chunks of one answer, in order, one for each object of `stream`. Never raises; linear in what is given."""
    reader = _Reader()
    return [reader.read(payload) for payload in with_whole_characters([*stream])]


@dataclass(slots=True)
class _Reader:
    """Reads chunk after chunk: which calls there are decides where a part without an index belongs."""

    by_id: dict[str, int] = field(default_factory=dict)
    latest: int | None = None
    highest: int = -1
    finish: str | None = None
    end: End | None = None
    notes: list[_Note] = field(default_factory=list)

    def read(self, payload: Any) -> ServerChunk:
        self.notes = []
        choice = self._choice(payload)
        known = self.finish
        said, delta = choice.get("delta", choice.get("message")), None
        if isinstance(said, Mapping):
            delta = self._delta(said, whole="delta" not in choice)
        elif isinstance(choice.get("text"), str):
            delta = _sent(None, choice["text"], [])
        known_end = self.end
        end = end_of(choice) if choice.get("finish_reason") is not None else None
        finish = self._finish(choice.get("finish_reason"), end)
        if known is not None and delta is not None:
            last = f"the finish reason `{known}`" if known_end is None else f"the end, `{known_end.word}`"
            self._note("after_finish", f"It comes after {last}: clients may not read it any more.")
        error = _error_words(payload) if is_error(payload) else None
        ends = {"may_finish": "finish_reason" in choice, "whole": "message" in choice and "delta" not in choice}
        notes, tokens = tuple(self.notes), _tokens(payload)
        return ServerChunk(delta, finish, _ids(choice), notes, error=error, end=end, tokens=tokens, **ends)

    def _note(self, code: str, words: str) -> None:
        self.notes.append(_Note(code, words))

    def _choice(self, payload: Any) -> Mapping[str, Any]:
        if not isinstance(payload, Mapping):
            self._note("no_object", "It is no JSON object.")
            return {}
        if is_error(payload):
            self._note(SERVER_ERROR, f"The server reports an error: {_error_words(payload)}")
        for code in OF_OTHER_LOGS:
            if isinstance(words := payload.get(code), str):
                self._note(code, words)
        choices = payload.get("choices")
        found = [one for one in choices if isinstance(one, Mapping)] if isinstance(choices, list) else []
        if len(found) > 1:
            self._note("several_choices", f"It holds {len(found)} choices; the first one is read.")
        return found[0] if found else {}

    def _finish(self, reason: Any, end: End | None) -> str | None:
        if reason is None:
            return None
        if not isinstance(reason, str):
            self._note("odd_field", f"Its finish_reason is {_kind(reason)}, not text.")
            return None
        what, word = ("finish reason", reason) if end is None else (f"`{end.field}`", end.word)
        before = self.finish if self.end is None else self.end.word
        if self.finish == reason:
            self._note("finish_again", f"It has the {what} `{word}` again.")
        elif self.finish is not None:
            words = f"It has a second {what}, `{word}`, after `{before}`: clients go by one or the other."
            self._note(FINISH_OTHER, words)
        self.finish, self.end = reason, end
        return reason

    def _delta(self, said: Mapping[str, Any], *, whole: bool) -> MessageDelta | None:
        calls = self._calls(said.get("tool_calls") or _calls_in(said.get("content")), whole=whole)
        if isinstance(legacy := said.get("function_call"), Mapping):
            self._note("function_call", "It holds the old `function_call`: clients that read tool_calls see no call.")
            calls.append(self._function(0, None, legacy))
        return _sent(self._reasoning(said), self._text(said, "content") or self._refusal(said), calls)

    def _reasoning(self, said: Mapping[str, Any]) -> str | None:
        one, other = self._text(said, "reasoning"), self._text(said, "reasoning_content")
        if one and other and one != other:
            self._note("two_reasonings", "`reasoning` and `reasoning_content` differ; the first one is read.")
        return one or other or text_in(said.get("content"), thoughts=True)

    def _refusal(self, said: Mapping[str, Any]) -> str | None:
        """Why the model refuses: clients show it in place of the content."""
        refusal = said.get("refusal")
        if not isinstance(refusal, str) or not refusal:
            return None
        self._note("refusal", "It is a refusal; its text is read as the content.")
        return refusal

    def _text(self, said: Mapping[str, Any], key: str) -> str | None:
        text = said.get(key)
        if text is None or isinstance(text, str):
            return text
        if isinstance(text, list):
            self._note("content_parts", f"Its {key} is a list of parts; their texts are joined.")
            return text_in(text)
        self._note("odd_field", f"Its {key} is {_kind(text)}, not text.")
        return None

    def _calls(self, calls: Any, *, whole: bool) -> list[ToolCallDelta]:
        if calls is None:
            return []
        if isinstance(calls, Mapping):
            self._note("odd_field", "Its tool_calls is one object, not a list.")
            calls = [calls]
        if not isinstance(calls, list):
            self._note("odd_field", f"Its tool_calls is {_kind(calls)}, not a list.")
            return []
        found = []
        for place, call in enumerate(calls):
            if isinstance(call, Mapping):
                found.append(self._call(call, place if whole else None))
            else:
                self._note("odd_field", f"An entry of its tool_calls is {_kind(call)}, not an object.")
        return found

    def _call(self, call: Mapping[str, Any], place: int | None) -> ToolCallDelta:
        """One entry; `place`: in a whole answer, where calls need no index."""
        said, function = self._word(call, "id"), call.get("function")
        if not isinstance(function, Mapping):
            function = {}
            if "name" in call or "arguments" in call:
                self._note("flat_call", "A call has its name and arguments outside `function`: clients see neither.")
                function = call
        index = place if place is not None else self._index(call, said, bool(function.get("name")))
        self.latest, self.highest = index, max(self.highest, index)
        if said:
            self.by_id.setdefault(said, index)
        return self._function(index, said, function)

    def _index(self, call: Mapping[str, Any], said: str | None, named: bool) -> int:
        index = call.get("index")
        if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < MOST_CALLS:
            return index
        new = said not in self.by_id if said else named or self.latest is None
        known = self.by_id.get(said, self.latest) if said else self.latest
        guess = self.highest + 1 if new or known is None else known
        if index is None:
            self._note("no_index", f"A part of a call has no index; it is taken for call {guess}.")
        else:
            self._note("odd_index", f"The index of a call is {_shown(index)}; it is taken for call {guess}.")
        return guess

    def _function(self, index: int, said: str | None, function: Mapping[str, Any]) -> ToolCallDelta:
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            words = f"The arguments of call {index} are {_kind(arguments)}, not text: clients cannot add them up."
            self._note("arguments_object", words)
            arguments = _shown(arguments)
        return ToolCallDelta(index, said, self._word(function, "name"), arguments)

    def _word(self, said: Mapping[str, Any], key: str) -> str | None:
        word = said.get(key)
        if word is None or isinstance(word, str):
            return word
        self._note("odd_field", f"The {key} of a call is {_kind(word)}, not text.")
        return _shown(word)


def text_in(content: Any, *, thoughts: bool = False) -> str:
    """Return the text of a content that is text or a list of parts: what the model says, or what it thought on the way,
    which Mistral sends as parts of the kind `thinking` with parts of their own (mistralai 1)."""
    if isinstance(content, str):
        return "" if thoughts else content
    found = [_text_of(part) for part in content if _is_thought(part) is thoughts] if isinstance(content, list) else []
    return "".join(found)


def _calls_in(content: Any) -> list[Any] | None:
    """The calls that proxies leave among the parts of a content, as Anthropic has them; None without any."""
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    uses = [part for part in parts if part.get("type") == "tool_use"]
    called = [{"name": part.get("name"), "arguments": _shown(part.get("input"))} for part in uses]
    return [{"id": one.get("id"), "function": function} for one, function in zip(uses, called, strict=True)] or None


def _is_thought(part: Any) -> bool:
    return isinstance(part, Mapping) and (part.get("type") in _THOUGHTS or bool(part.get("thinking")))


def _text_of(part: Any) -> str:
    """The text of a part, under the name that its kind has for it."""
    found = next((part[key] for key in _WORDS if part.get(key)), "") if isinstance(part, Mapping) else part
    inner = [one.get("text") for one in found if isinstance(one, Mapping)] if isinstance(found, list) else [found]
    return "".join([one for one in inner if isinstance(one, str)])


def _sent(reasoning: str | None, content: str | None, calls: list[ToolCallDelta]) -> MessageDelta | None:
    """The delta, or None where it says nothing: the first chunk often has content "" beside the role."""
    return MessageDelta(reasoning or None, content or None, calls) if reasoning or content or calls else None


def _ids(choice: Mapping[str, Any]) -> tuple[int, ...] | None:
    ids = choice.get("token_ids")
    if not isinstance(ids, list) or not all(isinstance(one, int) and one >= 0 for one in ids):
        return None
    return tuple(ids)


def _tokens(payload: Any) -> int | None:
    """The generated tokens that a payload counts, where they are those of one choice. Those of reasoning stand in a
    field inside it (OpenAI API reference), or beside it (SGLang 0.5)."""
    usage = payload.get("usage") if isinstance(payload, Mapping) else None
    if not isinstance(usage, Mapping) or type(usage.get("completion_tokens")) is not int:
        return None
    choices = payload.get("choices")
    if isinstance(choices, list) and len(choices) > 1:
        return None
    apart = usage.get("completion_tokens_details")
    apart = apart if isinstance(apart, Mapping) else usage
    hidden = apart.get("reasoning_tokens")
    return int(usage["completion_tokens"]) - (hidden if type(hidden) is int else 0)


def is_error(payload: Any) -> bool:
    """Return whether a server sent an error in place of a chunk."""
    return isinstance(payload, Mapping) and bool(payload.get("error") or payload.get("object") == "error")


def _error_words(payload: Mapping[str, Any]) -> str:
    error = payload.get("error") or payload
    words = error.get("message") if isinstance(error, Mapping) else error
    return words if isinstance(words, str) else _shown(error)


def _kind(value: Any) -> str:
    names = ((bool, "a truth value"), (int | float, "a number"), (str, "text"), (list | tuple, "a list"))
    return next((name for kind, name in names if isinstance(value, kind)), "an object")


def _shown(value: Any) -> str:
    """A value as JSON text; what JSON cannot hold, or nests too deep, as nothing."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""
