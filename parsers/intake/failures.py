"""What llama.cpp, Ollama and LM Studio print of an output: when a parser failed on it, or in verbose mode.

    ... unparsed peg-native output: <raw>                  llama.cpp, all of it
    Failed to parse input at pos N: <rest>                 llama.cpp, from offset N on
    ... Parsing chat message: <raw so far>                 llama.cpp -v, again after each token
    ... next token: 785 'The'                              llama.cpp -v, one token
    error parsing tool call: raw='<raw>', err=...          Ollama, the part that should be a call
    Model Output: <raw>                                    LM Studio's developer log

The raw text stands bare up to the log's next line, or inside a JSON or Python string. (llama.cpp common/chat.cpp and
tools/server; Ollama harmony parser; LM Studio 0.3.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from parsers.intake.doubts import replaced, text_facts
from parsers.intake.literals import Literal
from parsers.intake.model import Recognised, Warn, number
from parsers.intake.spelled import COLOUR, LOG_LINE, mended, quoted_at
from parsers.vocabulary.types import RecordedDelta, Recording

_UNPARSED = re.compile(r"(?:\b|(?<=\\n))unparsed [\w.-]+(?: [\w.-]+){0,4} output: ?")
_POSITION = re.compile(r"(?:\b|(?<=\\n))Failed to parse input at pos (\d{1,12}): ?")
_PARSING = re.compile(r"\bParsing (?:chat message|input with format [^:\n]{1,60}): ?")
_TOKEN = re.compile(r"\bnext token: +(\d{1,9}) '")
_TASK = re.compile(r"\btask +(\d{1,9})\b")
_OLLAMA = re.compile(r"error parsing tool call: raw='")
_STUDIO = re.compile(r"(?:(?<![^\s\]\"'])|(?<=\\n))Model Output: ?")
_NEXT = re.compile(rf"{LOG_LINE.pattern}|Failed to parse input at pos \d")
_ANY = (
    " output:", "Failed to parse input at pos ", "Parsing chat message:", "Parsing input with format ", "next token: ",
    "error parsing tool call: raw='", "Model Output:",
)  # fmt: skip
_QUOTE = 80  # characters before the phrase in which the string that holds it may begin

HALF = Warn("broken_off", "The quoted text breaks off: its end is missing.")
TAIL = Warn("text_start_missing", "The message quotes the output from that place on only: its beginning is missing.")
CALL = Warn("only_the_call", "Ollama quotes only what it took for a call: what stood around it is missing.")
SPECIALS = Warn("special_tokens", "Special tokens are in the text only if llama-server runs with --special.")
HIDDEN = Warn("specials_missing", "Some tokens are printed as nothing: special tokens, which --special shows.")
REWRITTEN = Warn("rewritten", "A text changed what an earlier one said, so only the last is used.")


@dataclass(slots=True)
class _Quote:
    """A text that the log quotes, where it stood and whether its end was seen."""

    text: str
    start: int
    end: int
    whole: bool = True
    position: int = 0


def read_failures(body: str) -> Recognised | None:
    """The output that a failed parser, or a verbose one, printed."""
    if not any(sign in body for sign in _ANY):
        return None
    return _llama_failures(body) or _ollama(body) or _llama_steps(body) or _llama_tokens(body) or _studio(body)


def _quotes(body: str, mark: re.Pattern[str]) -> Iterator[_Quote]:
    """Every text that follows the mark: inside the string that holds the mark, or bare up to the log's next line."""
    at = 0
    while found := mark.search(body, at):
        position = int(found[1]) if found.re.groups else 0
        quote = _inside(body, found) or _bare(body, found)
        quote.position = position
        yield quote
        at = max(quote.end, found.end())


def _inside(body: str, found: re.Match[str]) -> _Quote | None:
    """The rest of the JSON or Python string in which the mark stands; None where it stands in none."""
    for at in range(found.start() - 1, max(-1, found.start() - _QUOTE), -1):
        if body[at] == "\n":
            return None
        if body[at] in "'\"":
            break
    else:
        return None
    before = body[max(0, at - 3) : at].rstrip()
    if before and before[-1] not in ":=({[,":
        return None
    string, _ = quoted_at(body, at) or (Literal("", at), False)
    again = found.re.search(str(string.value))
    return _Quote(str(string.value)[again.end() if again else 0 :], found.start(), string.end, string.whole)


def _bare(body: str, found: re.Match[str]) -> _Quote:
    """The text up to the log's next line."""
    at = body.find("\n", found.end())
    while at >= 0 and _NEXT.match(body, at + 1) is None:
        at = body.find("\n", at + 1)
    end = len(body) if at < 0 else at
    text = body[found.end() : end].removesuffix("\n").removesuffix("\r")
    coloured = "\x1b" in body[max(0, found.start() - 200) : found.start()]
    return _Quote(COLOUR.sub("", text) if coloured else text, found.start(), end)


def _llama_failures(body: str) -> Recognised | None:
    whole = list(_quotes(body, _UNPARSED))
    rest = list(_quotes(body, _POSITION))
    found = whole or [quote for quote in rest if quote.position == 0] or rest
    if not found:
        return None
    warnings = [SPECIALS, *([HALF] if any(not quote.whole for quote in found) else [])]
    if found[0].position:
        words = f"It begins at offset {found[0].position:,}."
        warnings.insert(0, replace(TAIL, words=f"{TAIL.words} {words}"))
    return _told(body, found, "llama.cpp", "a message of its parser that quotes the output", warnings)


def _ollama(body: str) -> Recognised | None:
    found = []
    for quote in _quotes(body, _OLLAMA):
        text, mark, _ = quote.text.rpartition("', err=")
        quote.text, quote.whole = (text, True) if mark else (quote.text.removesuffix("'"), quote.text.endswith("'"))
        found.append(quote)
    if not found:
        return None
    warnings = [CALL, *([HALF] if any(not quote.whole for quote in found) else [])]
    return _told(body, found, "Ollama", "an error that quotes a call it could not read", warnings)


def _studio(body: str) -> Recognised | None:
    found = [quote for quote in _quotes(body, _STUDIO) if quote.text]
    warnings = [HALF] if any(not quote.whole for quote in found) else []
    return _told(body, found, "LM Studio", "`Model Output:`, which quotes the output", warnings) if found else None


def _told(body: str, found: list[_Quote], server: str, sign: str, warnings: list[Warn]) -> Recognised:
    texts = list(dict.fromkeys([mended(quote.text) for quote in found]))
    outputs = [Recording(text, "server_log", f"output {at}") for at, text in enumerate(texts, 1)]
    if len(outputs) == 1:
        outputs[0].label = ""
    return _recognised(outputs, server, f"It holds {sign}.", warnings)


def _recognised(outputs: list[Recording], server: str, why: str, doubted: list[Warn]) -> Recognised:
    warnings = tuple(dict.fromkeys([*doubted, *replaced(outputs)]))
    size = sum(len(output.text or "") for output in outputs)
    return Recognised(
        kind="server_log",
        title=f"{server}'s log, {number(len(outputs), 'output')}, {number(size, 'character')}",
        advice="Choose a parser and replay it.",
        usable=True,
        outputs=tuple(outputs),
        why=(why,),
        facts=text_facts(warnings),
        warnings=warnings,
        server=server,
    )


def _llama_steps(body: str) -> Recognised | None:
    """The text so far, after each token: what each adds is a delta. One half as long begins the next output."""
    runs: list[list[str]] = []
    for quote in _quotes(body, _PARSING):
        if not runs or len(quote.text) * 2 < len(runs[-1][-1]):
            runs.append([])
        runs[-1].append(mended(quote.text))
    warnings = [SPECIALS]
    outputs = []
    for place, run in enumerate(runs, 1):
        new = _added(run)
        if new is None:
            warnings.append(REWRITTEN)
        deltas = tuple([RecordedDelta(part) for part in new]) if new is not None else None
        outputs.append(Recording(run[-1], "server_log", f"output {place}" if len(runs) > 1 else "", deltas=deltas))
    why = "It holds lines with the text so far, as llama-server -v prints it."
    return _recognised(outputs, "llama.cpp", why, warnings) if outputs else None


def _added(run: list[str]) -> list[str] | None:
    found, before = [], ""
    for text in run:
        if not text.startswith(before):
            return None
        if text != before:
            found.append(text[len(before) :])
        before = text
    return found


def _llama_tokens(body: str) -> Recognised | None:
    """One token on each line, with its id; tasks are outputs of their own."""
    marks = list(_TOKEN.finditer(body))
    tasks: dict[str, list[RecordedDelta]] = {}
    cut = False
    for place, mark in enumerate(marks):
        stop = marks[place + 1].start() if place + 1 < len(marks) else len(body)
        close = body.find("'\n", mark.end(), stop)
        if close < 0 and body.endswith("'", mark.end(), stop):
            close = stop - 1
        if close < 0:
            cut = True
            continue
        line = body.rfind("\n", max(0, mark.start() - 300), mark.start()) + 1
        task = _TASK.search(body, max(line, mark.start() - 300), mark.start())
        text = mended(body[mark.end() : close])
        tasks.setdefault(task[1] if task else "", []).append(RecordedDelta(text, (int(mark[1]),)))
    outputs = [_tokens(name if len(tasks) > 1 else "", deltas) for name, deltas in tasks.items()]
    if not outputs:
        return None
    hidden = any(not delta.text for deltas in tasks.values() for delta in deltas)
    warnings = [HIDDEN if hidden else SPECIALS, *([HALF] if cut else [])]
    return _recognised(outputs, "llama.cpp", "It holds lines with `next token:`, as llama-server -v prints.", warnings)


def _tokens(task: str, deltas: list[RecordedDelta]) -> Recording:
    return Recording(
        "".join([delta.text for delta in deltas]),
        "server_log",
        f"task {task}" if task else "",
        ids=tuple([one for delta in deltas for one in delta.ids or ()]),
        counts=tuple([1] * len(deltas)),
        deltas=tuple(deltas),
    )
