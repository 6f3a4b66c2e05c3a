"""Lines of a server's own log that quote the output, whatever stands before and between them.

vLLM (`vllm_logs`) and SGLang 0.5 (`--log-requests`, text form) log outputs.
Others quote an output when a parser failed on it, or in verbose mode:

    ... unparsed peg-native output: <raw>                  llama.cpp, all of it
    Failed to parse input at pos N: <rest>                 llama.cpp, from offset N on
    ... Parsing chat message: <raw so far>                 llama.cpp -v, again after each token
    ... next token: 785 'The'                              llama.cpp -v, one token
    error parsing tool call: raw='<raw>', err=...          Ollama, the part that should be a call
    Model Output: <raw>                                    LM Studio's developer log

That raw text stands bare up to the log's next line, or inside a JSON or Python string. (llama.cpp common/chat.cpp and
tools/server; Ollama harmony parser; LM Studio 0.3.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from parsers.intake.api_families import RawChunk, keep_beginning_only, sglang_log_chunks
from parsers.intake.api_logs import advice_for, increments
from parsers.intake.evidence import (
    Intake,
    Warn,
    intake_of,
    lost_text_warnings,
    make_labels_differ,
    number,
    text_facts,
)
from parsers.intake.plain_text import without_lone_surrogates
from parsers.intake.surroundings import COLOUR, LOG_LINE, without_prefixes
from parsers.intake.told_logs import stretches, told_end
from parsers.intake.vllm_logs import SPECIALS, UNCLOSED, read_vllm_log
from parsers.intake.written_values import Literal, Named, Shortened, literal_at, quoted_at
from parsers.vocabulary.types import RecordedDelta, Recording

_SGLANG = re.compile(r"\bFinish: obj=(?=\w+\()")
_OUT = re.compile(r",? ?(?:headers=\{[^{}\n]*\}, )?out=(?=\{)")
_OUT_LATER = re.compile(r", out=(?=\{['\"](?:text|output_ids|meta_info)['\"]: )")

_UNPARSED = re.compile(r"(?:\b|(?<=\\n))unparsed [\w.-]+(?: [\w.-]+){0,4} output: ?")
_POSITION = re.compile(r"(?:\b|(?<=\\n))Failed to parse input at pos (\d{1,12}): ?")
_PARSING = re.compile(r"\bParsing (?:chat message|input with format [^:\n]{1,60}): ?")
_TOKEN = re.compile(r"\bnext token: +(\d{1,9}) '")
_TASK = re.compile(r"\btask +(\d{1,9})\b")
_OLLAMA, _OLLAMA_END = re.compile(r"error parsing tool call: raw='"), "', err="
_STUDIO = re.compile(r"(?:(?<![^\s\]\"'])|(?<=\\n))Model Output: ?")
# What llama.cpp prints between the texts, at the beginning of a line (common/chat.cpp, common/chat-parser.cpp).
_NEXT = re.compile(
    rf"{LOG_LINE.pattern}|Failed to parse (?:input at pos \d|up to error:)|Parsing (?:chat message:|input with format )"
    r"|Pars(?:ed|ing) (?:message:|error:)|Partial parse:|Grammar (?:triggered|still awaiting)"
)
_QUOTING = (
    " output:", "Failed to parse input at pos ", "Parsing chat message:", "Parsing input with format ", "next token: ",
    "error parsing tool call: raw='", "Model Output:",
)  # fmt: skip
_LEFT_OUT = ("...", "…")  # whoever quoted the message left the output out
_COMPARED = 64  # quotes from the beginning on, with which each later one is compared
_QUOTE = 80  # characters before the phrase in which the string that holds it may begin

_HALF = Warn("broken_off", "The quoted text breaks off: its end is missing.")
_TAIL = "The message quotes the output from that place on only: its beginning is missing."
_CALL = Warn("only_the_call", "Ollama quotes only what it took for a call: what stood around it is missing.")
_LLAMA_SPECIALS = Warn("special_tokens", "Special tokens are in the text only if llama-server runs with --special.")
_HIDDEN = Warn("specials_missing", "Some tokens are printed as nothing: special tokens, which --special shows.")
_REWRITTEN = Warn("rewritten", "A text changed what an earlier one said, so only the last is used.")


def read_server_log(body: str) -> Intake | None:
    """Read the outputs that a server's log quotes."""
    body = without_prefixes(body)
    quoting = any(sign in body for sign in _QUOTING)
    failures = (_read_llama_failures, _read_ollama, _read_llama_steps, _read_llama_tokens, _read_studio)
    readers = (read_vllm_log, _read_sglang, *(failures if quoting else ()))
    return next(filter(None, (read(body) for read in readers)), None)


def _read_sglang(body: str) -> Intake | None:
    marks = list(_SGLANG.finditer(body))
    ends = [*(mark.start() for mark in marks[1:]), len(body)][: len(marks)]
    chunks = [chunk for mark, end in zip(marks, ends, strict=True) for chunk in _chunks_of_line(body[mark.end() : end])]
    made = [_sglang_output(chunk, chunk.request or f"output {place}") for place, chunk in enumerate(chunks, 1)]
    outputs = [output for output in made if output.text is not None or output.ids is not None]
    if not outputs:
        return None
    if len(outputs) == 1:
        outputs[0].label = ""
    make_labels_differ(outputs)
    kept = all(chunk.asked is not None and chunk.asked.skip_special_tokens is False for chunk in chunks)
    warnings = [warn for chunk in chunks for warn in chunk.warnings]
    warnings += [*([] if kept else [SPECIALS]), *lost_text_warnings(outputs)]
    return intake_of(
        "server_log",
        f"SGLang's log, {number(len(outputs), 'output')}",
        outputs,
        why=f"{number(len(chunks), 'line')} with `Finish: obj=`, as SGLang logs requests.",
        advice=advice_for(outputs[0]),
        facts=text_facts(warnings),
        warnings=warnings,
        server="SGLang",
    )


def _chunks_of_line(line: str) -> list[RawChunk]:
    """Read the output of one line, even if the request in it cannot be read."""
    obj = literal_at(line)
    mark = (_OUT.match(line, obj.end) if obj else None) or _OUT_LATER.search(line)
    out = literal_at(line, mark.end()) if mark else None
    if out is None or not isinstance(out.value, dict):
        return []
    fields = obj.value.fields if obj and isinstance(obj.value, Named) else {}
    asked = {key: value for key, value in fields.items() if not isinstance(value, Shortened)}
    chunks = sglang_log_chunks({"event": "request.finished", "out": _as_json(out.value), "obj": _as_json(asked)}) or []
    if isinstance(out.value.get("text"), Shortened):
        for chunk in chunks:
            keep_beginning_only(chunk, chunk.text or "")
    for chunk in chunks:
        chunk.warnings += () if out.whole else (UNCLOSED,)
    return chunks


def _as_json(value: Any) -> Any:
    """Return a value as JSON would hold it: of a shortened text its head, of shortened ids nothing."""
    if isinstance(value, Shortened):
        return _as_json(value.head) if isinstance(value.head, str) else None
    if isinstance(value, dict):
        return {str(key): _as_json(one) for key, one in value.items()}
    return without_lone_surrogates(value) if isinstance(value, str) else value


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


@dataclass(slots=True)
class _Quote:
    """A text that the log quotes, where its quote ends, if its end was seen. `position`: its first offset."""

    text: str
    end: int
    whole: bool = True
    position: int = 0


def _quotes(body: str, mark: re.Pattern[str], stop: str = "") -> Iterator[_Quote]:
    """Yield every text that follows the mark, inside the string that holds the mark or bare, up to `stop` if that is
    there. Nothing that a report quotes goes on behind its code block, or behind what the report says next."""
    for stretch, is_told in stretches(body, mark):
        yield from _quotes_in(stretch, mark, stop, is_told=is_told)


def _quotes_in(body: str, mark: re.Pattern[str], stop: str, *, is_told: bool) -> Iterator[_Quote]:
    at = 0
    while found := mark.search(body, at):
        quote = _quote_in_string(body, found) or _bare_quote(body, found, stop, is_told=is_told)
        quote.position = int(found[1]) if mark.groups else 0
        if not quote.text.startswith(_LEFT_OUT):
            yield quote
        at = max(quote.end, found.end())


def _quote_in_string(body: str, found: re.Match[str]) -> _Quote | None:
    """Return the rest of the JSON or Python string in which the mark stands; None where it stands in none."""
    for at in range(found.start() - 1, max(-1, found.start() - _QUOTE), -1):
        if body[at] == "\n":
            return None
        if body[at] in "'\"":
            break
    else:
        return None
    before = body[max(0, at - 3) : at]
    first = not before.rpartition("\n")[2].strip()
    if not first and before.rstrip()[-1] not in ":=({[,":
        return None
    string = quoted_at(body, at) or Literal("", at)
    again = found.re.search(string.value)
    return _Quote(string.value[again.end() if again else 0 :], string.end, string.whole)


def _bare_quote(body: str, found: re.Match[str], stop: str, *, is_told: bool) -> _Quote:
    end = body.find(stop, found.end()) if stop else -1
    if end >= 0:
        return _Quote(_uncoloured(body, found, end), end)
    at = body.find("\n", found.end())
    while at >= 0 and _NEXT.match(body, at + 1) is None:
        at = body.find("\n", at + 1)
    end = len(body) if at < 0 else at
    end = told_end(body, found.end(), end) if is_told else end
    text = _uncoloured(body, found, end).removesuffix("\n").removesuffix("\r")
    return _Quote(text, end, not stop)


def _uncoloured(body: str, found: re.Match[str], end: int) -> str:
    text = body[found.end() : end]
    coloured = "\x1b" in body[max(0, found.start() - 200) : found.start()]
    return COLOUR.sub("", text) if coloured else text


def _read_llama_failures(body: str) -> Intake | None:
    rest = list(_quotes(body, _POSITION))
    found = list(_quotes(body, _UNPARSED)) or _without_ends(rest)
    warnings = [_LLAMA_SPECIALS]
    late = next((quote.position for quote in found if quote.position), 0)
    if late and late == found[0].position:
        words = f"{_TAIL} It begins at offset {late:,}."
        warnings = [Warn("text_start_missing", words), _LLAMA_SPECIALS]
    return _quotes_intake(found, "llama.cpp", "a message of its parser that quotes the output", warnings)


def _without_ends(quotes: Sequence[_Quote]) -> list[_Quote]:
    """Leave out the quotes that are the end of one that is quoted from its beginning on."""
    whole = [one.text for one in quotes if not one.position][:_COMPARED]
    return [one for one in quotes if not one.position or not any(text.endswith(one.text) for text in whole)]


def _read_ollama(body: str) -> Intake | None:
    found = list(_quotes(body, _OLLAMA, _OLLAMA_END))
    for quote in found:
        text, mark, _ = quote.text.partition(_OLLAMA_END)
        if not (mark or quote.whole):
            text, quote.whole = text.removesuffix("'"), text.endswith("'")
        quote.text = text
    return _quotes_intake(found, "Ollama", "an error that quotes a call it could not read", [_CALL])


def _read_studio(body: str) -> Intake | None:
    found = [quote for quote in _quotes(body, _STUDIO) if quote.text]
    return _quotes_intake(found, "LM Studio", "`Model Output:`, which quotes the output", [])


def _quotes_intake(found: Sequence[_Quote], server: str, sign: str, warnings: list[Warn]) -> Intake | None:
    texts = {without_lone_surrogates(quote.text): quote.position for quote in reversed(found)}
    several = len(texts) > 1
    outputs = [
        Recording(text, "server_log", f"from offset {position:,} on" if position and several else "")
        for text, position in reversed(texts.items())
    ]
    half = [] if all(quote.whole for quote in found) else [_HALF]
    return _log_intake(outputs, server, f"It holds {sign}.", [*warnings, *half])


def _log_intake(outputs: Sequence[Recording], server: str, why: str, doubts: Sequence[Warn]) -> Intake | None:
    if not outputs:
        return None
    warnings = [*doubts, *lost_text_warnings(outputs)]
    size = number(sum(len(output.text or "") for output in outputs), "character")
    title = f"{server}'s log, {number(len(outputs), 'output')}, {size}"
    facts = text_facts(warnings)
    return intake_of("server_log", title, outputs, why=why, facts=facts, warnings=warnings, server=server)


def _read_llama_steps(body: str) -> Intake | None:
    """Read the text so far after each token: what each adds is a delta; half as long begins another output."""
    runs: list[list[str]] = []
    for quote in _quotes(body, _PARSING):
        if not runs or len(quote.text) * 2 < len(runs[-1][-1]):
            runs.append([])
        runs[-1].append(without_lone_surrogates(quote.text))
    outputs = [Recording(run[-1], "server_log") for run in runs]
    for run, output in zip(runs, outputs, strict=True):
        added = increments(run)
        output.deltas = None if added is None else tuple([RecordedDelta(part) for part in added if part])
    rewritten = [_REWRITTEN] if any(output.deltas is None for output in outputs) else []
    why = "It holds lines with the text so far, as llama-server -v prints it."
    return _log_intake(outputs, "llama.cpp", why, [_LLAMA_SPECIALS, *rewritten])


def _read_llama_tokens(body: str) -> Intake | None:
    """Read one token on each line, with its id; tasks are outputs of their own."""
    marks = list(_TOKEN.finditer(body))
    tasks: dict[str, list[RecordedDelta]] = {}
    cut = False
    for mark, stop in zip(marks, [*[mark.start() for mark in marks[1:]], len(body)][: len(marks)], strict=True):
        close = body.find("'\n", mark.end(), stop)
        if close < 0 and body.endswith("'", mark.end(), stop):
            close = stop - 1
        if close < 0:
            cut = True
            continue
        line = body.rfind("\n", max(0, mark.start() - 300), mark.start()) + 1
        task = _TASK.search(body, max(line, mark.start() - 300), mark.start())
        text = without_lone_surrogates(body[mark.end() : close])
        tasks.setdefault(f"task {task[1]}" if task else "", []).append(RecordedDelta(text, (int(mark[1]),)))
    outputs = [
        Recording(
            "".join([delta.text for delta in deltas]),
            "server_log",
            name if len(tasks) > 1 else "",
            ids=tuple([one for delta in deltas for one in delta.ids or ()]),
            counts=tuple([1] * len(deltas)),
            deltas=tuple(deltas),
        )
        for name, deltas in tasks.items()
    ]
    hidden = any(not delta.text for deltas in tasks.values() for delta in deltas)
    doubts = [_HIDDEN if hidden else _LLAMA_SPECIALS, *([_HALF] if cut else [])]
    return _log_intake(outputs, "llama.cpp", "It holds lines with `next token:`, as llama-server -v prints.", doubts)
