"""Texts as programs spell them: lists of strings, single strings, and the lines of a debug print.

    ['<tool', '_call>']        a Python or JSON list of strings: the deltas (kind chunk_list)
    'text\\n'   b'text'  "..."   one string: the output (kind text_literal); one on each line: the deltas
    ... DELTA TEXT: <th        one delta after each mark, quoted or as it is; or delta_text='<th'

Shapes: vLLM 0.33 (debug prints of its tool parsers), Python's repr, JSON. Prompts of a shell and an assignment before
the list are looked past; anything else around it makes it model output.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from parsers.intake.doubts import replaced, text_facts
from parsers.intake.jsonread import has_lone_surrogate, value_at
from parsers.intake.literals import Literal, literal_at, string_at
from parsers.intake.model import Fact, Recognised, Warn, number
from parsers.intake.prefixes import without_prefixes
from parsers.vocabulary.types import RecordedDelta, Recording

# Before a printed value: shell and Python prompts on their own lines, `In [1]:`, and `name =` or `name:`.
_BEFORE = re.compile(
    r"\s*+(?:(?:>>>|\$) [^\n]*+\n\s*+)*+(?:(?:In|Out) ?\[\d{1,6}\]: ?)?+"
    r"(?:[A-Za-z_][\w.]*+(?:: ?list(?:\[\w+\])?)? ?[=:] ?+)?+"
)
_AFTER = re.compile(r"\s*+;?\s*+(?:(?:>>>|\$)(?: [^\n]*+)?+(?:\n\s*+|\Z))*+")
_LIST = re.compile(r"[\[(]\s*+[bBuU]?['\"]")
_QUOTED_LINE = re.compile(r"[bBuU]?['\"]")
_ESCAPED = re.compile(r"\\[nrtuUx'\"\\]")
_DELTA = re.compile(r"^[^\n]*?\b(?:DELTA TEXT: ?|delta_text=(?=[bu]?['\"]))", re.MULTILINE)
# The beginning of a log's own line: a level, a date, a process, a bracketed time, or a colour before one of them.
LOG_LINE = re.compile(
    r"(?:\x1b\[[\d;]*m)*(?:\([A-Z][\w.]* pid=\d+\) ?)?(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d|"
    r"(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b|\[(?:TRACE|DEBUG|INFO|WARN|ERROR|LM STUDIO)|"
    r"(?:srv|slot|que|res|main) +\w|time=\d{4}-)"
)
COLOUR = re.compile(r"\x1b\[[\d;]*m")

CUT = Warn("broken_off", "The last string breaks off and was left out: what was pasted is not whole.")
LOSSY = Warn("lossy_text", "The bytes are not UTF-8 throughout: U+FFFD stands where a character was lost.")
UNPAIRED = Warn("lone_surrogate", "It holds half of a UTF-16 pair, which is no character: U+FFFD stands in its place.")
BARE = Warn(
    "unquoted", "The deltas are printed without quotes, so a line end inside one cannot be told from a blank line."
)
_OR_RAW = "If that is the model's output itself, take it as raw text."


def start_of(body: str) -> int:
    """The offset of a printed value, after prompts and an assignment."""
    found = _BEFORE.match(body)
    return found.end() if found else 0


def ends_at(body: str, at: int) -> bool:
    """Whether nothing but prompts follows."""
    found = _AFTER.match(body, at)
    return found is not None and found.end() == len(body)


def values_in(body: str) -> list[Literal] | None:
    """The printed values, one after the other, that the body consists of; None where it holds anything else."""
    values: list[Literal] = []
    at = start_of(body)
    while at < len(body):
        found = literal_at(body, at)
        if found is None:
            return None
        values.append(found)
        after = _AFTER.match(body, found.end)
        at = after.end() if after else found.end
        again = _BEFORE.match(body, at)
        at = again.end() if again and again.end() < len(body) else at
    return values


def read_string_list(body: str) -> Recognised | None:
    """One list of strings, or several: the deltas of one output each."""
    at = start_of(body)
    if _LIST.match(body, at) is None:
        return None
    values = _json_list(body, at) or values_in(body)
    lists = [_strings(one.value) for one in values or []]
    if not lists or None in lists:
        return None
    cut = any(not one.whole for one in values or [])
    return _lists([one for one in lists if one is not None], cut=cut)


def _json_list(body: str, at: int) -> list[Literal] | None:
    found = value_at(body, at)
    return [Literal(found[0], found[1])] if found and ends_at(body, found[1]) else None


def _strings(value: object) -> list[str] | None:
    return value if isinstance(value, list) and value and all(isinstance(one, str) for one in value) else None


def _lists(lists: Sequence[list[str]], *, cut: bool) -> Recognised:
    made = [deltas_of(parts, f"list {place}" if len(lists) > 1 else "") for place, parts in enumerate(lists, 1)]
    deltas = sum(len(parts) for parts in lists)
    several = f"{number(len(lists), 'list')} of strings, {number(deltas, 'delta')}"
    title = several if len(lists) > 1 else f"list of {number(deltas, 'delta')}"
    size = sum(len(recording.text or "") for recording, _ in made)
    warnings = [warn for _, found in made for warn in found] + ([CUT] if cut else [])
    warnings += [] if UNPAIRED in warnings else replaced([recording for recording, _ in made])
    return Recognised(
        kind="chunk_list",
        title=f"{title}, {number(size, 'character')}",
        advice=f"Choose a parser and replay it. {_OR_RAW}",
        usable=True,
        outputs=tuple([recording for recording, _ in made]),
        why=("It is a list of strings, as Python or JSON writes it.",),
        facts=text_facts(warnings) or (Fact("text", "exact", "The raw text is the strings, joined."),),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def deltas_of(parts: Sequence[str], label: str = "") -> tuple[Recording, list[Warn]]:
    """The recording of delta texts, and what had to be mended."""
    warnings = []
    if has_lone_surrogate("".join(parts)):
        parts, warnings = [mended(part) for part in parts], [UNPAIRED]
    deltas = tuple([RecordedDelta(part) for part in parts])
    return Recording(text="".join(parts), kind="chunk_list", label=label, deltas=deltas), warnings


def mended(text: str) -> str:
    """U+FFFD for each half of a pair, and halves that meet joined."""
    if not has_lone_surrogate(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def read_quoted(body: str) -> Recognised | None:
    """One quoted string, or one on each line."""
    at = start_of(body)
    if _QUOTED_LINE.match(body, at) is None:
        return None
    found = quoted_at(body, at)
    if found is not None and ends_at(body, found[0].end) and (found[0].whole or _is_broken(body, at)):
        return _literal(found[0].value, lossy=found[1], whole=found[0].whole)
    return _quoted_lines(body)


def quoted_at(body: str, at: int) -> tuple[Literal, bool] | None:
    """The quoted string at the offset, as JSON spells it or as Python does; and whether bytes were lost."""
    found = string_at(body, at)
    if found is not None and found[0].whole and body[at] == '"':
        exact = value_at(body, at)
        if exact is not None and exact[1] == found[0].end:
            return Literal(exact[0], exact[1]), False
    return found


def _is_broken(body: str, at: int) -> bool:
    """Whether a quote that is never closed began a string: a letter before it, or an escape after it."""
    return body[at] not in "'\"" or _ESCAPED.search(body, at) is not None


def _literal(text: str, *, lossy: bool, whole: bool) -> Recognised:
    warnings = [LOSSY] if lossy else []
    if has_lone_surrogate(text):
        text, warnings = mended(text), [*warnings, UNPAIRED]
    elif not lossy:
        warnings += replaced([Recording(text)])
    if not whole:
        warnings.append(Warn("broken_off", "The string has no closing quote: the end of the output is missing."))
    return Recognised(
        kind="text_literal",
        title=f"one quoted string, {number(len(text), 'character')}",
        advice=f"What it stands for was taken. Choose a parser and replay it. {_OR_RAW}",
        usable=True,
        outputs=(Recording(text=text, kind="text_literal"),),
        why=("It is one quoted string, as Python or JSON writes it.",),
        facts=text_facts(warnings),
        warnings=tuple(warnings),
    )


def _quoted_lines(body: str) -> Recognised | None:
    """Lines that are one quoted string each: a program printed its deltas so. The last may break off."""
    lines = [line.strip() for line in body.split("\n") if line.strip()]
    parts, lossy, cut = [], False, False
    for place, line in enumerate(lines, 1):
        found = quoted_at(line.removesuffix(","), 0) if _QUOTED_LINE.match(line) else None
        if found is None or (found[0].whole and found[0].end != len(line.removesuffix(","))):
            return None
        if not found[0].whole:
            if place < len(lines) or place == 1:
                return None
            cut = True
            continue
        parts.append(str(found[0].value))
        lossy = lossy or found[1]
    made = _lists([parts], cut=cut)
    made.why = (f"{number(len(lines), 'line')}, each one quoted string.",)
    if lossy:
        made.warnings = (*(warn for warn in made.warnings if warn.code != LOSSY.code), LOSSY)
    return made


def read_delta_lines(body: str) -> Recognised | None:
    """Debug lines that print each delta after `DELTA TEXT:` or `delta_text=`."""
    if "DELTA TEXT:" not in body and "delta_text=" not in body:
        return None
    body = without_prefixes(body)
    marks = list(_DELTA.finditer(body))
    if not marks:
        return None
    ends = [mark.start() for mark in marks[1:]] + [len(body)]
    parts, quoted, cut, skipped = [], 0, False, body.count("\n", 0, marks[0].start())
    for mark, end in zip(marks, ends, strict=True):
        colour = "\x1b" in mark[0]
        lines = body[mark.end() : end].removesuffix("\n").split("\n")
        own = next((at for at, line in enumerate(lines) if at and LOG_LINE.match(line)), len(lines))
        skipped += len(lines) - own
        text = COLOUR.sub("", "\n".join(lines[:own])) if colour else "\n".join(lines[:own])
        found = quoted_at(text, 0) if _QUOTED_LINE.match(text) else None
        alone = mark[0].endswith("=") or (found is not None and found[0].end == len(text.rstrip()))
        if found and found[0].whole and alone:
            parts.append(str(found[0].value))
            quoted += 1
        elif found and not found[0].whole and quoted and end == len(body):
            cut = True
        else:
            parts.append(text)
    made = _lists([parts], cut=cut)
    made.why = (f"{number(len(marks), 'line')} with a delta's text, as parsers print it.",)
    made.advice = "Choose a parser and replay it."
    made.server = "vLLM"
    if quoted < len(parts) and any("\n" in part or not part for part in parts):
        made.warnings += (BARE,)
        made.facts = text_facts(made.warnings)
    if skipped:
        made.warnings += (Warn("other_lines", f"{number(skipped, 'line')} of other messages left out."),)
    return made
