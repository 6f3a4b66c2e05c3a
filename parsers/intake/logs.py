"""From a log to what was recognised: raw output rebuilt, a parsed stream kept, or the reason why there is neither."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from parsers.intake.chat import chat_log, completion_tokens
from parsers.intake.damage import NO_FINISH, damage, no_done, several
from parsers.intake.doubts import replaced, text_facts
from parsers.intake.log import Log
from parsers.intake.model import Fact, Payload, Recognised, Warn, number
from parsers.intake.other_apis import chat_frames
from parsers.intake.rebuild import rebuild
from parsers.intake.signs import server_of
from parsers.vocabulary.types import Recording


def other_log(found: Recognised, log: Log) -> None:
    """OpenAI Responses and Anthropic Messages: read as the chat chunks that say the same."""
    frames = chat_frames(log.frames, log.family.name)
    found.notes = (*found.notes, "Its parts were turned into OpenAI chat chunks, one for each that says something.")
    chat_log(found, replace(log, frames=frames, ends=[len(frames)]))
    whole = [output for output in found.outputs for chunk in output.stream or () if _calls_whole(chunk)]
    if log.family.name == "anthropic" and whole:
        words = "Anthropic's API sends arguments as objects: their exact text, spaces and order of keys, is lost."
        found.warnings += (Warn("arguments_rewritten", words),)


def _calls_whole(chunk: Payload) -> bool:
    return any("tool_calls" in choice.get("message", {}) for choice in chunk["choices"])


# Families that need more than a payload reader. Each gets the log and fills what was recognised.
FILLS: dict[str, Callable[[Recognised, Log], None]] = {
    "chat": chat_log, "chat_ids": chat_log, "responses": other_log, "anthropic": other_log,
}  # fmt: skip
_REPLAY = "Choose a parser and replay it."


def logged(log: Log | None) -> Recognised | None:
    """What a log is worth."""
    if log is None:
        return None
    found = Recognised(
        kind=log.kind, title=log.title, advice="", why=tuple(_why(log)), server=log.family.server,
        warnings=tuple(damage(log)),
    )  # fmt: skip
    if found.server is None:
        found.server, sign = server_of([frame.payload for frame in log.frames if frame.payload is not None])
        found.why += (sign,) if sign else ()
    if log.family.read is not None:
        _rebuilt(found, log)
    elif log.family.name in FILLS:
        FILLS[log.family.name](found, log)
    else:
        found.advice = _verdict(log)
    found.usable = bool(found.outputs)
    return found


def _why(log: Log) -> list[str]:
    frames = len(log.frames)
    if log.kind == "sse_log":
        why = [f"{number(frames, 'line')} with `data:`, as server-sent events have them."]
    elif log.kind == "ndjson_log":
        why = [f"{number(frames, 'JSON object')} one after the other."]
    else:
        why = ["It is a JSON array of objects." if log.listed else "It is one JSON object."]
    name = log.family.title.removesuffix("'s")
    return [
        *why,
        f"Its keys are those of {name}." if log.family.weight == 2 else f"Its keys look like those of {name}.",
    ]


def _rebuilt(found: Recognised, log: Log) -> None:
    made = rebuild(log)
    found.outputs = tuple(made.outputs)
    found.warnings += (*made.warnings, *_doubts(log, made.outputs))
    if log.family.caveat and any(output.text is not None for output in made.outputs):
        found.warnings = (
            Warn("special_tokens_asked" if log.family.skips else "special_tokens", log.family.caveat),
            *found.warnings,
        )
        found.facts += (Fact("text", "assumed", log.family.caveat),)
    lost = replaced(made.outputs)
    found.warnings += lost
    found.facts += text_facts([*made.warnings, *lost])
    if not made.outputs:
        found.advice = "None of its chunks holds any output. Paste the whole log, or the raw output itself."
        return
    first = made.outputs[0]
    if first.text is None and first.ids is not None:
        found.advice = "Choose the model's tokenizer: it turns the token ids into text."
    elif first.text is None:
        found.advice = "The raw output is not in it. What the server's parser sent is replayed and checked."
    else:
        found.advice = f"Its raw output was rebuilt, {number(len(first.text), 'character')}. {_REPLAY}"


def _doubts(log: Log, outputs: list[Recording]) -> Iterator[Warn]:
    """What the end of the log should say and does not, or says otherwise."""
    payloads = [frame.payload for frame in log.frames if frame.payload is not None]
    if log.family.name == "sglang" or any("choices" in payload for payload in payloads):
        yield from no_done(log)
    if len(outputs) > 1:
        yield several(len(outputs))
    for output in [output for output in outputs if output.finish_reason is None][:3]:
        yield Warn("no_finish", (f"{output.label}: " if output.label else "") + NO_FINISH)
    ids = outputs[0].ids if len(outputs) == 1 else None
    used = completion_tokens(payloads)
    if ids is not None and used is not None and used > len(ids):
        words = f"The server counted {number(used, 'token')}, but only {len(ids):,} token ids are recorded."
        yield Warn("ids_swallowed", words)


def _verdict(log: Log) -> str:
    """Why there is nothing to replay in the log, and what to do next."""
    if not log.frames:
        return "It holds no chunk at all. Paste the whole log."
    return log.family.verdict
