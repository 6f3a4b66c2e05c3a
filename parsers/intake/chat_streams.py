"""OpenAI chat: chunks and answers that a server's parser has made, and what they still tell of the raw output.

The chunks are kept as they came, each response and choice with its own. A response is told by its id; where a log has
none, by what stands between end sentinels. A choice that has finished begins a new response with its next `role`, or
after an end sentinel. Payloads without choices (usage, SGLang's token ids) belong to the whole response.

What brings the raw output back is asked in order, and what was known first stands: token ids (vLLM `token_ids`, SGLang
`response_token_ids` and `sglext`), true bytes (`logprobs.content[].bytes`), llama.cpp's `__verbose`, and content that
still holds markers, with nothing split off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from parsers.intake.api_families import is_failure, rewritten_arguments
from parsers.intake.api_logs import (
    NO_FINISH,
    UNFINISHED,
    Log,
    OutputKey,
    output_labels,
    several_outputs_warning,
    tokens_counted,
)
from parsers.intake.evidence import Fact, Intake, Payload, Warn, holds_markers, means_markers, number, only_closes_calls
from parsers.intake.json_frames import Frame
from parsers.intake.moments import Moment, arrivals, made_at, moment_of
from parsers.intake.plain_text import LONE_SURROGATE, whole_characters
from parsers.intake.token_bytes import LoggedToken, choice_tokens, ids_in, lossy_text, pieces_of
from parsers.intake.written_values import choices_of, ids_of, object_of, objects_of, word_of, word_or_number_of
from parsers.vocabulary.types import Piece, RecordedDelta, Recording, Request
from parsers.wire.read import EVENTS_MISSING, OF_OTHER_LOGS, is_error, text_in

_ASIDE = frozenset(("usage", "sglext", "output_ids", "prompt_token_ids", "prompt_text", "object"))
_BACKWARDS = Warn(
    "times_unusable", "Its time stamps run backwards or differ in kind, so when each chunk came is not known."
)
_CUSTOM = "custom_tool_call"  # the kind of an item of OpenAI's Responses
_CUSTOM_CALLS = Warn(
    "other_chunk", "Calls of custom tools, whose input is any text, are left out: only calls of functions are read."
)
_TOLD = 3  # outputs of a log whose warnings of one code are told: a log can hold thousands


@dataclass(slots=True)
class _Output:
    """One output: the choices of its chunks and the payloads that they came in, in order.

    `stream` holds the payloads with this choice alone, `moments` their time stamps. `asides` are the payloads of the
    response without a choice, `siblings` the outputs of the same response. `finished`: in which part of the log.
    `part`: that of its last chunk. `roles`: how many chunks name the role.
    """

    key: OutputKey
    siblings: dict[int, _Output]
    asides: list[Payload]
    choices: list[Payload] = field(default_factory=list)
    payloads: list[Payload] = field(default_factory=list)
    stream: list[Payload] = field(default_factory=list)
    moments: list[Moment | None] = field(default_factory=list)
    finished: int | None = None
    part: int = 0
    roles: int = 0

    def send(self, payload: Payload, moment: Moment | None) -> None:
        """Take the next chunk of the stream."""
        self.stream.append(payload)
        self.moments.append(moment)


@dataclass(slots=True)
class _Response:
    """The outputs of one response, and its payloads without a choice with their time stamps."""

    round: int = 0
    outputs: dict[int, _Output] = field(default_factory=dict)
    asides: list[Payload] = field(default_factory=list)
    moments: list[Moment | None] = field(default_factory=list)


@dataclass(slots=True)
class _Sorter:
    """Sorts chunks by output, in the order in which the outputs began.

    `one_id`: ids name chunks, not responses. `part`: the number of the part of the log. `unnamed`: chunks without an
    id among chunks with one. `runs`: ids, each as often as it took over.
    """

    log: Log
    one_id: bool
    part: int = 0
    outputs: list[_Output] = field(default_factory=list)
    responses: dict[tuple[int, str | None], _Response] = field(default_factory=dict)
    last: str | None = None
    unnamed: int = 0
    other: list[Frame] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)

    def sort(self) -> None:
        """Take all frames of the log."""
        for part, frames in enumerate(self.log.parts()):
            self.part, self.last = part, None
            for frame in frames:
                if frame.payload is None:
                    continue
                if not is_failure(frame):
                    self._add(frame, frame.payload)
                elif is_error(frame.payload):
                    self._fail(frame.payload)

    def _fail(self, payload: Payload) -> None:
        """An error in place of a chunk ends the answer that had begun last; without one there is nothing to end."""
        for output in self.outputs[-1:]:
            output.stream.append(payload)

    def _add(self, frame: Frame, payload: Payload) -> None:
        found = choices_of(payload)
        if found is None and _ASIDE.isdisjoint(payload):
            self.other.append(frame)
            return
        request, moment = self._request(payload, bool(found)), frame.moment or moment_of(payload)
        place = (0 if request else self.part, request)
        response = self.responses.setdefault(place, _Response())
        for choice in found or []:
            output = self._output(place, payload, choice)
            output.roles += _names_role(choice)
            output.part = self.part
            output.choices.append(choice)
            output.payloads.append(payload)
            output.send(payload if len(found or []) == 1 else _of_one(payload, choice), moment)
            if choice.get("finish_reason") or "message" in choice:
                output.finished = self.part
        if not found:
            response.asides.append(payload)
            response.moments.append(moment)
            if len(response.outputs) == 1:
                next(iter(response.outputs.values())).send(payload, moment)

    def _request(self, payload: Payload, has_choices: bool) -> str | None:
        """Return the id of the response that the payload belongs to; without an id, that of the one before."""
        value = payload.get("id")
        if self.one_id:
            return None
        if value is None or value == "":
            self.unnamed += has_choices and bool(self.runs)
            return self.last
        self.last = str(value)
        if self.runs[-1:] != [self.last]:
            self.runs.append(self.last)
        return self.last

    def _output(self, place: tuple[int, str | None], payload: Payload, choice: Payload) -> _Output:
        index = choice.get("index")
        index = index if type(index) is int and index >= 0 else 0
        response = self.responses[place]
        output = response.outputs.get(index)
        if output is not None and not self._begins_anew(output, payload, choice):
            return output
        if output is not None:
            response = self.responses[place] = _Response(response.round + 1)
        output = _Output(OutputKey(*place, index, response.round), response.outputs, response.asides)
        if not response.outputs:
            output.stream, output.moments = [*response.asides], [*response.moments]
        response.outputs[index] = output
        self.outputs.append(output)
        return output

    def _begins_anew(self, output: _Output, payload: Payload, choice: Payload) -> bool:
        """Return True where a choice that has finished begins again; repeated roles show nothing by it."""
        if output.finished is None:
            return False
        named = _names_role(choice) and output.roles < 2 and not payload.get("usage")
        return self.part > output.finished or "message" in choice or named

    def oddities(self) -> Iterator[Warn]:
        """Warn of all that was odd about the log."""
        if self.other:
            place = self.log.place(self.other[0])
            words = f"{number(len(self.other), 'object')} without choices left out (the first at {place})."
            yield Warn("other_chunk", words)
        if self.one_id:
            yield Warn("ids_differ", "Nearly every chunk has its own id, so all were taken for one response.")
        if self.unnamed:
            words = f"{number(self.unnamed, 'chunk')} without an id: each counted to the response before it."
            yield Warn("no_id", words)
        if len(self.runs) > len(set(self.runs)):
            words = f"Chunks of {number(len(set(self.runs)), 'response')} are mixed; they were parted by their id."
            yield Warn("interleaved", words)
        yield from several_outputs_warning(len(self.outputs))


def _of_one(payload: Payload, choice: Payload) -> Payload:
    """A payload with one of its choices, and without what is counted of all of them."""
    return {key: [choice] if key == "choices" else value for key, value in payload.items() if key != "usage"}


def _one_id_per_chunk(log: Log) -> bool:
    """Return True where ids name chunks, not responses: nearly every chunk has its own."""
    named = [
        one["id"] for one in log.payloads if isinstance(one.get("id"), str) and "delta" in (choices_of(one) or [{}])[0]
    ]
    return len(named) > 3 and len(set(named)) * 10 > len(named) * 9


def _names_role(choice: Payload) -> bool:
    delta = choice.get("delta")
    return isinstance(delta, dict) and bool(delta.get("role"))


_LAST = ("message_stop",)  # the last event of a stream of the Messages API


def may_finish(stream: Sequence[Payload]) -> bool:
    """Return whether the chunks have a place for a finish reason: a message or a delta alone has none."""
    return any("finish_reason" in choice for payload in stream for choice in choices_of(payload) or [])


def chat_intake(log: Log) -> Intake:
    """Judge a log of chat chunks, or one chat answer; another API's is translated first."""
    if log.family.translate is None:
        return _intake(log)
    frames = log.family.translate(log.frames)
    finishes = may_finish([frame.payload for frame in frames if frame.payload is not None])
    over = log.kind == "sse_log" and any((frame.payload or {}).get("type") in _LAST for frame in log.frames[-1:])
    chat = replace(log, frames=frames, ends=[len(frames)], finishes=finishes, over=over)
    found = replace(_intake(chat), title=log.intake("").title)
    chunks = [chunk for one in found.outputs for chunk in one.stream or ()]
    choices = [choice for chunk in chunks for choice in chunk.get("choices", ())]
    whole = [object_of(choice.get("message")) for choice in choices]
    calls = [call for one in whole for call in objects_of(one.get("tool_calls")) or ()]
    if log.family.rewrites and calls and not _as_written(calls, log.payloads):
        found.warnings += (rewritten_arguments(log.family.rewrites),)
    if any(isinstance(value, dict) and value.get("type") == _CUSTOM for value in _values_in(log.payloads)):
        found.warnings += (_CUSTOM_CALLS,)
    said = [(code, chunk[code]) for chunk in chunks for code in OF_OTHER_LOGS if code in chunk]
    found.warnings += tuple([Warn(code, words) for code, words in said])
    found.notes = ("Its parts were turned into OpenAI chat chunks, one for each that says something.",)
    return found


def _values_in(payloads: Sequence[Payload]) -> Iterator[Any]:
    """Yield the payloads, and all values at any depth in them."""
    queue = list[Any](payloads)
    while queue:
        value = queue.pop()
        yield value
        if isinstance(value, dict | list):
            queue.extend(value.values() if isinstance(value, dict) else value)


def _as_written(calls: Sequence[Payload], payloads: Sequence[Payload]) -> bool:
    """Return whether the arguments of all calls stand as texts in the payloads that they were read from."""
    texts = {value for value in _values_in(payloads) if isinstance(value, str)}
    given = [object_of(call.get("function")).get("arguments") for call in calls]
    return all(isinstance(text, str) and text in texts for text in given)


def _intake(log: Log) -> Intake:
    whole = [frame.payload and whole_characters(frame.payload) for frame in log.frames]
    changed = [payload for payload, frame in zip(whole, log.frames, strict=True) if payload is not frame.payload]
    if changed:
        frames = [replace(frame, payload=payload) for payload, frame in zip(whole, log.frames, strict=True)]
        log = replace(log, frames=frames)
    sorter = _Sorter(log, _one_id_per_chunk(log))
    sorter.sort()
    warnings = [*log.missing_end(), *sorter.oddities(), *([LONE_SURROGATE] if changed else [])]
    if not sorter.outputs:
        advice = "It holds no choice at all, so there is nothing to replay. Paste the whole log."
        return log.intake(advice, warnings=tuple(warnings))
    labels = output_labels([output.key for output in sorter.outputs])
    judged = [_judged_output(log, label, output) for label, output in zip(labels, sorter.outputs, strict=True)]
    told: Counter[str] = Counter()
    for label, one in zip(labels, judged, strict=True):
        told.update([warn.code for warn in one.warnings])
        some = [warn for warn in one.warnings if told[warn.code] <= _TOLD]
        warnings += [replace(warn, words=f"{label}: {warn.words}") if label else warn for warn in some]
    outputs = tuple([output for one in judged for output in one.outputs])
    return replace(judged[0], outputs=outputs, warnings=tuple(warnings))


@dataclass(slots=True)
class _Parts:
    """The parts of one output's chunks, and what they tell: the recording in the making, a fact, advice, warnings.

    `steps` are the token ids of each chunk, `logged` its log probabilities. `silent`: how many chunks say something
    and have no ids.
    """

    output: _Output
    made: Recording
    streamed: bool
    content: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: bool = False
    steps: list[tuple[int, ...] | None] = field(default_factory=list)
    logged: list[list[LoggedToken]] = field(default_factory=list)
    silent: int = 0
    fact: Fact | None = None
    advice: str | None = None
    warnings: list[Warn] = field(default_factory=list)

    def know(self, *, fact: Fact | None = None, advice: str | None = None, **found: Any) -> None:
        """Keep what was found where nothing was known before."""
        self.fact, self.advice = self.fact or fact, self.advice or advice
        for name, value in found.items():
            if getattr(self.made, name) is None:
                setattr(self.made, name, value)


def _judged_output(log: Log, label: str, output: _Output) -> Intake:
    """Judge one output: its recording has the raw text as far as its chunks tell it."""
    parts = _parts(output, _recording(log, label, output), streamed=log.streamed)
    for take in (_take_token_ids, _take_log_probabilities, _take_verbose, _take_content):
        take(parts)
    doubts = list(_doubts(parts.made, parts, finishes=log.finishes))
    facts = {fact.about: fact for fact in [parts.fact, *[fact for _, facts in doubts for fact in facts]] if fact}
    warnings = (*parts.warnings, *[warn for warn, _ in doubts])
    advice = parts.advice or _advice(parts.made)
    return log.intake(advice, [parts.made], facts=tuple(facts.values()), warnings=warnings)


def _recording(log: Log, label: str, output: _Output) -> Recording:
    """Return what stands beside the text: stream, prompt, reasons and model."""
    places = [*output.payloads, *output.asides, *output.choices]
    prompts: list[Any] = [one.get("prompt_token_ids") for one in places]
    prompts += [_sglext(one).get("input_ids") for one in [*output.asides, *output.payloads]]
    only = [one[0] if isinstance(one, list) and len(one) == 1 and isinstance(one[0], list) else one for one in prompts]
    given = next((text for one in places if isinstance(text := one.get("prompt_text"), str)), None)
    verbose = [text for one in _verbose(output) if (text := word_of(one.get("prompt")))]
    stops = (choice.get("stop_reason", choice.get("matched_stop")) for choice in output.choices[::-1])
    model = next((payload["model"] for payload in output.payloads if word_of(payload.get("model"))), None)
    return Recording(
        None,
        log.kind,
        label,
        stream=tuple(output.stream),
        times=arrivals(output.moments) or made_at(output.stream),
        prompt_ids=next((ids for ids in map(ids_of, only) if ids), None),
        prompt_text=given or next(iter(verbose), None),
        finish_reason=next(
            (word for one in output.choices[::-1] if (word := word_of(one.get("finish_reason"))) is not None), None
        ),
        stop_reason=next((value for value in map(word_or_number_of, stops) if value is not None), None),
        request=Request(model=model) if model else None,
        done=log.sent_end(output.part),
        gaps=_begins_inside_call(output) or any(EVENTS_MISSING in payload for payload in output.payloads),
    )


def _begins_inside_call(output: _Output) -> bool:
    """Return whether the first chunk goes on with the arguments of a call, without its name: what came before it was
    not recorded."""
    first = next(iter(output.choices), {})
    delta = first.get("delta")
    calls = delta.get("tool_calls") if isinstance(delta, Mapping) and not _names_role(first) else None
    call = calls[0] if isinstance(calls, list) and calls else None
    function = call.get("function") if isinstance(call, Mapping) and not call.get("id") else None
    return isinstance(function, Mapping) and bool(function.get("arguments")) and not function.get("name")


def _verbose(output: _Output) -> list[Payload]:
    """Return what llama.cpp started with --verbose adds to its answers."""
    return [object_of(payload["__verbose"]) for payload in output.payloads if "__verbose" in payload]


def _parts(output: _Output, made: Recording, *, streamed: bool) -> _Parts:
    parts = _Parts(output, made, streamed)
    for choice in output.choices:
        part = object_of(choice.get("delta", choice.get("message")))
        content = part.get("content")
        thought = part.get("reasoning") or part.get("reasoning_content") or text_in(content, thoughts=True)
        calls = bool(part.get("tool_calls") or part.get("function_call"))
        ids = ids_of(choice.get("token_ids"))
        parts.content.append(text_in(content))
        parts.reasoning.append(word_of(thought) or "")
        parts.calls = parts.calls or calls
        parts.steps.append(ids)
        parts.silent += ids is None and bool(content or thought or calls)
        tokens = choice_tokens(choice)
        parts.logged += [] if tokens is None else [tokens]
    return parts


def _sglext(payload: Payload) -> Payload:
    """Return SGLang's extension: in its own object, or the payload of an event of its own."""
    value = payload.get("sglext")
    if isinstance(value, dict):
        return value
    return payload if "output_ids" in payload else {}


def _take_token_ids(parts: _Parts) -> None:
    """Take the ids beside the chunks, or of the whole output in one piece."""
    steps = [step for step in parts.steps if step is not None]
    if any(steps):
        counts = tuple([len(step) for step in steps]) if parts.streamed else None
        parts.know(ids=tuple([one for step in steps for one in step]), counts=counts)
    elif (ids := _whole_ids(parts.output)) is not None:
        parts.know(ids=ids)
        if parts.streamed:
            words = "Its token ids came in one piece at the end: which of them each chunk held is not recorded."
            parts.warnings.append(Warn("ids_without_chunks", words))


def _whole_ids(output: _Output) -> tuple[int, ...] | None:
    for choice in output.choices:
        if ids := ids_of(choice.get("response_token_ids")):
            return ids
    for payload in [*output.asides, *output.payloads]:
        rows = _sglext(payload).get("output_ids")
        if isinstance(rows, list) and rows and isinstance(rows[0], list):
            rows = rows[output.key.choice] if output.key.choice < len(rows) else None
        if ids := ids_of(rows):
            return ids
    return None


def _take_log_probabilities(parts: _Parts) -> None:
    """Take ids, bytes and text; ids that were recorded beside the log probabilities name the tokens."""
    tokens = [token for step in parts.logged for token in step]
    if not tokens:
        return
    counts = tuple([len(step) for step in parts.logged])
    own, known = ids_in(tokens), parts.made.ids
    ids = own if known is None else known
    if ids is not None and len(ids) == len(tokens):
        tokens = [replace(token, token_id=one) for token, one in zip(tokens, ids, strict=True)]
    parts.know(ids=own, counts=counts if own is not None and known is None and parts.streamed else None)
    pieces = pieces_of(tokens)
    if pieces is not None and (ids is None or len(ids) == len(pieces)):
        parts.know(
            text="".join([piece.text for piece in pieces]),
            pieces=pieces,
            deltas=tuple(_deltas(pieces, counts)) if parts.streamed else None,
            fact=Fact("text", "exact", "The raw text was rebuilt from the bytes of every token."),
            advice=f"Its raw output was rebuilt from the bytes of {number(len(pieces), 'token')}. Choose a parser.",
        )
    elif lost := sum(token.lossy for token in tokens):
        words = f"The bytes of {number(lost, 'token')} hold U+FFFD: the server wrote them from decoded text, so half a "
        parts.warnings.append(Warn("lossy_bytes", f"{words}character is lost. They are not trusted."))
        text = lossy_text(tokens) if ids is None else None
        if text is not None:
            told = "The raw text was rebuilt from bytes, some of which are lost (U+FFFD)."
            parts.know(text=text, fact=Fact("text", "lossy", told))


def _deltas(pieces: Sequence[Piece], counts: Sequence[int]) -> Iterator[RecordedDelta]:
    at = 0
    for count in counts:
        some = pieces[at : at + count]
        ids = [piece.token_id for piece in some if piece.token_id is not None]
        yield RecordedDelta("".join([piece.text for piece in some]), tuple(ids) if len(ids) == len(some) else None)
        at += count


def _take_verbose(parts: _Parts) -> None:
    told = next((one for one in _verbose(parts.output) if word_of(one.get("content"))), None)
    if parts.made.text is None and told is not None:
        words = "The raw text is in the answer (`__verbose`). Special tokens are in it only with --special."
        parts.know(
            text=told["content"],
            ids=ids_of(told.get("tokens")) or None,
            fact=Fact("text", "assumed", words),
            advice="The raw output is in the answer itself. Choose a parser and replay it.",
        )


def _take_content(parts: _Parts) -> None:
    """Take content for the raw output: markers are still in it, and nothing shows a parser at work."""
    text = "".join(parts.content)
    parsed = parts.calls or any(parts.reasoning) or parts.made.finish_reason == "tool_calls"
    if parts.made.text is not None or parts.made.ids is not None or parsed or not text:
        return
    if "\ufffd" in text:
        words = "The content holds U+FFFD: bytes of a character were lost before it was written."
        parts.warnings.append(Warn("lossy_text", words))
    if not means_markers(text):
        told = "No marker is in the content, so it cannot be told whether a parser was at work."
        told = told if not holds_markers(text) else "Markers are in the content as code only, which words are about."
        words = (
            "No marker of a known format is in the content: a parser, or skip_special_tokens, may have removed them."
        )
        parts.warnings.append(Warn("no_markers", told if holds_markers(text) else words))
        parts.know(fact=Fact("text", "missing", told))
        return
    if only_closes_calls(text):
        told = "Markers that close calls are in the content, and none that opens one: a parser took the rest."
        parts.know(fact=Fact("text", "missing", told))
        return
    words = "No parser was at work: markers are still in the content, so the content is the raw output."
    parts.know(
        text=text,
        deltas=tuple([RecordedDelta(part) for part in parts.content if part]) if parts.streamed else None,
        fact=Fact("text", "assumed", f"{words} Special tokens may be missing from it."),
        advice=f"{words} Choose a parser and replay it.",
    )


def _doubts(recording: Recording, parts: _Parts, *, finishes: bool) -> Iterator[tuple[Warn, list[Fact]]]:
    """Yield each warning that casts doubt on the recording, with the facts that follow from it."""
    if recording.times is None and sum(moment is not None for moment in parts.output.moments) > 1:
        yield _BACKWARDS, []
    if recording.finish_reason is None and finishes:
        yield UNFINISHED if recording.done or not parts.streamed else NO_FINISH, []
    lost = _swallowed_words(recording, parts)
    if lost:
        words = f"{lost}: what the server's parser held back is missing (a known fault, vLLM issue 27482)."
        facts = [Fact("ids", "lossy", words)] if recording.ids is not None else []
        yield Warn("ids_swallowed", words), facts + ([Fact("text", "lossy", words)] if recording.pieces else [])
    thought = "".join(parts.reasoning).strip()[:40]
    if recording.pieces is not None and thought and thought not in (recording.text or ""):
        words = "The reasoning is not among the recorded tokens, so the raw text lacks it."
        yield Warn("logprobs_partial", words), [Fact("text", "lossy", words)]


def _swallowed_words(recording: Recording, parts: _Parts) -> str:
    """Say that fewer tokens are recorded than counted, or that some chunks have none; "" where neither is."""
    output = parts.output
    what, tokens = ("token ids", recording.ids) if recording.ids is not None else ("tokens", recording.pieces)
    # Of several choices the server counts the sum only.
    used = tokens_counted([*output.payloads, *output.asides]) if len(output.siblings) == 1 else None
    if tokens is not None and used is not None and used > len(tokens):
        return f"The server counted {number(used, 'token')}, but only {len(tokens):,} {what} are recorded"
    if recording.ids is not None and parts.silent and any(parts.steps):
        return f"{number(parts.silent, 'chunk')} with output but without {what}"
    return ""


def _advice(recording: Recording) -> str:
    if recording.ids is not None:
        return "Choose the model's tokenizer: it turns the recorded ids back into the raw output."
    if recording.text is not None:
        return "Its raw output was rebuilt as far as the bytes go. Choose a parser and replay it."
    whole = len(recording.stream or ()) == 1
    kept = "The answer is checked as the server sent it" if whole else "The chunks are checked as the server sent them"
    return f"{kept}; the raw output cannot be rebuilt from it. Record it with the command shown."
