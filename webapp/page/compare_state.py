"""What a comparison's address or form says: the two sides, the rules, and the cursor. See `compare` for the names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode

NAMES = ("a", "b")
RULES: dict[str, tuple[str, ...]] = {
    "calls": ("order", "index"),
    "arguments": ("text", "json"),
    "whitespace": ("exact", "soft"),
    "ids": ("same", "any"),
}
LONGEST = 4_000


@dataclass(slots=True, frozen=True)
class Side:
    """How one side replays the output, in words; an empty word: as the case says."""

    chunk: str = ""
    parser: str = ""
    policy: str = ""
    mode: str = ""
    start: str = ""
    decode: str = ""


@dataclass(slots=True, frozen=True)
class Asked:
    """Both sides, the rules that are not the case's, and the cursor; `at` None: where there is most to see."""

    a: Side = field(default_factory=Side)
    b: Side = field(default_factory=Side)
    calls: Literal["", "order", "index"] = ""
    arguments: Literal["", "text", "json"] = ""
    whitespace: Literal["", "exact", "soft"] = ""
    ids: Literal["", "same", "any"] = ""
    at: int | None = None

    def words(self, **changes: Any) -> dict[str, str]:
        """Everything that is said, by the name it has in an address. `swap` exchanges the sides."""
        asked = replace(self, a=self.b, b=self.a) if changes.pop("swap", False) else self
        asked = replace(asked, **changes)
        said = {f"{name}_{key}": word for name in NAMES for key, word in asdict(getattr(asked, name)).items()}
        said |= {name: getattr(asked, name) for name in RULES}
        said["at"] = "" if asked.at is None else str(asked.at)
        return {name: word for name, word in said.items() if word}


def read_asked(fields: Mapping[str, str]) -> Asked:
    """What a query or a form asks for; `go`, the value of a submit button, wins over the rest."""
    given = {**fields, **dict(parse_qsl(fields.get("go", "")))}
    return Asked(
        _side(given, "a"), _side(given, "b"), at=number(given.get("at")), **{name: _rule(given, name) for name in RULES}
    )


def faults(fields: Mapping[str, str]) -> dict[str, str]:
    """What cannot be read, other than of a side, by the name of its control; `read_asked` leaves it out."""
    given = {**fields, **dict(parse_qsl(fields.get("go", "")))}
    found = {}
    for name, words in RULES.items():
        if (word := given.get(name)) and word not in words:
            found[name] = f"{word[:40]!r} is no rule here; write {words[0]} or {words[1]}."
    if (text := given.get("at", "").strip()) and number(text) is None:
        found["at"] = f"{text[:40]!r} is no character of the output; write a whole number."
    return found


def is_bare(fields: Mapping[str, str]) -> bool:
    """Whether nothing is said of either side."""
    given = {**fields, **dict(parse_qsl(fields.get("go", "")))}
    return not any(name.startswith(("a_", "b_")) for name in given)


def is_tidy(fields: Mapping[str, str]) -> bool:
    """Whether an address could have been written by `Links`: no empty words, no fields of a form."""
    return all(fields.values()) and not any("." in name for name in fields)


def number(text: str | None) -> int | None:
    """A character's offset, or None for anything else."""
    digits = (text or "").strip().replace(",", "")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else None


def _side(given: Mapping[str, str], name: str) -> Side:
    """One side. A plus sign typed into an address arrives as a blank, and no word has blanks of its own."""
    words = {key: given.get(f"{name}_{key}", "").strip().replace(" ", "+")[:LONGEST] for key in Side.__slots__}
    fields = [(key.partition(".")[2], value) for key, value in given.items() if key.startswith(f"{name}_policy.")]
    words["policy"] = ",".join([words["policy"]] * bool(words["policy"]) + [f"{k}:{v}" for k, v in fields if v])
    return Side(**words)


def _rule(given: Mapping[str, str], name: str) -> Any:
    word = given.get(name, "")
    return word if word in RULES[name] else ""


@dataclass(slots=True, frozen=True)
class Links:
    """How this page is addressed. `base` None: a run that was never shared has no address, only its form."""

    base: str | None
    asked: Asked

    def query(self, **changes: Any) -> str:
        """What is asked for, with `changes`, as a query string."""
        return urlencode(self.asked.words(**changes), safe=":,")

    def url(self, **changes: Any) -> str:
        """The address of this page with `changes`."""
        return f"{self.base or ''}?{self.query(**changes)}"
