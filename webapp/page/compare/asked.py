"""What a comparison's address or form says: the two sides, the rules, and the cursor. `compare_views` has the names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal
from urllib.parse import urlencode

from webapp.page.inspect.view_state import given_words, whole_number

NAMES = ("a", "b")
# The rules of a comparison: what each is called, and its words with what they mean.
RULES: dict[str, tuple[str, dict[str, str]]] = {
    "calls": ("calls", {"order": "by index and order", "index": "by index"}),
    "arguments": ("arguments as", {"text": "text", "json": "JSON values"}),
    "whitespace": ("whitespace of the text", {"exact": "exactly", "soft": "softly, as blanks"}),
    "ids": ("ids of calls", {"same": "they count", "any": "any"}),
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


def read_asked(posted: Mapping[str, str]) -> Asked:
    """What a query or a form asks for; what cannot be read is left out."""
    given = given_words(posted)
    rules: dict[str, Any] = {name: given.get(name) for name in RULES if given.get(name) in RULES[name][1]}
    return Asked(_side(given, "a"), _side(given, "b"), at=whole_number(given.get("at")), **rules)


def faults(posted: Mapping[str, str]) -> dict[str, str]:
    """What `read_asked` cannot read, other than of a side, by the name of its control."""
    given, found = given_words(posted), {}
    for name, (_, words) in RULES.items():
        if (word := given.get(name)) and word not in words:
            found[name] = f"{word[:40]!r} is no rule here; write {' or '.join(words)}."
    if (text := given.get("at", "").strip()) and whole_number(text) is None:
        found["at"] = f"{text[:40]!r} is no character of the output; write a whole number."
    return found


def is_bare(posted: Mapping[str, str]) -> bool:
    """Whether nothing is said of either side."""
    return not any(name.startswith(("a_", "b_")) for name in given_words(posted))


def is_tidy(posted: Mapping[str, str]) -> bool:
    """Whether an address could have been written by `CompareLinks`: no empty words, no fields of a form."""
    return all(posted.values()) and not any("." in name for name in posted)


def _side(given: Mapping[str, str], name: str) -> Side:
    """One side. A plus sign typed into an address arrives as a blank, and no word has blanks of its own."""
    words = {key: given.get(f"{name}_{key}", "").strip().replace(" ", "+")[:LONGEST] for key in Side.__slots__}
    fields = [(key.partition(".")[2], value) for key, value in given.items() if key.startswith(f"{name}_policy.")]
    words["policy"] = ",".join([words["policy"]] * bool(words["policy"]) + [f"{k}:{v}" for k, v in fields if v])
    return Side(**words)


@dataclass(slots=True, frozen=True)
class CompareLinks:
    """How a comparison is addressed. `base` None: a run that was never shared has only its form with `case`."""

    base: str | None
    asked: Asked
    case: str = ""

    @property
    def posted(self) -> bool:
        """Whether controls post the form again."""
        return self.base is None

    def query(self, **changes: Any) -> str:
        """What is asked for, with `changes`, as a query string."""
        return urlencode(self.asked.words(**changes), safe=":,")

    def url(self, **changes: Any) -> str:
        """The address of this page with `changes`."""
        return f"{self.base or ''}?{self.query(**changes)}"
