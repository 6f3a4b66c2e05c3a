"""What looks like the markup of calls or reasoning, whoever's it is: left over in text, almost right, or a call's body.

Everything here reads raw text once with patterns that cannot backtrack far, so it stays linear in the output.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache

from parsers.checks.check import any_of
from parsers.checks.json_prefix import is_whole_object
from parsers.checks.leaks import is_marker
from parsers.formats.model import Format, builtin_formats
from parsers.replays.replay import partition
from parsers.selection.registry import build
from parsers.vocabulary.events import Diagnostic, Event, Marker
from parsers.vocabulary.trace import Ownership, RejectedCall, Transition
from parsers.vocabulary.types import Context, Delta, Message, Piece, ToolCall
from parsers.wire.assemble import Assembler

SHORT = 4  # a literal below this many characters tells nothing: braces, brackets, fences of other kinds
NEAR = 7  # from this many letters on, one wrong letter still leaves a marker recognisable

_WORDS = r"(?:tool|function|invoke|param|arg_|call|think|action|channel|dsml|steptml)"
_TAG = rf"</?[|｜]?/?(?:[a-z]{{1,12}}[:_▁ ]|[|｜]?dsml[|｜] ?){{0,2}}{_WORDS}[\w:▁ ]{{0,32}}[=|｜>]"
_KEY = r"(?:name|function|tool_name|arguments|parameters)"
_OBJECT = (
    r'\{\s{0,8}"(?:name|function|tool_name)"\s{0,8}:\s{0,8}"[^"\n]{0,80}"\s{0,8},\s{0,8}"(?:arguments|parameters)"\s{0,8}:'
    r'|\{\s{0,8}"(?:arguments|parameters)"\s{0,8}:\s{0,8}\{'
)
LEFT_OVER = re.compile(
    rf"{_TAG}|\]<\]\w{{1,16}}\[>\[|</?[|｜][\w/▁:-]{{2,40}}(?:[|｜]>)?|\[/?(?:TOOL_CALLS?|ARGS|CALL_ID|THINK)\]"
    r"|✿[A-Z]{3,9}✿|\bfunctions\.[\w.-]{1,64}:\d{1,4}|\bto=functions\.\w|\bfunctools ?\["
    rf"|{_OBJECT}",
    re.IGNORECASE,
)
# The inside of a call: where one of these stands somebody meant to call, and did not only write about markers.
BODY = re.compile(
    rf"{_OBJECT}|[>\]]\s{{0,8}}\[?\{{\s{{0,8}}[\"']{_KEY}[\"']"
    r'|<function=\s?"?\w|<[^\n<>]{0,40}invoke name=|<\w{0,16}:?parameter(?: name)?=|arg_key>'
    r"|<｜tool[▁_]sep｜>|<tool_sep>|\bfunctions\.[\w.-]{1,64}:\d|\bto=functions\.\w|tools_prefix\|>\s{0,4}\[\s{0,4}\{|call:\w{1,64}\{"
    r"|\] ?invoke name="
    r'|\[TOOL_CALLS\] ?\w{1,64}(?:\[|\{)|call tool="|✿FUNCTION✿: ?\w{1,64}\s{0,4}\n|<\|tool_call_start\|>\[\w'
    r"|^\[?[A-Za-z_][\w.]{0,64}\(\w{1,64}=|^\[\s{0,8}[A-Za-z_][\w.]{0,64}\((?:\)|\s{0,8}\w{1,64} ?=)",
    re.IGNORECASE | re.MULTILINE,
)
_TAGLIKE = re.compile(r"<[^<>\s{}\"'=\[\]]{3,48}[>=]?|\[/?[A-Z_ ]{4,24}\]?")
_LETTERS = re.compile(r"[^a-z0-9]+")


@dataclass(slots=True, frozen=True)
class Near:
    """Text [start, end) that is almost the marker `literal`."""

    start: int
    end: int
    literal: str


def quoted(text: str) -> str:
    """Text as it stands in a sentence, on one line and not too long."""
    shown = text.replace("\n", "\\n")
    shown = shown if len(shown) <= 40 else shown[:39] + "…"
    return f'"{shown}"' if "`" in shown else f"`{shown}`"


def listed(words: list[str], joint: str = "and") -> str:
    """'a', 'a and b', 'a, b and c'; of more than four the rest is counted."""
    if len(words) > 4:
        words = [*words[:3], f"{len(words) - 3} more"]
    return f" {joint} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def telling_of(fmt: Format) -> tuple[str, ...]:
    """The literals of a format that tell it from plain text."""
    words = [text for text in fmt.terminals.values() if len(text) >= SHORT and not text.replace(" ", "").isalpha()]
    return tuple(dict.fromkeys([*words, *fmt.models.text]))


@cache
def any_marker() -> re.Pattern[str]:
    """A pattern for the markers around calls of all built-in formats."""
    named = [pair for fmt in builtin_formats().values() for pair in fmt.terminals.items()]
    return any_of([text for name, text in named if is_marker(text) and not name.startswith("THINK")])


def is_bare(fmt: Format) -> bool:
    """Whether a call may begin with a mere bracket, so that no marker has to be in the output."""
    rows = fmt.states[fmt.initial].rows
    return any(len(fmt.terminals.get(row.on, "long enough")) <= 2 for row in rows)


def occurs(fmt: Format, text: str) -> bool:
    """Whether a telling literal of the format is in the text, or begun at its end."""
    return any(literal in text or _begun(literal, text) for literal in telling_of(fmt))


def _begun(literal: str, text: str) -> bool:
    return any(text.endswith(literal[:size]) for size in range(SHORT - 1, len(literal)))


def nearly(text: str) -> list[Near]:
    """Tags that are no marker of any format but almost one: other punctuation, or one wrong letter."""
    return [
        Near(match.start(), match.end(), literal)
        for match in _TAGLIKE.finditer(text)
        if match.group() not in _exact()
        for literal in _alike(match.group())
        if not text.startswith(literal, match.start())
    ]


@lru_cache(maxsize=1024)
def _alike(tag: str) -> tuple[str, ...]:
    letters, closes = _letters(tag), "/" in tag[:3]
    near = [pair for size in (0, -1, 1) for pair in _known().get(len(letters) + size, ())]
    return tuple([text for text, known in near if closes == ("/" in text[:3]) and _close(letters, known)])


def _close(a: str, b: str) -> bool:
    """Whether two words are equal, or differ in one letter while both are long."""
    if a == b:
        return True
    if min(len(a), len(b)) < NEAR or abs(len(a) - len(b)) > 1:
        return False
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return a[at + 1 :] == b[at + 1 :] or a[at:] == b[at + 1 :] or a[at + 1 :] == b[at:]


def _letters(text: str) -> str:
    return _LETTERS.sub("", text.casefold())


@cache
def _known() -> Mapping[int, list[tuple[str, str]]]:
    """Every tag-like marker of the built-in formats and its letters, by the number of these."""
    literals = {text for fmt in builtin_formats().values() for text in fmt.terminals.values() if text[0] in "<["}
    found: dict[int, list[tuple[str, str]]] = {}
    for text in sorted(literals):
        if len(_letters(text)) >= SHORT:
            found.setdefault(len(_letters(text)), []).append((text, _letters(text)))
    return found


@cache
def _exact() -> frozenset[str]:
    tokens = {text for fmt in builtin_formats().values() for text in (*fmt.terminals.values(), *fmt.end_tokens)}
    return frozenset(tokens)


# What one format makes of an output: a trial parse of the whole text, and how well it went, as numbers and words.

BARE_COSTS = 500  # a format without markers of its own is the last guess where markup is left over
NAME = re.compile(r"[\w.$:/@-]{1,128}")


@dataclass(slots=True)
class Reading:
    """One format's reading of `text`. `good` calls are whole, with an argument object and a name that is known.

    `left`: where markup is left in the content; `strange` without that of calls the format began and gave back.
    """

    fmt: Format
    text: str
    context: Context
    message: Message
    events: list[Event]
    moves: list[Transition]
    rejected: list[RejectedCall]
    runs: list[Ownership]
    good: int = 0
    score: int = 0
    left: list[int] = field(default_factory=list)
    markers: tuple[str, ...] = ()
    dropped: int = 0
    strange: list[int] = field(default_factory=list)

    @property
    def complete(self) -> int:
        """Calls that end where their grammar ends them."""
        return sum([call.complete for call in self.message.tool_calls])

    @property
    def warnings(self) -> list[Diagnostic]:
        """What the parser found worth a warning."""
        return [e for e in self.events if isinstance(e, Diagnostic) and e.severity != "info"]

    @property
    def notes(self) -> list[Diagnostic]:
        """What it put right by itself."""
        return [e for e in self.events if isinstance(e, Diagnostic) and e.severity == "info"]


def read(fmt: Format, text: str, context: Context) -> Reading:
    """Parse the whole text with the format under its own policies."""
    asked = replace(context, tool_choice="auto")
    machine = build(fmt)
    moves: list[Transition] = []
    machine.transitions = moves
    machine.begin(asked)
    events = machine.feed(Delta(1, (Piece(text),))) + machine.finish(context.finish_reason)
    assembler = Assembler()
    assembler.add(events)
    runs = partition(events, len(text))
    reading = Reading(fmt, text, asked, assembler.message(), events, moves, machine.rejected, runs)
    reading.good = sum([is_good(call, context) for call in reading.message.tool_calls])
    reading.left = left_over(text, runs)
    reading.strange = _strange(reading)
    reading.markers = _markers(fmt, text, events)
    lost = [text[run.start : run.end] for run in runs if run.owner == "dropped"]
    reading.dropped = sum([char.isalnum() for part in lost for char in part])
    reading.score = _score(reading)
    return reading


def is_good(call: ToolCall, context: Context) -> bool:
    """Whether a call is whole, its arguments are an object, and its name is a name and known where names are."""
    known = not context.tools or context.tool(call.name) is not None
    return call.complete and known and NAME.fullmatch(call.name) is not None and is_whole_object(call.arguments)


def left_over(text: str, runs: Sequence[Ownership]) -> list[int]:
    """Where text that went to content looks like markup."""
    return [
        match.start()
        for run in runs
        if run.owner == "content"
        for match in LEFT_OVER.finditer(text, run.start, run.end)
    ]


def _strange(reading: Reading) -> list[int]:
    """Markup left over that is not the format's own, given back with a call that was none."""
    if not reading.rejected or is_bare(reading.fmt):
        return reading.left
    first, own = reading.rejected[0].start, (*telling_of(reading.fmt), "{")
    return [at for at in reading.left if at < first or not reading.text.startswith(own, at)]


def _markers(fmt: Format, text: str, events: Sequence[Event]) -> tuple[str, ...]:
    """The telling markers that were recognised, in order of their first place."""
    own = frozenset(telling_of(fmt))
    seen = [text[event.start : event.end] for event in events if isinstance(event, Marker)]
    return tuple(dict.fromkeys([marker for marker in seen if marker in own]))


def _score(reading: Reading) -> int:
    """One number to rank readings by. A good call outweighs everything that may be said against a reading."""
    calls, fmt = reading.message.tool_calls, reading.fmt
    whole = sum([call.complete and NAME.fullmatch(call.name) is not None for call in calls]) - reading.good
    score = 1000 * reading.good + 250 * max(whole, 0) + 100 * (len(calls) - reading.complete)
    own = len(reading.left) - len(reading.strange)
    score -= 120 * min(len(reading.strange), 5) + 20 * min(own, 5)
    score -= 200 * bool(reading.dropped) + 10 * min(reading.dropped, 50)
    score -= 60 * min(len(reading.warnings), 5) + 20 * min(len(reading.notes), 3)
    score += 30 * min(len(reading.markers), 5) + 40 * any(hint in reading.text for hint in fmt.models.text)
    if is_bare(fmt) and (reading.left or not calls):
        score -= BARE_COSTS
    unused = len([literal for literal in fmt.terminals.values() if literal not in reading.text])
    said = len((reading.message.content or "").strip())
    return score - min(unused, 19) - min(said // 2, 15) - 10 * is_bare(fmt)
