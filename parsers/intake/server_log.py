"""Lines of a server's own log that quote the output, whatever stands before and between them.

vLLM 0.33 (`--enable-log-requests --enable-log-outputs`), SGLang 0.5 (`--log-requests`, text form): this module.
llama.cpp, Ollama and LM Studio quote outputs that they could not parse: `failures`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from parsers.intake import chunks
from parsers.intake.chunks import RawChunk, ids_of
from parsers.intake.doubts import replaced, text_facts
from parsers.intake.failures import read_failures
from parsers.intake.literals import Named, Shortened, literal_at, string_at
from parsers.intake.markers import holds_markers
from parsers.intake.model import Payload, Recognised, Warn, number
from parsers.intake.outputs import distinct
from parsers.intake.prefixes import without_prefixes
from parsers.intake.spelled import mended
from parsers.vocabulary.types import Recording

_VLLM = re.compile(
    r"Generated response (?P<id>[^\s:]+)(?: \(streaming (?P<mode>complete|delta)\))?(?: details)?: "
    r"(?:output: (?=[bu]?['\"])|(?=output_token_ids: ))"
)
_PROMPT = re.compile(r"Received request (?P<id>[^\s:]+): prompt: (?=['\"])")
_IDS = re.compile(r",? ?output_token_ids: (?=[\[(]|array)")
_FINISH = re.compile(r"(?:, output_token_ids: None)?,? ?finish_reason: (\w+)")
_SGLANG = re.compile(r"\bFinish: obj=(?=\w+\()")
_OUT = re.compile(r",? ?(?:headers=\{[^{}\n]*\}, )?out=(?=\{)")
_OUT_LATER = re.compile(r", out=(?=\{['\"](?:text|output_ids|meta_info)['\"]: )")
# Lengths that people give to --max-log-len: a text of exactly that length was most likely cut there.
_LIMITS = frozenset(
    {64, 128, 256, 512, *range(100, 1_000, 100), *range(1_000, 20_001, 500), *range(1_024, 20_001, 1_024)}
)
_REASONS = frozenset({"stop", "length", "tool_calls", "abort", "content_filter"})

CUT = Warn("text_cut", "The log was started with --max-log-len, which cut the text: its end is missing.")
MAYBE_CUT = Warn("text_maybe_cut", "The text has a length that --max-log-len cuts at: its end may be missing.")
HALF = Warn("broken_off", "The quoted text has no closing quote: its end is missing.")
SPECIALS = Warn("special_tokens", "Special tokens are in the text only where the parser or the request kept them.")
PARSED = Warn("parsed", "This line holds what vLLM's parser left as content; only the ids bring the raw output back.")
DELTAS = Warn(
    "parsed", "Delta lines hold what vLLM's parser sent, not the raw output, and are missing where it sent nothing."
)
SWALLOWED = Warn(
    "ids_swallowed", "Delta lines are missing where the parser sent nothing, and their token ids with them."
)


@dataclass(slots=True)
class _Request:
    """The lines of one vLLM request."""

    prompt: str | None = None
    complete: str | None = None
    whole: str | None = None
    deltas: list[tuple[str, tuple[int, ...] | None]] = field(default_factory=list)
    ids: tuple[int, ...] | None = None
    finish: str | None = None
    warnings: list[Warn] = field(default_factory=list)

    def text(self) -> str | None:
        """The text of the one line that holds all of it."""
        return self.complete if self.complete is not None else self.whole


def read_server_log(body: str) -> Recognised | None:
    """The outputs that a server's log quotes."""
    body = without_prefixes(body)
    return _read_vllm(body) or _read_sglang(body) or read_failures(body)


def _read_vllm(body: str) -> Recognised | None:
    if "Generated response " not in body:
        return None
    requests: dict[str, _Request] = {}
    for mark in _PROMPT.finditer(body):
        found = string_at(body, mark.end())
        if found and found[0].whole:
            requests.setdefault(mark["id"], _Request()).prompt = mended(str(found[0].value))
    lines = 0
    for mark in _VLLM.finditer(body):
        lines += 1
        _vllm_line(requests.setdefault(mark["id"], _Request()), mark, body)
    made = [(name, request) for name, request in requests.items() if _says_something(request)]
    if not lines or not made:
        return None
    outputs = [_vllm_output(name if len(made) > 1 else "", request, name) for name, request in made]
    return Recognised(
        kind="server_log",
        title=f"vLLM's log, {number(len(outputs), 'output')}",
        advice=_advice(outputs[0]),
        usable=True,
        outputs=tuple(outputs),
        why=(f"{number(lines, 'line')} with `Generated response`, as vLLM logs outputs.",),
        facts=text_facts([*made[0][1].warnings, *replaced(outputs[:1])]) if outputs[0].text is not None else (),
        warnings=tuple(
            dict.fromkeys([*(warn for _, request in made for warn in request.warnings), *replaced(outputs)])
        ),
        server="vLLM",
    )


def _says_something(request: _Request) -> bool:
    return request.text() is not None or bool(request.deltas) or request.ids is not None


def _vllm_line(request: _Request, mark: re.Match[str], body: str) -> None:
    """One line: a quoted text, ids, or both."""
    found, at = None, mark.end()
    if not _IDS.match(body, at):
        found = string_at(body, at)
        at = found[0].end if found else at
    ids = None
    if key := _IDS.match(body, at):
        listed = literal_at(body, key.end())
        if listed and listed.whole:
            ids, at = ids_of(listed.value), listed.end
    finish = _FINISH.match(body, at)
    if finish and finish[1] in _REASONS:
        request.finish = finish[1]
    if mark["mode"] == "delta":
        request.deltas.append((mended(str(found[0].value)) if found else "", ids))
        return
    request.ids = ids if ids is not None else request.ids
    if found is None:
        return
    text = mended(str(found[0].value))
    if mark["mode"]:
        request.complete = text
    else:
        request.whole = text
    _notice_cut(request, text, ids, whole=found[0].whole)


def _notice_cut(request: _Request, text: str, ids: tuple[int, ...] | None, *, whole: bool) -> None:
    """--max-log-len cuts text and ids to the same count."""
    if not whole:
        request.warnings.append(HALF)
    elif ids and len(ids) == len(text) > 8:
        request.warnings.append(CUT)
    elif len(text) in _LIMITS:
        request.warnings.append(MAYBE_CUT)


def _vllm_output(label: str, request: _Request, name: str) -> Recording:
    made = Recording(
        None, "server_log", label, ids=request.ids, prompt_text=request.prompt, finish_reason=request.finish
    )
    raw = name.startswith("cmpl-") or holds_markers(request.whole or "")
    if request.complete is not None or (request.whole is not None and raw):
        made.text = request.text()
        request.warnings.append(SPECIALS)
    elif request.whole is not None:
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": request.whole},
            "finish_reason": request.finish,
        }
        made.stream = ({"id": name, "object": "chat.completion", "choices": [choice]},)
        request.warnings.append(PARSED)
    elif request.deltas:
        _from_deltas(made, request, name)
    return made


def _from_deltas(made: Recording, request: _Request, name: str) -> None:
    """Only delta lines: a stream of contents, and the ids of those steps that were logged."""
    made.stream = tuple([
        {
            "id": name, "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}],
        }
        for text, _ in request.deltas
    ])  # fmt: skip
    request.warnings.append(DELTAS)
    known = [ids for _, ids in request.deltas if ids is not None]
    if made.ids is None and known and len(known) == len(request.deltas):
        made.ids = tuple([one for ids in known for one in ids])
        made.counts = tuple([len(ids) for ids in known])
        request.warnings.append(SWALLOWED)


def _advice(first: Recording) -> str:
    if first.text is not None:
        return "Choose a parser and replay it."
    if first.ids is not None:
        return "Choose the model's tokenizer: it turns the token ids into text."
    return "The raw output is not in it. What the server's parser sent is replayed and checked."


def _read_sglang(body: str) -> Recognised | None:
    marks = list(_SGLANG.finditer(body))
    ends = [*(mark.start() for mark in marks[1:]), len(body)][: len(marks)]
    found = [chunk for mark, end in zip(marks, ends, strict=True) for chunk in _finished(body[mark.end() : end])]
    if not found:
        return None
    outputs = [_sglang_output(chunk, chunk.request or f"output {place}") for place, chunk in enumerate(found, 1)]
    outputs = [output for output in outputs if output.text is not None or output.ids is not None]
    if not outputs:
        return None
    if len(outputs) == 1:
        outputs[0].label = ""
    distinct(outputs)
    skipped = (
        [SPECIALS]
        if any(chunk.asked is None or chunk.asked.skip_special_tokens is not False for chunk in found)
        else []
    )
    warnings = [warn for chunk in found for warn in chunk.warnings] + skipped + list(replaced(outputs))
    return Recognised(
        kind="server_log",
        title=f"SGLang's log, {number(len(outputs), 'output')}",
        advice=_advice(outputs[0]),
        usable=True,
        outputs=tuple(outputs),
        why=(f"{number(len(found), 'line')} with `Finish: obj=`, as SGLang logs requests.",),
        facts=text_facts(warnings),
        warnings=tuple(dict.fromkeys(warnings)),
        server="SGLang",
    )


def _finished(said: str) -> list[RawChunk]:
    """The output of one line. A request that cannot be read does not keep its output from being read."""
    obj = literal_at(said)
    mark = _OUT.match(said, obj.end) if obj else None
    mark = mark or _OUT_LATER.search(said)
    out = literal_at(said, mark.end()) if mark else None
    if out is None or not isinstance(out.value, dict):
        return []
    fields = obj.value.fields if obj and isinstance(obj.value, Named) else {}
    asked = {key: value for key, value in fields.items() if not isinstance(value, Shortened)}
    payload = {"event": "request.finished", "out": _plain(out.value), "obj": _plain(asked)}
    found = chunks.sglang_log(payload) or []
    for chunk in found:
        if isinstance(out.value.get("text"), Shortened):
            chunks.shorten(chunk, chunk.text or "")
        if not out.whole:
            chunk.warnings = (*chunk.warnings, HALF)
    return found


def _plain(value: Payload) -> Payload:
    """The fields as JSON would hold them: of a shortened text its head, of shortened ids nothing."""
    return {str(key): _field(one) for key, one in value.items()}


def _field(value: object) -> object:
    if isinstance(value, Shortened):
        return mended(value.head) if isinstance(value.head, str) else None
    if isinstance(value, dict):
        return _plain(value)
    return mended(value) if isinstance(value, str) else value


def _sglang_output(chunk: RawChunk, label: str) -> Recording:
    return Recording(
        chunk.text,
        "server_log",
        label,
        pieces=chunk.pieces,
        ids=chunk.ids,
        prompt_ids=chunk.prompt_ids,
        prompt_text=chunk.prompt_text,
        finish_reason=chunk.finish,
        stop_reason=chunk.stop,
        request=chunk.asked,
    )
