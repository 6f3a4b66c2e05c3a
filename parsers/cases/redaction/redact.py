"""A case without what it says: every word, number and name replaced, while the same finding stays.

All is replaced at once, and the case judged again. Where the finding is another then, halves are tried, and halves of
those: what the finding cannot do without is found so. Of n words of which k must stay that takes about k log n runs.
Of each of these as little stays as the finding needs, and is named: the beginning or the end of it, as the pattern of a
schema may ask for, or no more than that its letters are hexadecimal digits. No pattern is read for that: what holds is
tried, a few runs for each. Whoever calls may stop at any time; what was not tried by then stays too, and is named.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from parsers.cases.case import Case
from parsers.cases.expect import trace_differences
from parsers.cases.io import load_case, to_data
from parsers.cases.redaction.neutral_words import KEYWORDS, NeutralWords, Replacing, Style, glued, pattern_of
from parsers.cases.redaction.redacted_data import redacted
from parsers.cases.redaction.redacted_programs import said_ending
from parsers.cases.run import CaseRun
from parsers.checks.causes import flattened
from parsers.checks.leaks import is_marker, unmistakable_markers
from parsers.formats.model import Format, builtin_formats
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import UsageError

STYLES = tuple(map(Style, range(3)))  # the replacements that are tried for a word before any of it stays
MOST_RUNS = 400
_PARTS: tuple[Callable[[int], Style], ...] = (lambda many: Style(head=many), lambda many: Style(tail=many))


class Part(Enum):
    """What may have to stay besides words."""

    IDS = "the token ids"
    MODEL = "the name of the model"


Item = str | Part


class Why(Enum):
    """Says why something stays."""

    NEEDED = "the finding is another without it"
    PART = "the finding is another without this part of a word"
    UNTRIED = "nobody tried for want of time"
    NO_WORD = "no neutral word of its shape is left"


@dataclass(slots=True, frozen=True)
class Stays:
    """What was not replaced, and why."""

    what: str
    why: Why


@dataclass(slots=True, frozen=True)
class Redacted:
    """A redacted case. `replaced` words of it are others now; `same`: it shows the same finding. `runs` it took."""

    case: Case
    replaced: int
    stays: tuple[Stays, ...]
    same: bool
    runs: int


Judge = Callable[[Case], Hashable]


def shown_by(run: CaseRun) -> Hashable:
    """What must stay the same of a run: every finding with its kind, its place and its chunking, and what is not as
    expected."""
    known = run.case.known.expect
    wrong = tuple([one.field for one in trace_differences(known, run.trace, run.case.compare)])
    chosen = run.selection.name, run.trace.mode, len(run.trace.message.tool_calls)
    ended = said_ending(run.trace.finish_reason, lambda _: "")  # one that is no word of an API is said as well
    return tuple(sorted(map(_said, flattened(run.findings)))), wrong, chosen, ended


def _said(one: Finding) -> tuple[str, ...]:
    proof = (
        None if one.proof is None else (one.proof.chunking, [edit[:2] for edit in one.proof.edits], one.proof.parser)
    )
    said = one.check, one.severity, one.about, one.topic, one.grade, one.policy, one.step, one.span, proof
    return tuple(map(repr, said))


def literals_of(fmt: Format) -> Iterator[str]:
    """The texts that a format knows: its terminals, and what its argument parsers look for."""
    yield from (*fmt.terminals.values(), *fmt.tokens, *fmt.end_tokens)
    for state in fmt.states.values():
        for told in state.codec.options.values() if state.codec is not None else ():
            yield from [one for one in (told if isinstance(told, list | tuple) else [told]) if isinstance(one, str)]


@cache
def known_markers() -> tuple[str, ...]:
    """The markers of all built-in formats: a case may be about an output that another parser reads."""
    told = [text for fmt in builtin_formats().values() for text in literals_of(fmt) if is_marker(text)]
    return tuple(dict.fromkeys([*unmistakable_markers(), *told]))


class Redaction:
    """Redacts a case that holds its tokens. Iterate `run`; `result` is what is known by then.

    `judge` says what must stay the same of a case, and raises UsageError for one that cannot be run. `formats` are
    those of its parser, whose markers stay.
    """

    def __init__(self, case: Case, judge: Judge, formats: Iterable[Format] = (), *, most_runs: int = MOST_RUNS) -> None:
        self.runs = 0
        self._judge = judge
        self._left = most_runs
        self._data = to_data(case)
        own = [text for fmt in formats for text in literals_of(fmt)]
        self._protected = KEYWORDS | {text for text in own if text.isalnum()}
        vocab = case.tokenizer.vocab if case.tokenizer is not None else None
        special = [token.text for token in case.input.tokens or () if token.kind in ("special", "added")]
        known = [*own, *case.parser.markers, *(vocab or ()), *special, *known_markers()]
        self._pattern = pattern_of(marker for marker in known if marker.strip())
        heard = self._heard(self._data)
        self._glued = glued(heard, self._heard({"input": self._data["input"]}))
        self._neutral = NeutralWords(heard, self._protected)
        self._words = [word for word in heard if word not in self._glued]
        self._styles: dict[Item, Style] = {}
        self._stays: dict[Item, Why] = {}
        self._wanted: Hashable = None
        self._same = False

    def _heard(self, data: Mapping[str, Any]) -> dict[str, None]:
        """The keys of all runs in the data of a case."""
        listening = Replacing(self._pattern, NeutralWords(()), {}, self._protected)
        redacted(data, listening)
        return listening.heard

    @property
    def items(self) -> list[Item]:
        """Everything that is to be replaced."""
        return [*self._words, *Part]

    def run(self) -> Iterator[int]:
        """Redact. Yields the number of runs, after each."""
        self._wanted = self._judge(load_case(self._data))
        self.runs += 1
        yield self.runs
        for style in STYLES:
            if self._holds(dict.fromkeys(self.items, style)):
                return
            yield self.runs
        if not self._holds({}):  # nobody knows what it is that stays
            self._styles, self._same = dict.fromkeys(self.items, STYLES[0]), False
            return
        yield self.runs
        yield from self._settle(self.items)
        for word in [item for item in self._words if self._stays.get(item) is Why.NEEDED]:
            yield from self._narrowed(word)

    def result(self) -> Redacted:
        """The case as far as it is redacted."""
        kept = [item for item in self.items if item not in self._styles or self._neutral_of(item) is None]
        whole = [Stays(item.value if isinstance(item, Part) else item, self._why(item)) for item in kept]
        left = {*kept}
        parts = [Stays(_kept(item, self._styles[item]), Why.PART) for item in self._words if item not in left]
        stays = (*whole, *[one for one in parts if one.what])
        replaced = len([item for item in self._words if item not in left])
        return Redacted(load_case(self._made(self._styles)), replaced, stays, self._same, self.runs)

    def _why(self, item: Item) -> Why:
        return self._stays.get(item, Why.UNTRIED if item not in self._styles else Why.NO_WORD)

    def _neutral_of(self, item: Item) -> object:
        return item if isinstance(item, Part) else self._neutral.of(item, self._styles[item])

    def _settle(self, items: Sequence[Item]) -> Iterator[int]:
        """Replace as many of these as the finding allows, beside what is replaced already."""
        for style in STYLES if len(items) == 1 else STYLES[:1]:
            if self._is_spent:
                return
            held = self._holds({**self._styles, **dict.fromkeys(items, style)})
            yield self.runs
            if held:
                return
        if len(items) == 1:
            self._stays[items[0]] = Why.NEEDED
            return
        half = len(items) // 2
        yield from self._settle(items[:half])
        yield from self._settle(items[half:])

    def _narrowed(self, word: str) -> Iterator[int]:
        """Replace as much of a word as the finding allows, which allows not all of it."""
        if len(word) < 2 or self._is_spent:
            return
        held = self._holds({**self._styles, word: Style(hexadecimal=True)})
        yield self.runs
        for part in _PARTS if not held else ():
            fails, holds = 0, len(word)  # characters that stay
            while holds - fails > 1 and not self._is_spent:
                middle = (fails + holds) // 2
                held = self._holds({**self._styles, word: part(middle)})
                fails, holds = (fails, middle) if held else (middle, holds)
                yield self.runs
            if holds < len(word):
                return

    @property
    def _is_spent(self) -> bool:
        return self.runs >= self._left

    def _holds(self, styles: Mapping[Item, Style]) -> bool:
        self.runs += 1
        try:
            same = self._judge(load_case(self._made(styles))) == self._wanted
        except UsageError:
            same = False
        if same:
            self._styles, self._same = dict(styles), True
        return same

    def _made(self, styles: Mapping[Item, Style]) -> dict[str, Any]:
        words = {item: style for item, style in styles.items() if isinstance(item, str)}
        say = Replacing(self._pattern, self._neutral, words, self._protected, glued=self._glued)
        return redacted(self._data, say, keep_ids=Part.IDS not in styles, keep_model=Part.MODEL not in styles)


def _kept(word: str, style: Style) -> str:
    """The part of a word that stays, and where; empty where none does."""
    head, tail = word[: style.head], word[len(word) - style.tail :]
    return f"{head}…" * bool(head) + f"…{tail}" * bool(tail)
