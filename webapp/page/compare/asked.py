"""What a comparison asks for, in the words of its address: two to four sides, the rules, and the cursor.

A word that cannot be read is left out, and said beside its control: the rest of the comparison still works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal
from urllib.parse import urlencode

from webapp.engines.entries import NAME
from webapp.page.inspect.inspect_page import given_words, whole_number

NAMES = "abcd"
# The rules of a comparison: what each is called, and its words with what they mean.
RULES: dict[str, tuple[str, dict[str, str]]] = {
    "calls": ("calls", {"order": "by index and order", "index": "by index"}),
    "arguments": ("arguments as", {"text": "text", "json": "JSON values"}),
    "whitespace": ("whitespace of the text", {"exact": "exactly", "soft": "softly, as blanks"}),
    "ids": ("ids of calls", {"same": "they count", "any": "any"}),
}
MATRIX = ("near", "all", "engines")  # the parsers of the matrix
LONGEST = 4_000


@dataclass(slots=True, frozen=True)
class Side:
    """Says how one side replays an output, in words; an empty word: as the case says. `text` names another case."""

    chunk: str = ""
    parser: str = ""
    policy: str = ""
    mode: str = ""
    start: str = ""
    decode: str = ""
    contract: str = ""
    text: str = ""

    def words(self, name: str) -> dict[str, str]:
        """Return what is said, by the names it has in an address."""
        return {f"{name}_{key}": word for key, word in asdict(self).items() if word}

    def under(self, parser: str, chunk: str) -> Side:
        """The same output by another parser, under another chunking."""
        return replace(self, parser=parser, chunk=chunk, policy="")


PAIR = (Side(), Side())


@dataclass(slots=True, frozen=True)
class Asked:
    """The sides, the rules that are not the case's, and the cursor; `at` None: where there is most to see.

    `matrix` says which parsers are compared beside the sides, none if empty; `asks` is the engine that is asked for its
    rows of it.
    """

    sides: tuple[Side, ...] = PAIR
    calls: Literal["", "order", "index"] = ""
    arguments: Literal["", "text", "json"] = ""
    whitespace: Literal["", "exact", "soft"] = ""
    ids: Literal["", "same", "any"] = ""
    matrix: Literal["", "near", "all", "engines"] = ""
    at: int | None = None
    asks: str = ""

    def words(self, **changes: Any) -> dict[str, str]:
        """Everything that is said, with `changes`, by the name it has in an address."""
        asked = replace(self, **changes)
        said: dict[str, str] = {}
        for name, side in zip(NAMES, asked.sides, strict=False):
            said |= side.words(name)
        said |= {name: getattr(asked, name) for name in (*RULES, "matrix", "asks")}
        said["at"] = "" if asked.at is None else str(asked.at)
        return {name: word for name, word in said.items() if word}

    def swapped(self, at: int = 1) -> tuple[Side, ...]:
        """The sides with the one at `at` and the one before it exchanged."""
        return (*self.sides[: at - 1], self.sides[at], self.sides[at - 1], *self.sides[at + 1 :])

    def without(self, at: int) -> tuple[Side, ...]:
        """The sides without the one at `at`."""
        return (*self.sides[:at], *self.sides[at + 1 :])

    @property
    def is_full(self) -> bool:
        """Return whether no more sides fit."""
        return len(self.sides) == len(NAMES)


def _words_of(posted: Mapping[str, str]) -> dict[str, str]:
    """The words of a query or a form. What the button that was pressed says of a side is all there is to say of it, and
    where it says something of sides, it says which of C and D there are."""
    said = {name[0] for name in given_words({"go": posted.get("go", "")}) if is_of_side(name)}
    gone = said | (set(NAMES[2:]) if said else set())
    return given_words({name: word for name, word in posted.items() if not (is_of_side(name) and name[0] in gone)})


def is_of_side(name: str) -> bool:
    """Return whether a word of an address says something of a side."""
    return name[:1] in NAMES and name[1:2] == "_"


def read_asked(posted: Mapping[str, str]) -> Asked:
    """Return what a query or a form asks for; what cannot be read is left out. A and B are always there."""
    given = _words_of(posted)
    rules: dict[str, Any] = {name: given.get(name) for name in RULES if given.get(name) in RULES[name][1]}
    if given.get("matrix") in MATRIX:
        rules["matrix"] = given["matrix"]
    if NAME.fullmatch(given.get("asks", "")):
        rules["asks"] = given["asks"]
    said = {name[0] for name, word in given.items() if word and is_of_side(name)}
    sides = [_side(given, name) for name in NAMES if name in "ab" or name in said]
    return Asked(tuple(sides), at=whole_number(given.get("at")), **rules)


def faults(posted: Mapping[str, str]) -> dict[str, str]:
    """Return what `read_asked` cannot read, other than of a side, by the name of its control."""
    given, found = given_words(posted), {}
    for name, (_, words) in RULES.items():
        if (word := given.get(name)) and word not in words:
            found[name] = f"{word[:40]!r} is no rule here; write {' or '.join(words)}."
    if (text := given.get("at", "").strip()) and whole_number(text) is None:
        found["at"] = f"{text[:40]!r} is no character of the output; write a whole number."
    return found


def is_bare(posted: Mapping[str, str]) -> bool:
    """Return whether nothing is said of any side."""
    return not any(map(is_of_side, given_words(posted)))


def is_tidy(posted: Mapping[str, str]) -> bool:
    """Return whether an address could have been written by `CompareLinks`: no empty words, no fields of a form."""
    return all(posted.values()) and not any("." in name for name in posted)


def _side(given: Mapping[str, str], name: str) -> Side:
    """One side. A plus sign typed into an address arrives as a blank, and no word has blanks of its own."""
    words = {key: given.get(f"{name}_{key}", "").strip().replace(" ", "+")[:LONGEST] for key in Side.__slots__}
    begin = f"{name}_policy."
    fields = [(key.removeprefix(begin), value) for key, value in given.items() if key.startswith(begin)]
    words["policy"] = ",".join([words["policy"]] * bool(words["policy"]) + [f"{k}:{v}" for k, v in fields if v])
    return Side(**words)


@dataclass(slots=True, frozen=True)
class CompareLinks:
    """Says how a comparison is addressed. `base` None: a run that was never shared has only its form with `case`, and
    with the texts that were put beside it (`beside`)."""

    base: str | None
    asked: Asked
    case: str = ""
    beside: Sequence[str] = ()

    @property
    def posted(self) -> bool:
        """Return whether controls post the form again."""
        return self.base is None

    def query(self, **changes: Any) -> str:
        """Return what is asked for, with `changes`, as a query string."""
        return urlencode(self.asked.words(**changes), safe=":,")

    def url(self, **changes: Any) -> str:
        """The address of this page with `changes`."""
        return f"{self.base or ''}?{self.query(**changes)}"
