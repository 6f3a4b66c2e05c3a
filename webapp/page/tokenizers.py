"""What the page of tokenizers says: which there are, what one makes of markers, and of a text."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from markupsafe import Markup

from parsers.formats.model import Format
from parsers.vocabulary.types import UsageError
from webapp.page.glyphs import show, spell
from webapp.page.options import ORIGINS
from webapp.settings import ENV_PREFIX, Settings
from webapp.tokenizers import TokenizerAdapter, TokenizerInfo, library, markers_of
from webapp.tokenizers.installed import PACKAGES
from webapp.tokenizers.prepared import SHORT

MOST_TRIED = 2_000  # characters
MOST_SHOWN = 400  # tokens
SHOWN_IDS = 6

REALISM = {
    "demo": "demo: no model cuts text like this",
    "real": "real: cuts text as its model does",
    "approximate": "approximate: blanks may be cut otherwise than the model does",
    "none": "none: one token a character",
}
DECODERS = {"byte_level": "byte level", "byte_fallback": "byte fallback"}
WHENCE = {
    "embedded": "comes with the inspector",
    "none": "comes with the inspector",
    "package": "an installed Python package",
    "folder": "a folder of this server",
    "upload": "uploaded",
    "hub": "fetched from the hub",
}
SETTINGS = {"upload": "TOKENIZER_UPLOADS", "hub": "HUB"}
NO_VOCABULARY = {"none": "none"}
STATES = {"one": "one token", "several": "several tokens", "absent": "cannot be written"}


@dataclass(slots=True, frozen=True)
class Row:
    """One tokenizer in the list. `key` is the fingerprint it can be deleted by, '' where it cannot."""

    name: str
    title: str
    size: str
    realism: str
    decoder: str
    fingerprint: str
    key: str


@dataclass(slots=True, frozen=True)
class Extra:
    """Tokenizers of a package that is not installed, and the command that installs it."""

    names: str
    command: str


def shelves(rows: Iterable[TokenizerInfo], own: Collection[str] = ("upload", "hub")) -> dict[str, list[Row]]:
    """The tokenizers under where they come from, in the order of the setup form; those of `own` can be deleted."""
    found: dict[str, list[Row]] = {words: [] for words in ORIGINS.values()}
    for info in rows:
        found[ORIGINS.get(info["kind"], "Others")].append(row(info, own))
    return {words: group for words, group in found.items() if group}


def row(info: TokenizerInfo, own: Collection[str]) -> Row:
    """A tokenizer as a row of the list."""
    return Row(
        info["name"],
        info["label"].rpartition(", ")[0] or info["label"],
        f"{info['vocab_size']:,}" if info["vocab_size"] else NO_VOCABULARY.get(info["kind"], "not read yet"),
        info["realism"],
        DECODERS[info["decoder"]],
        info["fingerprint"][:SHORT],
        info["fingerprint"] if info["kind"] in own else "",
    )


def deletable(settings: Settings) -> tuple[str, ...]:
    """The kinds that whoever uses the page may delete: those they may add."""
    return ("upload",) * settings.tokenizer_uploads + ("hub",) * settings.hub


def delete(fingerprint: str, settings: Settings) -> None:
    """Delete an upload, or what came from the hub. Raises UsageError where there is none, or it must stay."""
    found = [one for one in library().listing() if one["fingerprint"].startswith(fingerprint) and fingerprint]
    for one in found:
        if one["kind"] in SETTINGS and one["kind"] not in deletable(settings):
            raise UsageError(f"{one['name']} cannot be deleted here: {ENV_PREFIX}{SETTINGS[one['kind']]} is off")
    library().remove(fingerprint)


def extras() -> list[Extra]:
    """What could be installed beside."""
    missing: dict[str, list[str]] = {}
    for package in PACKAGES.values():
        if package.source is None:
            missing.setdefault(package.extra, []).append(package.name)
    return [Extra(", ".join(names), f"pip install 'toolcall-inspector[{extra}]'") for extra, names in missing.items()]


@dataclass(slots=True, frozen=True)
class MarkerRow:
    """A marker in a vocabulary: one token, several, or not at all; and whether its family has it as one."""

    text: str
    state: str
    words: str
    ids: str


@dataclass(slots=True, frozen=True)
class FamilyRow:
    """The markers of a format. `summary` counts them: this says at a glance whether the vocabulary is the family's."""

    name: str
    title: str
    markers: list[MarkerRow]
    single: int

    @property
    def fits(self) -> bool:
        """Whether every marker of the family is one token."""
        return self.single == len(self.markers)


def families(adapter: TokenizerAdapter, formats: Iterable[Format]) -> list[FamilyRow]:
    """What a vocabulary makes of the markers of every format; those it has as single tokens first."""
    known: dict[str, MarkerRow] = {}
    rows = []
    for fmt in formats:
        texts = list(markers_of(fmt))
        for text in texts:
            if text not in known:
                known[text] = _marker(adapter, text)
        if texts:
            markers = [known[text] for text in texts]
            rows.append(FamilyRow(fmt.name, fmt.title, markers, sum(one.state == "one" for one in markers)))
    return sorted(rows, key=lambda one: (-one.single / len(one.markers), -one.single))


def _marker(adapter: TokenizerAdapter, text: str) -> MarkerRow:
    found = adapter.marker_state(text)
    ids = ", ".join(map(str, found.ids[:SHOWN_IDS])) + (" …" if len(found.ids) > SHOWN_IDS else "")
    return MarkerRow(text, found.state, STATES[found.state], ids)


@dataclass(slots=True, frozen=True)
class Tried:
    """One token of a text that was tried. `label` says it in words, `html` shows it."""

    html: Markup
    label: str
    token_id: str
    kind: str
    raw: str


def tried(adapter: TokenizerAdapter, text: str) -> list[Tried]:
    """The tokens of a text. Raises UsageError for a text without UTF-8 bytes."""
    return [
        Tried(
            show(piece.text) if piece.text else Markup("∅"),
            spell(piece.text) if piece.text else "no text of its own",
            "" if piece.token_id is None else str(piece.token_id),
            piece.kind,
            (piece.raw or b"").hex(" "),
        )
        for piece in adapter.pieces(text)
    ]
