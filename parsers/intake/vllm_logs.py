"""Outputs in vLLM's own log, as 0.33 writes them with `--enable-log-requests --enable-log-outputs`.

    ... Generated response ID: output: '...', output_token_ids: [...], finish_reason: stop        an answer
    ... Generated response ID (streaming delta): output: '...', ...                              a step that sent a part
    ... Generated response ID (streaming complete): output: '...', finish_reason: streaming_complete

Content is logged as it is. Where vLLM's parsers were at work, reasoning stands in `[reasoning: ...]` behind it, and of
calls a delta has the arguments alone, `[tool_calls: ...]`; an answer without content has `[tool_calls: NAME(ARGUMENTS),
...]`. A stream's last line holds the whole text, or `<streaming_complete: N tokens>` in its place, which no model
wrote. (entrypoints/openai/chat_completion/serving.py and entrypoints/serve/utils/request_logger.py.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from parsers.intake.api_logs import advice_for
from parsers.intake.evidence import Intake, Warn, holds_markers, intake_of, lost_text_warnings, number, text_facts
from parsers.intake.plain_text import without_lone_surrogates
from parsers.intake.written_values import ids_of, literal_at, string_at, value_at
from parsers.vocabulary.types import RecordedDelta, Recording

_LINE = re.compile(
    r"Generated response (?P<id>[^\s:]+)(?: \(streaming (?P<mode>complete|delta)\))?(?: details)?: "
    r"(?:output: (?=[bu]?['\"])|(?=output_token_ids: ))"
)
_PROMPT = re.compile(r"Received request (?P<id>[^\s:]+): prompt: (?=['\"])")
_IDS = re.compile(r",? ?output_token_ids: (?=[\[(]|array)")
_FINISH = re.compile(r"(?:, output_token_ids: None)?,? ?finish_reason: (\w+)")
_STAND_IN = re.compile(r"<streaming_complete: \d{1,9} tokens>")
_REASONING, _CALLS = "[reasoning: ", "[tool_calls: "
_CALL_NAME = re.compile(r"(?:, )?([\w.:/-]{1,256})\((?=\{)")
# Lengths that people give to --max-log-len: a text of exactly that length was most likely cut there.
_LIMITS = frozenset(
    {64, 128, 256, 512, *range(100, 1_000, 100), *range(1_000, 20_001, 500), *range(1_024, 20_001, 1_024)}
)
_REASONS = frozenset({"stop", "length", "tool_calls", "abort", "content_filter"})

UNCLOSED = Warn("broken_off", "The quoted text has no closing quote: its end is missing.")
SPECIALS = Warn("special_tokens", "Special tokens are in the text only where the parser or the request kept them.")
_CUT = Warn("text_cut", "The log was started with --max-log-len, which cut the text: its end is missing.")
_MAYBE_CUT = Warn("text_maybe_cut", "The text has a length that --max-log-len cuts at: its end may be missing.")
_PARSED = Warn("parsed", "This line holds what vLLM's parser left as content; only the ids bring the raw output back.")
_DELTAS = Warn(
    "parsed", "Delta lines hold what vLLM's parser sent, not the raw output, and are missing where it sent nothing."
)
_SWALLOWED = Warn(
    "ids_swallowed", "Delta lines are missing where the parser sent nothing, and their token ids with them."
)
_ARGUMENTS = Warn("left_out", "Of calls vLLM logs the arguments alone: their names and ids are missing.")
_NAMED_CALLS = Warn("left_out", "Of calls vLLM logs names and arguments: their ids are missing.")
_NO_OUTPUT = (
    "vLLM wrote `<streaming_complete: ...>` in place of the text, and no line of a delta is there. Start it with "
    "--enable-log-outputs and --enable-log-deltas and paste all lines of the request, or record the stream."
)


class _Delta(NamedTuple):
    """What vLLM's parsers sent in one step, and the token ids of the step. `closed`: the text does not break off."""

    text: str
    ids: tuple[int, ...] | None
    closed: bool

    @property
    def parts(self) -> dict[str, str]:
        """The text by the field of a message: content, reasoning, and the arguments of calls as `tool_calls`."""
        text, parts = self.text, dict[str, str]()
        for key, mark in (("tool_calls", _CALLS), ("reasoning", _REASONING)):
            at = 0 if text.startswith(mark) else text.find(f" {mark}") + 1 or -1
            ends = text.endswith("]") or not (self.closed or parts)
            if at >= 0 and ends:
                parts[key] = text[at + len(mark) :].removesuffix("]")
                text = text[: max(at - 1, 0)]
        return {"content": text, **parts} if text or not parts else parts


@dataclass(slots=True)
class _Request:
    """The lines of one request."""

    prompt: str | None = None
    complete: str | None = None
    whole: str | None = None
    deltas: list[_Delta] = field(default_factory=list)
    ids: tuple[int, ...] | None = None
    finish: str | None = None
    warnings: list[Warn] = field(default_factory=list)

    @property
    def says(self) -> bool:
        """Return whether any of its lines holds a part of the output."""
        return bool(self.deltas) or any(one is not None for one in (self.complete, self.whole, self.ids))


def read_vllm_log(body: str) -> Intake | None:
    """Read the outputs of each request that vLLM logged, the prompts with them."""
    marks = list(_LINE.finditer(body)) if "Generated response " in body else []
    requests: dict[str, _Request] = {}
    for mark in _PROMPT.finditer(body) if marks else ():
        found = string_at(body, mark.end())
        if found and found.whole:
            requests.setdefault(mark["id"], _Request()).prompt = without_lone_surrogates(found.value)
    for mark in marks:
        _take_line(requests.setdefault(mark["id"], _Request()), mark, body)
    made = {name: one for name, one in requests.items() if one.says}
    if not made:
        silent = _STAND_IN.search(body) if marks else None
        title = "vLLM's log without the text of an output"
        return Intake(kind="server_log", title=title, advice=_NO_OUTPUT, server="vLLM") if silent else None
    outputs = [_output(name if len(made) > 1 else "", request, name) for name, request in made.items()]
    first, lost = next(iter(made.values())), lost_text_warnings(outputs)
    return intake_of(
        "server_log",
        f"vLLM's log, {number(len(outputs), 'output')}",
        outputs,
        why=f"{number(len(marks), 'line')} with `Generated response`, as vLLM logs outputs.",
        advice=advice_for(outputs[0]),
        facts=text_facts([*first.warnings, *lost_text_warnings(outputs[:1])]) if outputs[0].text is not None else (),
        warnings=[*[warn for request in made.values() for warn in request.warnings], *lost],
        server="vLLM",
    )


def _take_line(request: _Request, mark: re.Match[str], body: str) -> None:
    at = mark.end()
    found = None if _IDS.match(body, at) else string_at(body, at)
    at = found.end if found else at
    ids = None
    if key := _IDS.match(body, at):
        listed = literal_at(body, key.end())
        if listed and listed.whole:
            ids, at = ids_of(listed.value), listed.end
    finish = _FINISH.match(body, at)
    if finish and finish[1] in _REASONS:
        request.finish = finish[1]
    text = without_lone_surrogates(found.value) if found else None
    if mark["mode"] == "delta":
        closed = found is None or found.whole
        request.deltas.append(_Delta(text or "", ids, closed))
        request.warnings += [] if closed else [UNCLOSED]
        return
    request.ids = ids if ids is not None else request.ids
    if found is None or text is None or (mark["mode"] and _STAND_IN.fullmatch(text)):
        return
    if mark["mode"]:
        request.complete = text
    else:
        request.whole = text
    # --max-log-len cuts text and ids to the same count.
    if not found.whole:
        request.warnings.append(UNCLOSED)
    elif ids and len(ids) == len(text) > 8:
        request.warnings.append(_CUT)
    elif len(text) in _LIMITS:
        request.warnings.append(_MAYBE_CUT)


def _output(label: str, request: _Request, name: str) -> Recording:
    made = Recording(
        None, "server_log", label, ids=request.ids, prompt_text=request.prompt, finish_reason=request.finish
    )
    raw = name.startswith("cmpl-") or holds_markers(request.whole or "")
    if request.complete is not None or (request.whole is not None and raw):
        made.text = request.complete if request.complete is not None else request.whole
        request.warnings.append(SPECIALS)
    elif request.whole is not None:
        _add_answer(made, request, request.whole, name)
    elif request.deltas:
        _add_deltas(made, request, name)
    return made


def _add_answer(made: Recording, request: _Request, text: str, name: str) -> None:
    """Add the message of an answer: its content, or the calls that are described in place of it."""
    calls = _described_calls(text)
    message: dict[str, Any] = {"role": "assistant", "content": None if calls else text}
    message |= {"tool_calls": calls} if calls else {}
    choice = {"index": 0, "message": message, "finish_reason": request.finish}
    made.stream = ({"id": name, "object": "chat.completion", "choices": [choice]},)
    made.gaps = bool(calls) or request.finish == "tool_calls"
    request.warnings += [_PARSED, *([_NAMED_CALLS] if calls else [])]


def _described_calls(text: str) -> list[dict[str, Any]]:
    """Return the calls of `[tool_calls: NAME(ARGUMENTS), ...]`; none where the text is anything else."""
    calls, at = list[dict[str, Any]](), len(_CALLS)
    if not (text.startswith(_CALLS) and text.endswith(")]")):
        return []
    while found := _CALL_NAME.match(text, at):
        value = value_at(text, found.end())
        # What is no JSON up to its parenthesis goes to the end of the text: it is a call's all the same.
        end = value[1] if value is not None and text.startswith(")", value[1]) else len(text) - 2
        function = {"name": found[1], "arguments": text[found.end() : end]}
        calls.append({"index": len(calls), "type": "function", "function": function})
        at = end + 1
    return calls


def _add_deltas(made: Recording, request: _Request, name: str) -> None:
    """Add what the deltas say: the raw output where no parser took it apart, else the stream that was sent."""
    parts = [delta.parts for delta in request.deltas]
    text = "".join([delta.text for delta in request.deltas])
    wrapped = any(part.keys() != {"content"} for part in parts)
    known = [delta.ids for delta in request.deltas if delta.ids is not None]
    if not wrapped and (holds_markers(text) or name.startswith("cmpl-")):
        made.text, made.deltas = text, tuple([RecordedDelta(one.text, one.ids) for one in request.deltas])
        request.warnings.append(SPECIALS)
        return
    choices = [{"index": 0, "delta": _delta_of(part), "finish_reason": None} for part in parts]
    made.stream = tuple([{"id": name, "object": "chat.completion.chunk", "choices": [one]} for one in choices])
    request.warnings.append(_DELTAS)
    if made.ids is None and known and len(known) == len(request.deltas):
        made.ids = tuple([one for ids in known for one in ids])
        made.counts = tuple([len(ids) for ids in known])
        request.warnings.append(_SWALLOWED)
    if any("tool_calls" in part for part in parts):
        made.gaps = True
        request.warnings.append(_ARGUMENTS)


def _delta_of(parts: dict[str, str]) -> dict[str, Any]:
    arguments = parts.get("tool_calls")
    said: dict[str, Any] = {key: text for key, text in parts.items() if key != "tool_calls"}
    calls = [] if arguments is None else [{"index": 0, "function": {"arguments": arguments}}]
    return {**said, **({"tool_calls": calls} if calls else {})}
