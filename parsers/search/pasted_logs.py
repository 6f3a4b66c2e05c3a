"""Logs, tracebacks and errors: what programs print of themselves.

A log is read as records: a line that begins one, and what follows it up to the next such line. A record with markup in
it quotes an output, from its markup on; what stands outside of that must be printed by a program, its first line too,
since models write about logs. A frame, or a line that says what befell a program, makes it a trace. Linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from parsers.search.known_errors import is_known_alone
from parsers.search.line_forms import JOURNAL
from parsers.search.markup import marker_in
from parsers.search.pasted_json import is_logged
from parsers.search.pasted_kinds import Given, Pasted, Shape, always
from parsers.search.pasted_lines import Line, forms_of, is_printed, line_of
from parsers.search.pasted_traces import SOURCE
from parsers.search.report_words import ADVICE

_PYTHON = re.compile(
    r"Traceback \(most recent call last\)|^.{0,120}File \"[^\"\n]{1,300}\", line \d+|^E {2,}\w[\w.]{0,100}Error\b"
    r"|^\S{1,200}\.py:\d+: ",
    re.MULTILINE,
)
_RUBY = re.compile(r"^\s{1,8}(?:\d{1,3}: )?from \S{1,200}:\d+:in |^\S{1,200}\.rb:\d+:in [`']", re.MULTILINE)
_IN_PYTHON = re.compile(r"^.{0,120}File \"[^\"\n]{1,300}\", line \d+", re.MULTILINE)
_INVALID = re.compile(r"\A(?:[\w.]{1,100}ValidationError: )?\d{1,4} validation errors? for \w")
_INVALID_LINE = re.compile(
    r"^(?:[\w.]{1,100}ValidationError: )?\d{1,4} validation errors? for \w|^[\w.\[\]'` ()-]{1,200}$|^\s{2,8}\S"
)
# Where a parser of JSON gave up, or with which status a server answered: no sentence says that.
_POSITION = re.compile(
    r"\bline:? \d+,? column:? \d+|\(char \d+\)|\bposition \d+\b|\bError code: \d{3}\b|\.\w{1,4}:\d+\b"
)
# The words a log puts before the output that it quotes.
_LABEL = re.compile(
    r"\b(?:output|completion|response|content|generated_text|raw|text|message|call)\b[\w ()]{0,30}(?:: ?|= ?|:?$)",
    re.IGNORECASE,
)
# What an error adds to what it quotes.
_ADDED = re.compile(r", (?:JSON )?(?:parse |decode )?error: [^\n]{0,300}\Z", re.IGNORECASE)
# A line break that is spelled out behind the first marker stands in no string: the log has spelled out all of it.
_SPELT = re.compile(r"[^\"\n]{0,400}?[>\]]\\n[^\n]*\Z")
_WRITTEN, _ESCAPES = re.compile(r"\\([ntr\"'\\])"), {"n": "\n", "t": "\t", "r": "\r"}
_MARKS = ("'", '"', "`")
_PROMPT = re.compile(r"\b(?:prompt|chat_template|messages|Namespace|args)\b", re.IGNORECASE)
_LOOKED = 20  # lines of JSON, the first of which tell
_FEW = 2  # lines of an answer that begins with the name of an error
_MEANS = re.compile(r"\b(?:means|is raised when|happens when)\b")
_CLOSING = re.compile(r"\s*(?:</|\[/)")
_ERRORS = (Line.RAISED, Line.NAMED)
_ERROR_LINES = frozenset((*_ERRORS, Line.ECHO, Line.INSET, Line.NOISE))
_BEGINS = frozenset((Line.HEAD, Line.WEAK, Line.FRAME, Line.RAISED, Line.NAMED))


@dataclass(slots=True)
class _Record:
    """The lines of one record: those before its markup, and what it quotes from there on.

    `bare`: the quote stands without quotation marks, and is neither a prompt nor a line of source. `labelled`: words of
    the record stand before it on its line.
    """

    told: list[str] = field(default_factory=list)
    quote: list[str] = field(default_factory=list)
    bare: bool = False
    labelled: bool = False


def _records_of(text: str) -> list[_Record]:
    """Read a text as a log."""
    found, lines = [_Record()], text.splitlines()
    carried = all(JOURNAL.match(line) for line in lines if line.strip())
    for line in lines:
        if found[-1].quote and not _begins(line):
            found[-1].quote.append(JOURNAL.sub("", line) if carried else line)
        else:
            _take(found, line)
    return found


def _begins(line: str) -> bool:
    return bool(line.strip()) and line_of(line) in _BEGINS


def _take(found: list[_Record], line: str) -> None:
    if found[-1].quote:
        found.append(_Record())
    mark = marker_in(line)
    if mark < 0:
        found[-1].told.append(line)
        return
    head = line[:mark]
    label = max((match.end() for match in _LABEL.finditer(head)), default=mark)
    record = found[-1]
    record.told += [head] if head.strip() else []
    record.quote, record.labelled = [line[label:]], bool(head.strip())
    spelt = head.endswith(_MARKS) or line.startswith(_MARKS, label)
    record.bare = not (spelt or _PROMPT.search(head) or SOURCE.match(line))


def bare_quotes(text: str) -> list[str]:
    """Return the outputs that records of a log quote without marks, each from its label or its first marker on."""
    quotes = (_ADDED.sub("", "\n".join(record.quote).strip()) for record in _records_of(text) if record.bare)
    return [as_meant(quote) if _SPELT.match(quote) else quote for quote in quotes]


def as_meant(text: str) -> str:
    """A text of which a program spelled out line breaks and marks."""
    return _WRITTEN.sub(_meant, text)


def _meant(written: re.Match[str]) -> str:
    return _ESCAPES.get(written[1], written[1])


def _told(given: Given) -> list[str]:
    """The lines outside of what records quote; none where the text begins with a marker, or with the reasoning that its
    first marker closes."""
    records = _records_of(given.text)
    begun = any(map(str.strip, records[0].told)) and not _closes(records[0])
    return [line for record in records for line in record.told] if begun else []


def _closes(record: _Record) -> bool:
    """Return whether a record quotes from a closing marker on that begins a line: it closes what stands before."""
    return bool(record.quote) and _CLOSING.match(record.quote[0]) is not None and not record.labelled


def _printed(given: Given) -> list[Line | None]:
    """The forms of these lines, where a program printed them; else none."""
    forms = forms_of(_told(given))
    return forms if is_printed(forms) else []


def _is_traceback(given: Given) -> bool:
    forms = _printed(given)
    return _PYTHON.search(given.text) is not None and (Line.FRAME in forms or forms.count(Line.RAISED) > 1)


def _is_ruby(given: Given) -> bool:
    return _RUBY.search(given.text) is not None and not _IN_PYTHON.search(given.text) and bool(_printed(given))


def _is_stack(given: Given) -> bool:
    return Line.FRAME in _printed(given)


def _is_log(given: Given) -> bool:
    return Line.HEAD in _printed(given)


def _is_served(given: Given) -> bool:
    return given.serves or marker_in(given.text) >= 0 or Line.RAISED in _printed(given)


def _is_json_log(given: Given) -> bool:
    return len(given.lines) > 1 and all(is_logged(line) for line in (*given.lines[:_LOOKED], given.lines[-1]))


def _is_error(given: Given) -> bool:
    """Return whether all that is there names an error, or belongs to one."""
    forms = [form for form in _printed(given) if form is not None]
    return bool(forms) and forms[0] in _ERRORS and all(form in _ERROR_LINES for form in forms)


def _is_surely_error(given: Given) -> bool:
    """Return whether no answer is so: by its form, a place or a status in it, source below it, or a server's name; and
    it does not go on to say what that means and what to do."""
    forms = _printed(given)
    if len(given.lines) <= _FEW and (ADVICE.search(given.said) or _MEANS.search(given.text)):
        return False
    return Line.RAISED in forms or Line.ECHO in forms or _POSITION.search(given.text) is not None or given.serves


def _is_invalid(given: Given) -> bool:
    if _INVALID.match(given.text) is None or "[type=" not in given.text:
        return False
    return Given("\n".join(_told(given))).are(_INVALID_LINE)


def _is_known(given: Given) -> bool:
    return is_known_alone(given.text)


# The surest first.
LOGS = (
    Shape(Pasted.RUBY, _is_ruby, always),
    Shape(Pasted.TRACEBACK, _is_traceback, always),
    Shape(Pasted.ERROR, _is_invalid, always),
    Shape(Pasted.STACK, _is_stack, always),
    Shape(Pasted.LOG, _is_log, _is_served),
    Shape(Pasted.LOG, _is_json_log, _is_served),
    Shape(Pasted.ERROR, _is_known, always),
    Shape(Pasted.ERROR, _is_error, _is_surely_error),
)
