"""Layers that tools put around a recording on its way, and how each comes off.

A layer is a record: what it is called, how it is told, and how it comes off, which also says whether it is there. The
ones that are `offered` only change what a model may have written (quotation marks, blanks, line ends), so no text loses
them by itself. What is in bytes (another encoding, a compression) comes off before there is a text.

    bytes    UTF-16, UTF-32, gzip, zlib, zstd
    whole    base64, percent escapes, a string inside a string, HTML, colours of a terminal
    lines    what stands before every line: a quote's or a diff's sign, names, time stamps, levels, numbers
    offered  escapes of Markdown, typographic quotation marks, odd blanks, lines that were wrapped

(ECMA-48 for colours, RFC 4648, RFC 3986, CommonMark 0.31; prefixes as docker compose, kubectl, the CRI, journald,
Python's logging, vLLM 0.33, grep and diff write them.)
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from urllib.parse import unquote_to_bytes

from parsers.compare.divergence import shared_prefix
from parsers.intake.evidence import Peeled
from parsers.intake.packing import packing_of, unpacked
from parsers.intake.plain_text import BOM, without_shell_escapes
from parsers.intake.written_values import literal_at, quoted_at, whole_object

LARGEST = 50_000_000  # bytes that a compressed file may hold
_MOST = 6  # layers of bytes, one in the other

# What a layer leaves of a text, and on how many lines it was; None where it is not there.
Rest = tuple[str, int] | None


class Lined:
    """A text, and its lines for whoever looks at these: all layers look at the same ones."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def lines(self) -> list[str]:
        """All lines."""
        return self.text.split("\n")

    @cached_property
    def held(self) -> list[str]:
        """Those that are not blank."""
        return [line for line in self.lines if line and not line.isspace()]

    @cached_property
    def width(self) -> int:
        """The length of the longest one."""
        return max(map(len, self.lines))


Without = Callable[[Lined], Rest]


@dataclass(frozen=True, slots=True)
class Layer:
    """One kind of layer. `name` is for programs, `words` say what came off."""

    name: str
    words: str
    without: Without
    offered: bool = False


def from_bytes(data: bytes) -> tuple[bytes, tuple[Peeled, ...]]:
    """Return the bytes as UTF-8, unpacked, and the layers that came off; bytes that are neither stay."""
    found: list[Peeled] = []
    while len(found) < _MOST and (step := _unpacked(data) or _recoded(data)) is not None:
        data, name, words = step
        found.append(Peeled(name, words, 0))
    return data, tuple(found)


def _unpacked(data: bytes) -> tuple[bytes, str, str] | None:
    packing = packing_of(data)
    inner = None if packing is None else unpacked(data, packing, LARGEST)
    return None if packing is None or inner is None else (inner, packing.value, f"a compression, {packing.value}")


_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32-le"), (b"\x00\x00\xfe\xff", "utf-32-be"), (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)  # fmt: skip
_LOOKED_AT = 512


def _recoded(data: bytes) -> tuple[bytes, str, str] | None:
    mark, name = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", _nul_bytes(data)))
    if name is None:
        return None
    try:
        text = data[len(mark) :].decode(name)
    except UnicodeDecodeError:
        return None
    title = name.removesuffix("-le").removesuffix("-be")
    return text.encode(), title, f"the encoding {title.upper()}"


def _nul_bytes(data: bytes) -> str | None:
    """Return the encoding without a mark that bytes have where every second one is NUL, as in Western text."""
    head = data[:_LOOKED_AT]
    head = head[: len(head) // 2 * 2]
    if len(head) < 8 or b"\0" not in head:
        return None
    for low, high, name in ((head[::2], head[1::2], "utf-16-le"), (head[1::2], head[::2], "utf-16-be")):
        if b"\0" not in low and high.count(b"\0") * 4 > len(high) * 3:
            return name
    return None


# The whole text.

_BASE64 = re.compile(r"\s*(?:data:[\w/+.;=-]{0,100};base64,)?([A-Za-z0-9+/_\-\s]{24,}={0,2})\s*")
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_ENTITY = re.compile(r"&(?:quot|apos|lt|gt|amp|nbsp|#\d{1,6}|#x[0-9a-fA-F]{1,6});")
_PRE = re.compile(r"\s*(?:<(?:pre|code)\b[^<>\n]{0,200}>\s*){1,2}([\s\S]*?)(?:\s*</(?:code|pre)>){1,2}\s*")
_COLOUR = re.compile(r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]|\x1b\][^\x07\x1b\n]{0,500}+(?:\x07|\x1b\\)|\x1b[=>]")
_SPELLED = re.compile(r"\\[nrtuUx\\\"']")
_OWN_QUOTE = re.compile(r"(?<!\\)(?:\\\\)*\"")


def _without_base64(text: str) -> Rest:
    found = _BASE64.fullmatch(text)
    if found is None:
        return None
    packed = "".join(found[1].split()).rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        data = base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True)
        inner = from_bytes(data)[0].decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    return None if "\0" in inner else (inner, _lines(text))


def _without_percent(text: str) -> Rest:
    if any(one.isspace() for one in text.strip()) or len(_PERCENT.findall(text)) < 3:
        return None
    try:
        return unquote_to_bytes(text.strip().replace("+", "%20")).decode("utf-8"), 1
    except UnicodeDecodeError:
        return None


def _without_string(text: str) -> Rest:
    """Take the string that is all of the text, after an assignment perhaps, or all of an object's one text."""
    at = _ASSIGNED.match(text)
    start = at.end() if at else 0
    found = quoted_at(text, start) if text[start : start + 2].strip("bBuU")[:1] in _QUOTES else None
    if found is not None and found.whole and not text[found.end :].strip(" \t\r\n;,") and found.value:
        return found.value, _lines(text)
    value = whole_object(text)
    texts = [one for one in value.values() if isinstance(one, str) and len(one) * 2 > len(text)] if value else []
    return (texts[0], _lines(text)) if texts else None


_ASSIGNED = re.compile(r"\s*+(?:[A-Za-z_][\w.]{0,60} ?[=:] ?)?")
_QUOTES = ("'", '"')


def _without_escapes(text: str) -> Rest:
    """Undo the escapes of a string that lost the quotation marks around it."""
    if len(_SPELLED.findall(text)) < 2 or _OWN_QUOTE.search(text):
        return None
    try:
        inner = json.loads(f'"{text.strip()}"')
    except ValueError:
        inner = without_shell_escapes(text)
    return (inner, _lines(text)) if isinstance(inner, str) and inner != text else None


def _without_colours(text: str) -> Rest:
    return _replaced(text, _COLOUR, "") if "\x1b" in text or "\x9b" in text else None


def _without_html(text: str) -> Rest:
    block = _PRE.fullmatch(text) if "<" in text else None
    inner = block[1] if block else text
    if block is None and _ENTITY.search(text) is None:
        return None
    lines = sum(1 for line in inner.split("\n") if _ENTITY.search(line))
    return _ENTITY.sub(lambda found: html.unescape(found[0]), inner), max(lines, 1)


def _replaced(text: str, pattern: re.Pattern[str], by: str) -> Rest:
    """Return the text with what matches replaced, and on how many lines it stood; None where nothing does."""
    if pattern.search(text) is None:
        return None
    return pattern.sub(by, text), sum(1 for line in text.split("\n") if pattern.search(line))


def _lines(text: str) -> int:
    return text.count("\n") + 1


# Prefixes of lines.

_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)"
_DATE = r"(?:\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d[-/]\d\d )"
_TIME = rf"{_DATE}?\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?(?:Z| ?[+-]\d\d:?\d\d)?"
# A line may have lost the blanks at the end of its prefix. Each pattern matches at a line's start and must not eat the
# beginning of what a recording's own lines begin with.
_PREFIXES: tuple[tuple[str, str, str], ...] = (
    ("quote", "the sign of a quote, `>`", r"[ \t]*>(?!>)(?: |(?=\S)|$)"),
    ("prompt", "the prompt of a shell or of Python",
     r"[ \t]*(?:>>>|\.\.\.|In ?\[\d+\]:|\$|%|[\w.-]{1,60}@[\w.-]{1,60}:\S{0,200}[$#])(?: |$)"),
    ("diff", "the sign of a change, `+` or `-`", r"[+-] ?(?!\d)"),
    ("comment", "the sign of a comment", r"[ \t]*(?:#|//|--|;|\*)(?: |(?=\S)|$)"),
    ("container", "the name of a container or a pod",
     r"(?:\[?(?:pod/)?[\w./@-]{1,80}\]? *\| ?|\[(?:pod/)?[\w.-]{1,60}(?:/[\w.-]{1,60}){0,3}\] )"),
    ("journal", "what the journal of a system writes",
     r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,80} [\w.@/-]{1,80}(?:\[\d+\])?: ?"),
    ("process", "the name of a process", r"\([A-Z]\w*(?: \w+)? pid=\d+\) ?"),
    ("time", "a time stamp", rf"[ \t]*\[?{_TIME}\]?(?:[ \t:,|-]+|$)(?:(?:stdout|stderr) [FP](?: |$))?"),
    ("time", "a time stamp", r"\d{10}(?:\.\d{1,9}|\d{3})?[ \t:]+"),
    ("level", "the level of a log and its origin",
     rf"[ \t]*(?:[\w.]{{1,60}} - )?\[?{_LEVEL}\b\]?(?::[\w.]{{1,60}}:(?: |(?=\S))|[ \t:|-]*(?:{_TIME} )?"
     r"(?:\[?[\w./-]{1,80}:\d+\](?: |$)|[\w.]{1,60}:[\w.-]{1,60}\.py:\d+ |- )?)"),
    ("level", "the level of a log", r"##\[\w{1,20}\] ?"),
    ("place", "the name of a file and the number of a line", r"(?:[\w./-]+\.\w{1,6}[:-](?:\d{1,7}[:-])?)"),
    ("number", "the number of a line", r"[ \t]*\d{1,7}(?:[:-](?!\d)|\t| ?\|| {1,2}|\.|$) ?"),
    ("box", "a line at the side", r"[ \t]*[|│┃║](?: |(?=\S)|$)"),
)  # fmt: skip
_NUMBER = re.compile(r"\d+")


def _without_prefix(name: str, pattern: re.Pattern[str]) -> Without:
    def without(of: Lined) -> Rest:
        """It is there where three of four lines have it. Where it is not, the line that decides so is the last one
        that is looked at."""
        without_it, marks = len(of.held) // 4, list[re.Match[str]]()
        for line in of.held:
            mark = pattern.match(line)
            if mark is not None and mark.end():
                marks.append(mark)
            elif (without_it := without_it - 1) < 0:
                return None
        if not marks or (name == "number" and not _rises(marks)):
            return None
        bare = [line[mark.end() :] if (mark := pattern.match(line)) else line for line in of.lines]
        return "\n".join(bare), len(marks)

    return without


def _rises(marks: list[re.Match[str]]) -> bool:
    numbers = [int(found[0]) for mark in marks if (found := _NUMBER.search(mark[0]))]
    return len(numbers) == len(marks) and all(one < two for one, two in pairwise(numbers))


_VARIES = re.compile(rf"(?P<level>\b{_LEVEL}\b *)|\d+")
_VARIED = {"\0": r"\d+", "\1": rf"{_LEVEL} *"}
_HEAD = 200  # characters of a line in which a prefix is looked for
# What a recording's own lines begin with.
_OWN = re.compile(r"[{\"']|\[(?=\s*(?:[{\[\"']|\Z))|\b(?:data|event|id|retry):|\b[A-Za-z_][\w.]*\(")
_LETTERS = re.compile(r"[\w.=(]*\Z")
_HALF_COLOUR = re.compile(r"\x1b\[?[;\0]*\Z")  # a number is NUL there


def _without_common(of: Lined) -> Rest:
    """Take off what all lines begin with, but for its numbers and its level, whatever program wrote that."""
    heads = [_VARIES.sub(_variable, line[:_HEAD].rstrip()) for line in of.held]
    lowest, highest = min(heads, default=""), max(heads, default="")
    common = lowest[: shared_prefix(lowest, highest)] if len(heads) > 1 else ""
    if own := _OWN.search(common):
        common = common[: own.start()]
    if len(common) < min(map(len, heads), default=0):
        common = _HALF_COLOUR.sub("", _LETTERS.sub("", common))
    if not common.strip(" \t\0"):
        return None
    spelt = re.sub("[\0\1]", lambda one: _VARIED[one[0]], re.escape(common.rstrip()))
    mark = re.compile(rf"{spelt}(?: |$)?")
    return "\n".join([mark.sub("", line, count=1) for line in of.lines]), len(heads)


def _variable(found: re.Match[str]) -> str:
    """A number is NUL, a level is U+0001: what differs from line to line in the prefixes of a log."""
    return "\1" if found["level"] else "\0"


# What a log may write before an object on one line, when it is more than words: a model says words before an object.
_LOGGED = re.compile(r"(?=[^{}\"']{0,200}[\d|\]>)])[^{}\"']{1,200}?(?=\[?\{\s*[\"'])")


def _without_head(of: Lined) -> Rest:
    """Take off what a log wrote before the one value that is all the rest of its line."""
    head = _LOGGED.match(of.text) if len(of.held) == 1 else None
    if head is None:
        return None
    rest = of.text[head.end() :].rstrip()
    found = literal_at(rest)
    return (rest, 1) if found is not None and found.whole and found.end == len(rest) else None


_LABEL = re.compile(r"[ \t]*[A-Za-z_][\w. /-]{0,60}(?:: ?|= ?| - |=> ?)(?=[\[{'\"(<]|data:|[a-zA-Z_.]+\(|[a-z_]+=\S)")


def _without_label(of: Lined) -> Rest:
    """Take off the one word that stands before every recording: `chunk: {...}`, `out=...`, `client:...`."""
    first = _LABEL.match(of.text)
    if first is None or first[0].strip() in ("data:", "event:", "id:"):
        return None
    count = sum(line.startswith(first[0]) for line in of.lines)
    return "\n".join([line.removeprefix(first[0]) for line in of.lines]), count


# Offered only.

_MARKDOWN = re.compile(r"\\(?=[_*\[\]<>#`~{}()!|+.-])")
_TYPED = dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"') | dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
_TYPED_QUOTE = re.compile(f"[{''.join(_TYPED)}]")
_BLANKS = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_NOTHING = re.compile(f"[\u200b-\u200d\u2060\u00ad{BOM}]")
_NARROWEST, _WIDEST = 40, 400


def _without_typed_quotes(text: str) -> Rest:
    found = _replaced(text, _TYPED_QUOTE, "")
    return found and (_TYPED_QUOTE.sub(lambda mark: _TYPED[mark[0]], text), found[1])


def _without_blanks(text: str) -> Rest:
    if _BLANKS.search(text) is None and _NOTHING.search(text) is None:
        return None
    lines = sum(1 for line in text.split("\n") if _BLANKS.search(line) or _NOTHING.search(line))
    return _BLANKS.sub(" ", _NOTHING.sub("", text)), lines


def _unwrapped(of: Lined) -> Rest:
    """Join lines that were cut at one width, each with the next."""
    if not _NARROWEST <= of.width <= _WIDEST:
        return None
    lines = of.lines
    full = [len(line) == of.width for line in lines[:-1]]
    if not any(full):
        return None
    made = "".join([line + ("" if joined else "\n") for line, joined in zip(lines, [*full, False], strict=True)])
    return made.removesuffix("\n"), sum(full)


def _refilled(of: Lined) -> Rest:
    """Join lines that were broken at blanks: those that the next word would have made too wide."""
    if not _NARROWEST <= of.width <= _WIDEST:
        return None
    lines = of.lines
    words = [line.lstrip().split(" ", 1)[0] for line in lines[1:]]
    full = [len(line.rstrip()) + 1 + len(word) > of.width for line, word in zip(lines, words, strict=False)]
    if not any(full):
        return None
    parts = [lines[0]]
    for line, joined in zip(lines[1:], full, strict=True):
        parts.append(_joint(parts[-1], line) if joined else f"\n{line}")
    return "".join(parts), sum(full)


def _joint(before: str, line: str) -> str:
    """A line that is joined to the one before: its indentation was made by the wrapping."""
    bare = line.lstrip(" ")
    return bare if before.endswith(" ") or len(before) >= _WIDEST else f" {bare}"


def _without_returns(text: str) -> Rest:
    """End the lines as everybody else does, of a text whose lines end as those of old Macs and progress bars do."""
    count = text.count("\r")
    return (text.replace("\r", "\n"), count) if count > 1 and "\n" not in text.rstrip() else None


def _whole(without: Callable[[str], Rest]) -> Without:
    """A layer of a text that needs no lines."""
    return lambda of: without(of.text)


LAYERS: tuple[Layer, ...] = (
    Layer("base64", "the encoding base64", _whole(_without_base64)),
    Layer("percent", "percent escapes, as in addresses", _whole(_without_percent)),
    Layer("returns", "line ends that are a carriage return alone", _whole(_without_returns)),
    Layer("string", "a string around it", _whole(_without_string)),
    Layer("escapes", "the escapes of a string", _whole(_without_escapes)),
    Layer("colours", "colours of a terminal", _whole(_without_colours)),
    Layer("html", "escapes or tags of HTML", _whole(_without_html)),
    *[Layer(name, words, _without_prefix(name, re.compile(at))) for name, words, at in _PREFIXES],
    Layer("common", "what all lines begin with, as a log writes it", _without_common),
    Layer("head", "what a log wrote before it", _without_head),
    Layer("label", "a word before it", _without_label),
    Layer("markdown", "escapes of Markdown", lambda of: _replaced(of.text, _MARKDOWN, "")),
    Layer("quotes", "typographic quotation marks", _whole(_without_typed_quotes), offered=True),
    Layer("blanks", "odd blanks, or characters of no width", _whole(_without_blanks), offered=True),
    Layer("wrapped", "line ends at one width", _unwrapped, offered=True),
    Layer("filled", "line ends between words", _refilled, offered=True),
)


def peeled(text: str, names: Iterable[str]) -> tuple[str, tuple[Peeled, ...]]:
    """Take off the layers that are named, in this order; one that is not there is left out."""
    found: list[Peeled] = []
    for name in names:
        for layer in LAYERS:
            rest = layer.without(Lined(text)) if layer.name == name else None
            if rest is not None:
                text = rest[0]
                found.append(Peeled(name, layer.words, rest[1]))
                break
    return text, tuple(found)
