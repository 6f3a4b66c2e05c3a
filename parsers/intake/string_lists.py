"""Texts as programs spell them: lists of strings, single strings, and the lines of a debug print.

    ['<tool', '_call>']        a Python or JSON list of strings: the deltas (kind chunk_list)
    'text\\n'   b'text'  "..."   one string: the output (kind text_literal); one on each line: the deltas
    ... DELTA TEXT: <th        one delta after each mark, quoted or as it is; or delta_text='<th'

Shapes: vLLM 0.33 (debug prints of its tool parsers), Python's repr, JSON. Anything else around them but prompts and an
assignment makes them model output.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from parsers.intake.evidence import (
    REPLAY,
    Fact,
    Intake,
    Warn,
    intake_of,
    label_outputs,
    lost_text_warnings,
    number,
    text_facts,
)
from parsers.intake.plain_text import has_lone_surrogate, without_lone_surrogates
from parsers.intake.surroundings import COLOUR, LOG_LINE, without_prefixes
from parsers.intake.written_values import Literal, ends_at, quoted_at, start_of, values_in
from parsers.search.pasted import pasted_as
from parsers.search.pasted_kinds import Pasted
from parsers.vocabulary.types import RecordedDelta, Recording

_LIST = re.compile(r"[\[(]\s*+[bBuU]?['\"]")
_QUOTE = re.compile(r"[bBuU]?['\"]")
_ESCAPED = re.compile(r"\\[nrtuUx'\"\\]")
_DELTA = re.compile(r"^[^\n]*?\b(?:DELTA TEXT: ?|delta_text=(?=[bu]?['\"])|(?<=\] )delta_text: ?)", re.MULTILINE)
_SIGNS = ("DELTA TEXT:", "delta_text=", "delta_text: ", "delta_text:\n")
# vLLM logs the ids of a step after its text, on a line of their own.
_STEP_IDS = re.compile(r"\bdelta_token_ids[:=] ?\[([\d, ]*)\]")

_CUT = Warn("broken_off", "The last string breaks off and was left out: what was pasted is not whole.")
_OPEN = Warn("broken_off", "The string has no closing quote: the end of the output is missing.")
_LOSSY = Warn("lossy_text", "The bytes are not UTF-8 throughout: U+FFFD stands where a character was lost.")
_UNPAIRED = Warn("lone_surrogate", "It holds half of a UTF-16 pair, which is no character: U+FFFD stands in its place.")
_BARE = Warn(
    "unquoted", "The deltas are printed without quotes, so a line end inside one cannot be told from a blank line."
)
_OR_RAW = "If that is the model's output itself, take it as raw text."


def read_string_list(body: str) -> Intake | None:
    """Read one list of strings, or several: the deltas of one output each."""
    values = values_in(body) if _LIST.match(body, start_of(body)) and not _are_fields(body) else []
    lists = [value.value for value in values if isinstance(value.value, list) and value.value]
    if not lists or len(lists) < len(values) or not all(isinstance(one, str) for parts in lists for one in parts):
        return None
    why = "It is a list of strings, as Python or JSON writes it."
    return _deltas_intake(lists, why, cut=any(not value.whole for value in values))


def _are_fields(body: str) -> bool:
    """Return whether the strings are what a filter took out of messages, and no deltas."""
    return pasted_as(body) is Pasted.FIELDS


def _deltas_intake(lists: Sequence[Sequence[str]], why: str, *, cut: bool, lossy: bool = False) -> Intake:
    """Return outputs of deltas. `cut`: a last one was left out; `lossy`: some were bytes that are no UTF-8."""
    unpaired = any(has_lone_surrogate("".join(parts)) for parts in lists)
    if unpaired:
        lists = [[without_lone_surrogates(part) for part in parts] for parts in lists]
    outputs = [
        Recording("".join(parts), "chunk_list", deltas=tuple([RecordedDelta(part) for part in parts]))
        for parts in lists
    ]
    label_outputs(outputs, "list")
    deltas = number(sum(map(len, lists)), "delta")
    several = f"{number(len(lists), 'list')} of strings, {deltas}"
    size = sum(len(output.text or "") for output in outputs)
    warnings = [*([_UNPAIRED] if unpaired else []), *([_CUT] if cut else [])]
    lost = [] if unpaired else lost_text_warnings(outputs)
    return intake_of(
        "chunk_list",
        f"{several if len(lists) > 1 else f'list of {deltas}'}, {number(size, 'character')}",
        outputs,
        why=why,
        advice=f"{REPLAY} {_OR_RAW}",
        facts=text_facts([*warnings, *lost]) or (Fact("text", "exact", "The raw text is the strings, joined."),),
        warnings=[*warnings, *([_LOSSY] if lossy else lost)],
    )


def read_quoted(body: str) -> Intake | None:
    """Read one quoted string, or one on each line."""
    at = start_of(body)
    found = quoted_at(body, at) if _QUOTE.match(body, at) and not _are_fields(body) else None
    if found is None:
        return None
    # A quote that is never closed began a string: by a letter before, or an escape after.
    broken = not found.whole and (body[at] not in "'\"" or _ESCAPED.search(body, at) is not None)
    if ends_at(body, found.end) and (found.whole or broken):
        return _string_intake(found)
    return _quoted_lines(body)


def _string_intake(found: Literal) -> Intake:
    warnings = [_LOSSY] if found.lossy else []
    output = Recording(without_lone_surrogates(found.value), "text_literal")
    if output.text != found.value:
        warnings.append(_UNPAIRED)
    elif not found.lossy:
        warnings += lost_text_warnings([output])
    warnings += [] if found.whole else [_OPEN]
    return intake_of(
        "text_literal",
        f"one quoted string, {number(len(output.text or ''), 'character')}",
        [output],
        why="It is one quoted string, as Python or JSON writes it.",
        advice=f"What it stands for was taken. {REPLAY} {_OR_RAW}",
        facts=text_facts(warnings),
        warnings=warnings,
    )


def _quoted_lines(body: str) -> Intake | None:
    """Read lines that are one quoted string each, as a program prints deltas. The last may break off."""
    lines = [line.strip().removesuffix(",") for line in body.split("\n") if line.strip()]
    parts, lossy, cut = list[str](), False, False
    for place, line in enumerate(lines, 1):
        found = quoted_at(line, 0) if _QUOTE.match(line) else None
        if found is None or (found.whole and found.end != len(line)):
            return None
        if not found.whole and (place < len(lines) or place == 1):
            return None
        if found.whole:
            parts.append(found.value)
            lossy = lossy or found.lossy
        else:
            cut = True
    return _deltas_intake([parts], f"{number(len(lines), 'line')}, each one quoted string.", cut=cut, lossy=lossy)


def _step_ids(lines: str) -> tuple[int, ...] | None:
    found = _STEP_IDS.search(lines)
    return tuple([int(one) for one in found[1].split(",") if one.strip()]) if found else None


def _unprefixed(mark: str, lines: list[str]) -> list[str]:
    """Take vLLM's prefix off the further lines of a message: it puts that of the first before each."""
    lines = lines[: next((at for at, line in enumerate(lines) if at and _STEP_IDS.search(line)), len(lines))]
    before = mark[: mark.rfind("delta_text")] if "delta_text: " in f"{mark} " else ""
    if not LOG_LINE.match(before):
        return lines
    return [lines[0].removesuffix("\r"), *[line.removesuffix("\r").removeprefix(before) for line in lines[1:]]]


class _Printed(NamedTuple):
    """The text behind a mark, and the string that it is where quotes stand around all of it."""

    text: str
    string: Literal | None


def _printed(mark: str, text: str) -> _Printed:
    text = COLOUR.sub("", text) if "\x1b" in mark else text
    found = quoted_at(text, 0) if _QUOTE.match(text) else None
    alone = found is not None and (not found.whole or mark.endswith("=") or found.end == len(text.rstrip()))
    return _Printed(text, found if alone else None)


def _unquoted(texts: Sequence[_Printed]) -> tuple[list[str] | None, bool]:
    """Return what the strings stand for, and whether the last breaks off and was left out; None where not all deltas
    have quotes: then those of some are the model's own."""
    strings = [one.string for one in texts]
    last = strings[-1]
    cut = len(strings) > 1 and last is not None and not last.whole
    whole = [one for one in strings[: len(strings) - cut] if one is not None and one.whole]
    return ([one.value for one in whole], cut) if len(whole) == len(strings) - cut else (None, False)


def read_delta_lines(body: str) -> Intake | None:
    """Read debug lines that print each delta after `DELTA TEXT:` or `delta_text=`."""
    if not any(sign in body for sign in _SIGNS):
        return None
    body = without_prefixes(body)
    marks = list(_DELTA.finditer(body))
    if not marks:
        return None
    ends = [mark.start() for mark in marks[1:]] + [len(body)]
    ids = [_step_ids(body[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]
    texts, skipped = list[_Printed](), body.count("\n", 0, marks[0].start())
    for mark, end in zip(marks, ends, strict=True):
        # The delta's own lines end at the log's next one.
        lines = _unprefixed(mark[0], body[mark.end() : end].removesuffix("\n").split("\n"))
        own = next((at for at, line in enumerate(lines) if at and LOG_LINE.match(line)), len(lines))
        skipped += len(lines) - own
        texts.append(_printed(mark[0], "\n".join(lines[:own])))
    parts, cut = _unquoted(texts)
    quoted = parts is not None
    parts = [one.text for one in texts] if parts is None else parts
    made = _deltas_intake([parts], f"{number(len(marks), 'line')} with a delta's text, as parsers print it.", cut=cut)
    made.advice, made.server = REPLAY, "vLLM"
    output = made.outputs[0]
    if None not in ids and output.deltas is not None and len(ids) == len(output.deltas):
        output.deltas = tuple([RecordedDelta(one.text, step) for one, step in zip(output.deltas, ids, strict=True)])
    if not quoted and any("\n" in part or not part for part in parts):
        made.warnings += (_BARE,)
        made.facts = text_facts(made.warnings)
    if skipped:
        made.warnings += (Warn("other_lines", f"{number(skipped, 'line')} of other messages left out."),)
    return made
