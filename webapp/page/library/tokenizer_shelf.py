"""What the pages of tokenizers say: which there are, what one makes of markers, and of a text."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from parsers.formats.model import Format, builtin_formats
from parsers.vocabulary.types import Piece, UsageError
from webapp.settings import ENV_PREFIX, Settings
from webapp.tokenizers import TokenizerAdapter, TokenizerInfo, library, markers_of
from webapp.tokenizers.adapter import MarkerState
from webapp.tokenizers.installed import PACKAGES
from webapp.vocabularies.losses import lost_words

MOST_TRIED = 2_000  # characters

# Where a vocabulary comes from, as a heading of the list.
ORIGINS = {
    "embedded": "Built in",
    "none": "Built in",
    "package": "Installed packages",
    "upload": "Uploads",
    "folder": "Folders of this server",
    "hub": "From the hub",
}
OTHERS = "Others"
_SETTINGS = {"upload": "TOKENIZER_UPLOADS", "hub": "HUB"}


@dataclass(slots=True, frozen=True)
class _Row:
    """A tokenizer in words. `key` is the fingerprint it can be deleted by, '' where it cannot; `keyed`: that takes the
    key of whoever uploaded it."""

    info: TokenizerInfo
    key: str = ""
    keyed: bool = False

    @property
    def title(self) -> str:
        return self.info["label"].rpartition(", ")[0] or self.info["label"]

    @property
    def lost(self) -> list[str]:
        """What its ids do not keep of a text."""
        return lost_words(self.info["loses"])

    @property
    def size(self) -> str:
        nothing = "none" if self.info["kind"] == "none" else "not read yet"
        return f"{self.info['vocab_size']:,}" if self.info["vocab_size"] else nothing


def shelves(
    rows: Iterable[TokenizerInfo], own: Collection[str] = ("upload", "hub"), keyed: Collection[str] = ()
) -> dict[str, list[_Row]]:
    """The tokenizers under where they come from, in the order of the setup form; those of `own` can be deleted, those
    `keyed` with a key."""
    found: dict[str, list[_Row]] = {words: [] for words in (*ORIGINS.values(), OTHERS)}
    for info in rows:
        key = info["fingerprint"] if info["kind"] in own else ""
        found[ORIGINS.get(info["kind"], OTHERS)].append(_Row(info, key, info["name"] in keyed))
    return {words: group for words, group in found.items() if group}


def deletable(settings: Settings) -> tuple[str, ...]:
    """The kinds that whoever uses the page may delete: those they may add."""
    return ("upload",) * settings.tokenizer_uploads + ("hub",) * settings.hub


def delete(fingerprint: str, settings: Settings, key: str = "") -> bool:
    """Delete an upload, or what came from the hub; whether it is gone: what others uploaded too stays for them. Raises
    UsageError where there is none, or it must stay, and WrongKey."""
    found = [one for one in library().listing() if one["fingerprint"].startswith(fingerprint) and fingerprint]
    for one in found:
        if one["kind"] in _SETTINGS and one["kind"] not in deletable(settings):
            raise UsageError(f"{one['name']} cannot be deleted here: {ENV_PREFIX}{_SETTINGS[one['kind']]} is off")
    library().remove(fingerprint, key)
    return not any(one["fingerprint"].startswith(fingerprint) for one in library().listing() if one in found)


def extras() -> list[tuple[str, str]]:
    """The tokenizers of each package that is not installed, and the command that installs it."""
    missing: dict[str, list[str]] = {}
    for package in PACKAGES.values():
        if package.source is None:
            missing.setdefault(package.extra, []).append(package.name)
    return [(", ".join(names), f"pip install 'toolcall-inspector[{extra}]'") for extra, names in missing.items()]


@dataclass(slots=True, frozen=True)
class _FamilyRow:
    """The markers of a format, and what a vocabulary has for each. How many are one token says at a glance whether the
    vocabulary is the family's."""

    name: str
    markers: list[tuple[str, MarkerState]]

    @property
    def single(self) -> int:
        return sum(found.state == "one" for _, found in self.markers)


def families(adapter: TokenizerAdapter, formats: Iterable[Format]) -> list[_FamilyRow]:
    """Return what a vocabulary makes of the markers of every format; those it has as single tokens first."""
    markers = {fmt.name: list(markers_of(fmt)) for fmt in formats}
    known = {text: adapter.marker_state(text) for texts in markers.values() for text in texts}
    rows = [_FamilyRow(name, [(text, known[text]) for text in texts]) for name, texts in markers.items() if texts]
    return sorted(rows, key=lambda one: (-one.single / len(one.markers), -one.single))


@dataclass(slots=True)
class _TokenizerPage:
    """One tokenizer, and a text cut by it. One that cannot be loaded, or a text that it cannot cut, is a `problem`."""

    row: _Row
    text: str
    problem: str = ""
    tokens: list[Piece] = field(default_factory=list)
    families: list[_FamilyRow] = field(default_factory=list)
    chat_template: str = ""
    most: int = MOST_TRIED


def tokenizer_page(info: TokenizerInfo, text: str, *, markers: bool) -> _TokenizerPage:
    """The page of a tokenizer; with `markers` it says what the vocabulary makes of those of every format."""
    page = _TokenizerPage(_Row(info), text)
    try:
        adapter = library().get(info["name"])
        page.row, page.chat_template = _Row(adapter.info), _template(info["name"])
        if len(text) > MOST_TRIED:
            raise UsageError(f"the text has {len(text):,} characters; try at most {MOST_TRIED:,} here")
        page.tokens = list(adapter.pieces(text))
        page.families = families(adapter, builtin_formats().values()) if markers else []
    except UsageError as error:
        page.problem = as_sentence(str(error))
    return page


def _template(name: str) -> str:
    found = library().vocabulary(name).templates.get("chat_template") if ":" in name else None
    return found if isinstance(found, str) else ""


def as_sentence(words: str, title: str = "") -> str:
    """An error as a sentence; one that begins with a title that somebody gave leaves that as it is."""
    begun = words if title and words.startswith(f"{title}:") else words[:1].upper() + words[1:]
    return begun + ("" if words.endswith((".", "?")) else ".")
