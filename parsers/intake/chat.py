"""OpenAI chat: chunks and answers that a server's parser has made, and what they still tell of the raw output.

The chunks are kept as they came. Token ids (vLLM `token_ids`, SGLang `response_token_ids` and `sglext`) or true bytes
(`logprobs.content[].bytes`) bring the raw output back; content that still holds markers, with nothing split off, is the
raw output. Known to swallow ids: vLLM when its parser holds a delta back (issue 27482).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from parsers.intake.chat_outputs import ChatOutput, chat_outputs
from parsers.intake.chunks import ids_of, object_of, word_of
from parsers.intake.damage import NO_FINISH, no_done
from parsers.intake.jsonread import whole_characters
from parsers.intake.log import Log
from parsers.intake.logprobs import Logged, ids_in, logged_tokens, lossy_text, pieces_of
from parsers.intake.markers import holds_markers
from parsers.intake.model import Fact, Frame, Payload, Recognised, Warn, number
from parsers.intake.outputs import labels
from parsers.vocabulary.types import Piece, RecordedDelta, Recording, Request

_TOLD = 3


@dataclass(slots=True)
class _Parts:
    """What one output's chunks hold. `steps` are the token ids of each chunk, `logged` its log probabilities."""

    content: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: bool = False
    steps: list[tuple[int, ...] | None] = field(default_factory=list)
    logged: list[list[Logged] | None] = field(default_factory=list)
    silent_ids: int = 0


@dataclass(slots=True)
class _Made:
    """A recording in the making, with the facts and warnings that it brings."""

    recording: Recording
    facts: list[Fact] = field(default_factory=list)
    warnings: list[Warn] = field(default_factory=list)
    words: str = ""


def chat_log(found: Recognised, log: Log) -> None:
    """Fill in what a log of chat chunks, or one chat answer, holds."""
    frames = [frame if frame.payload is None else _whole(frame, frame.payload) for frame in log.frames]
    sorted_out = chat_outputs(replace(log, frames=frames))
    warnings = [*found.warnings, *no_done(log), *sorted_out.warnings]
    if any(new is not old for new, old in zip(frames, log.frames, strict=True)):
        words = "Its chunks hold half of a UTF-16 pair, which is no character: U+FFFD stands in its place."
        warnings.append(Warn("lone_surrogate", words))
    if not sorted_out.outputs:
        found.advice = "It holds no choice at all, so there is nothing to replay. Paste the whole log."
        found.warnings = tuple(warnings)
        return
    names = labels([output.key for output in sorted_out.outputs])
    made = [_made(log, name, output) for name, output in zip(names, sorted_out.outputs, strict=True)]
    warnings += _first_ones(made)
    found.outputs = tuple([one.recording for one in made])
    found.facts += tuple(made[0].facts)
    found.warnings = tuple(warnings)
    found.advice = made[0].words


def _whole(frame: Frame, payload: Payload) -> Frame:
    whole = whole_characters(payload)
    return frame if whole is payload else replace(frame, payload=whole)


def _first_ones(made: list[_Made]) -> Iterator[Warn]:
    """The warnings of all outputs; of each code the first few, for a log can hold thousands of outputs."""
    told: Counter[str] = Counter()
    for one in made:
        where = f"{one.recording.label}: " if one.recording.label else ""
        for warn in one.warnings:
            told[warn.code] += 1
            if told[warn.code] <= _TOLD:
                yield Warn(warn.code, where + warn.words)


def _made(log: Log, label: str, output: ChatOutput) -> _Made:
    parts = _parts(output)
    last = output.choices[::-1]
    recording = Recording(
        text=None,
        kind=log.kind,
        label=label,
        stream=tuple(output.stream),
        prompt_ids=_prompt_ids(output),
        prompt_text=_prompt_text(output),
        finish_reason=next((one["finish_reason"] for one in last if isinstance(one.get("finish_reason"), str)), None),
        stop_reason=next((value for value in map(_stop, last) if value is not None), None),
        request=_request(output),
    )
    made = _Made(recording)
    _fill_ids(made, log, output, parts)
    _fill_logged(made, log, parts)
    _fill_verbose(made, output)
    if recording.text is None:
        _fill_content(made, log, parts)
    made.warnings += _doubts(made, output, parts)
    made.words = made.words or _words(made)
    return made


def _parts(output: ChatOutput) -> _Parts:
    parts = _Parts()
    for choice in output.choices:
        part = choice.get("delta", choice.get("message"))
        part = part if isinstance(part, dict) else {}
        content = part.get("content")
        parts.content.append(content if isinstance(content, str) else "")
        thought = part.get("reasoning") or part.get("reasoning_content")
        parts.reasoning.append(thought if isinstance(thought, str) else "")
        calls = bool(part.get("tool_calls") or part.get("function_call"))
        parts.calls = parts.calls or calls
        ids = ids_of(choice.get("token_ids"))
        parts.steps.append(ids)
        parts.silent_ids += ids is None and bool(content or thought or calls)
        parts.logged.append(logged_tokens(choice))
    return parts


def _stop(choice: Payload) -> str | int | None:
    value = choice.get("stop_reason", choice.get("matched_stop"))
    return value if isinstance(value, str) or type(value) is int else None


def _prompt_ids(output: ChatOutput) -> tuple[int, ...] | None:
    places: list[Any] = [one.get("prompt_token_ids") for one in [*output.payloads, *output.asides, *output.choices]]
    places += [_sglext(one).get("input_ids") for one in [*output.asides, *output.payloads]]
    return next((ids for ids in map(_flat, places) if ids), None)


def _flat(value: Any) -> tuple[int, ...] | None:
    """Ids, or the only list of ids in a list."""
    return ids_of(value[0] if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list) else value)


def _prompt_text(output: ChatOutput) -> str | None:
    places = [one.get("prompt_text") for one in [*output.payloads, *output.asides, *output.choices]]
    return next((text for text in places if isinstance(text, str)), None)


def _request(output: ChatOutput) -> Request | None:
    model = next((one["model"] for one in output.payloads if isinstance(one.get("model"), str) and one["model"]), None)
    return Request(model=model) if model else None


def _sglext(payload: Payload) -> Payload:
    """SGLang's extension: in its own object, or the payload of an event of its own."""
    value = payload.get("sglext")
    if isinstance(value, dict):
        return value
    return payload if "output_ids" in payload else {}


def _whole_ids(output: ChatOutput) -> tuple[int, ...] | None:
    """The ids of the whole output, given once."""
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


def _fill_ids(made: _Made, log: Log, output: ChatOutput, parts: _Parts) -> None:
    steps = [step for step in parts.steps if step is not None]
    if any(steps):
        made.recording.ids = tuple([one for step in steps for one in step])
        if log.streamed:
            made.recording.counts = tuple([len(step) for step in steps])
        return
    made.recording.ids = _whole_ids(output)
    if made.recording.ids is not None and log.streamed:
        words = "Its token ids came in one piece at the end: which of them each chunk held is not known."
        made.warnings.append(Warn("ids_without_chunks", words))


def _fill_logged(made: _Made, log: Log, parts: _Parts) -> None:
    """Ids, bytes and text out of log probabilities."""
    steps = [step for step in parts.logged if step is not None]
    tokens = [token for step in steps for token in step]
    if not tokens:
        return
    recording = made.recording
    ids = ids_in(tokens)
    if recording.ids is None and ids is not None:
        recording.ids = ids
        recording.counts = tuple([len(step) for step in steps]) if log.streamed else None
    _name(tokens, recording.ids)
    pieces = pieces_of(tokens)
    if pieces is not None and (recording.ids is None or len(recording.ids) == len(pieces)):
        _fill_pieces(made, log, [len(step) for step in steps], pieces)
    elif any(token.lossy for token in tokens):
        _fill_lossy(made, tokens)


def _name(tokens: list[Logged], ids: tuple[int, ...] | None) -> None:
    """Give the tokens the ids that were recorded beside them, if they are as many."""
    if ids is not None and len(ids) == len(tokens):
        for token, token_id in zip(tokens, ids, strict=True):
            token.token_id = token_id


def _fill_pieces(made: _Made, log: Log, counts: list[int], pieces: tuple[Piece, ...]) -> None:
    made.recording.text = "".join([piece.text for piece in pieces])
    made.recording.pieces = pieces
    made.facts.append(Fact("text", "exact", "The raw text was rebuilt from the bytes of every token."))
    made.words = f"Its raw output was rebuilt from the bytes of {number(len(pieces), 'token')}. Choose a parser."
    if log.streamed:
        made.recording.deltas = tuple(_cut(pieces, counts))


def _cut(pieces: tuple[Piece, ...], counts: list[int]) -> Iterator[RecordedDelta]:
    at = 0
    for count in counts:
        some = pieces[at : at + count]
        ids = [piece.token_id for piece in some if piece.token_id is not None]
        yield RecordedDelta("".join([piece.text for piece in some]), tuple(ids) if len(ids) == len(some) else None)
        at += count


def _fill_verbose(made: _Made, output: ChatOutput) -> None:
    """llama.cpp started with --verbose adds the raw text and the prompt to its answer."""
    for payload in output.payloads:
        more = object_of(payload.get("__verbose"))
        text, prompt = word_of(more.get("content")), word_of(more.get("prompt"))
        made.recording.prompt_text = made.recording.prompt_text or prompt
        if text and made.recording.text is None:
            made.recording.text = text
            made.recording.ids = made.recording.ids or ids_of(more.get("tokens")) or None
            words = "The raw text is in the answer (`__verbose`). Special tokens are in it only with --special."
            made.facts.append(Fact("text", "assumed", words))
            made.words = "The raw output is in the answer itself. Choose a parser and replay it."


def _fill_lossy(made: _Made, tokens: list[Logged]) -> None:
    lost = sum(token.lossy for token in tokens)
    words = (
        f"The bytes of {number(lost, 'token')} hold U+FFFD: the server wrote them from decoded text, so half a "
        "character is lost. They are not trusted."
    )
    made.warnings.append(Warn("lossy_bytes", words))
    text = lossy_text(tokens)
    if made.recording.ids is None and text is not None:
        made.recording.text = text
        made.facts.append(
            Fact("text", "lossy", "The raw text was rebuilt from bytes, some of which are lost (U+FFFD).")
        )


def _fill_content(made: _Made, log: Log, parts: _Parts) -> None:
    """Content that is the raw output: markers are still in it, and nothing was split off."""
    text = "".join(parts.content)
    if not _unparsed(made, parts) or made.recording.ids is not None:
        return
    if "\ufffd" in text:
        words = "The content holds U+FFFD: bytes of a character were lost before it was written."
        made.warnings.append(Warn("lossy_text", words))
    if not holds_markers(text):
        words = (
            "No marker of a known format is in the content: a parser, or skip_special_tokens, may have removed them."
        )
        if text:
            made.warnings.append(Warn("no_markers", words))
            told = "No marker is in the content, so it cannot be told whether a parser was at work."
            made.facts.append(Fact("text", "missing", told))
        return
    made.recording.text = text
    words = "No parser was at work: markers are still in the content, so the content is the raw output."
    made.facts.append(Fact("text", "assumed", f"{words} Special tokens may be missing from it."))
    made.words = f"{words} Choose a parser and replay it."
    if log.streamed:
        made.recording.deltas = tuple([RecordedDelta(part) for part in parts.content if part])


def _unparsed(made: _Made, parts: _Parts) -> bool:
    """Whether nothing shows that a parser was at work."""
    return not (parts.calls or any(parts.reasoning) or made.recording.finish_reason == "tool_calls")


def _doubts(made: _Made, output: ChatOutput, parts: _Parts) -> Iterator[Warn]:
    recording = made.recording
    if recording.finish_reason is None:
        yield Warn("no_finish", NO_FINISH)
    # Of several choices the server counts the sum only.
    alone = len(output.siblings) == 1
    used = completion_tokens([*output.payloads, *output.asides]) if alone else None
    if recording.ids is not None:
        yield from _swallowed(made, "token ids", len(recording.ids), used, parts.silent_ids if any(parts.steps) else 0)
    elif recording.pieces is not None:
        yield from _swallowed(made, "tokens", len(recording.pieces), used, 0)
    thought = "".join(parts.reasoning).strip()[:40]
    if recording.pieces is not None and thought and thought not in (recording.text or ""):
        words = "The reasoning is not among the recorded tokens, so the raw text lacks it."
        made.facts[:] = [fact for fact in made.facts if fact.about != "text"]
        made.facts.append(Fact("text", "lossy", words))
        yield Warn("logprobs_partial", words)


def completion_tokens(payloads: list[Payload]) -> int | None:
    """How many tokens the server counted, as the last payload with a usage says."""
    for payload in reversed(payloads):
        usage = payload.get("usage")
        if isinstance(usage, dict) and type(usage.get("completion_tokens")) is int:
            return int(usage["completion_tokens"])
    return None


def _swallowed(made: _Made, what: str, count: int, used: int | None, silent: int) -> Iterator[Warn]:
    """Fewer recorded than counted, or chunks without any among chunks that have them."""
    if used is not None and used > count:
        lost = f"The server counted {number(used, 'token')}, but only {count:,} {what} are recorded"
    elif silent:
        lost = f"{number(silent, 'chunk')} with output but without {what}"
    else:
        return
    words = f"{lost}: what the server's parser held back is missing (a known fault, vLLM issue 27482)."
    for about, there in (("ids", made.recording.ids), ("text", made.recording.pieces)):
        if there is not None:
            made.facts[:] = [fact for fact in made.facts if fact.about != about]
            made.facts.append(Fact("ids" if about == "ids" else "text", "lossy", words))
    yield Warn("ids_swallowed", words)


def _words(made: _Made) -> str:
    """What to do next."""
    if made.recording.ids is not None:
        return "Choose the model's tokenizer: it turns the recorded ids back into the raw output."
    if made.recording.text is not None:
        return "Its raw output was rebuilt as far as the bytes go. Choose a parser and replay it."
    whole = len(made.recording.stream or ()) == 1
    kept = "The answer is checked as the server sent it" if whole else "The chunks are checked as the server sent them"
    return f"{kept}; the raw output cannot be rebuilt from it. Record it with the command shown."
