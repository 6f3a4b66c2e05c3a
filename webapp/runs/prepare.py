"""From a case to what can be replayed: what this environment decides, the limits of the settings, and the tokens.

Errors that a person made are CaseErrors with the JSON pointer of the place wherever it is known; an output over a
limit is `webapp.security.TooLarge`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from parsers.cases.case import Case, CaseError, TokenizerRef
from parsers.cases.engines import Engine
from parsers.cases.engines import choose as choose_among
from parsers.cases.run import CaseRun, ignores_ids, replayer_of
from parsers.checks import CHECKS
from parsers.decoding import Decoded
from parsers.formats.model import Format
from parsers.replays.chunking import Chunking, apply
from parsers.replays.replayer import Replayer, Rerender
from parsers.selection.registry import Selection
from parsers.vocabulary.types import FormatError, Piece, UsageError
from webapp.engines import Choice, choose
from webapp.engines.protocol import EngineError
from webapp.formats.folder import with_folder_format
from webapp.security import TooLarge, check_limit
from webapp.settings import Settings
from webapp.tokenizers import TokenizerAdapter, get_tokenizer, library
from webapp.tokenizers.adapter import TooManyTokensError
from webapp.tokenizers.chat import rerender_of


@dataclass(slots=True, frozen=True)
class Prepared:
    """A case that can be replayed: its parser is chosen, and `stored` are its tokens before any decode policy."""

    case: Case
    choice: Choice
    replayer: Replayer
    stored: tuple[Piece, ...]

    @property
    def format(self) -> Format:
        """The format that is shown."""
        return self.choice.format

    @property
    def selection(self) -> Selection:
        """Why it was chosen."""
        return self.choice.selection

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The tokens, as they were decoded."""
        return self.replayer.pieces

    @property
    def decoded(self) -> Decoded | None:
        """The tokens after the case's decode policy, and what became of each."""
        return self.replayer.decoded


def prepare(case: Case, settings: Settings, engines: Mapping[str, Engine] | None = None) -> Prepared:
    """Return what a replay of `case` takes. `engines` are those that it may name, where these are not the usual ones.

    Raises CaseError for a case that cannot be replayed, TooLarge over a limit.
    """
    check_limit(settings, "max_text_bytes", len(case.text().encode("utf-8", "surrogatepass")), "The output text")
    for chunking in case.replay:
        check_deltas(chunking, settings)
    case = _with_tokenizer(case)
    with error_place(parser_place(case)):
        choice = choose(case) if engines is None else choose_among(case, None, engines)
    try:
        stored = tokens_of(case, choice.cut_by, settings.max_tokens)
    except TooManyTokensError as error:
        raise TooLarge("The output", error.count, settings.max_tokens, "max_tokens") from None
    check_limit(settings, "max_tokens", len(stored), "The output")
    check_limit(settings, "max_tokens", len(case.input.stream or ()), "The recorded stream")
    with error_place(""):
        replayer = replace(replayer_of(case, choice, stored), rerender=_rerender_for(case))
    _refuse_what_cannot_be_asked(case, replayer.pieces)
    return Prepared(case, choice, replayer, stored)


def check_deltas(chunking: Chunking, settings: Settings) -> None:
    """Raise TooLarge for more deltas than an output may have tokens: cuts may make any number of empty ones."""
    check_limit(settings, "max_tokens", len(chunking.cuts or ()), "The chunking by cuts", "deltas")


def _rerender_for(case: Case) -> Rerender | None:
    """Return how calls of a case are written again; None where its tokenizer has no chat template, or is not here."""
    name = (case.tokenizer.name if case.tokenizer else None) or ""
    if ":" not in name:
        return None  # those that come with the application or with packages have none
    try:
        templates = library().vocabulary(name).templates
    except UsageError:
        return None
    found = templates.get("chat_template")
    if not isinstance(found, str) or not found.strip():
        return None
    return rerender_of(found, tokens=templates.get("tokens"))


def with_defaults(case: Case, settings: Settings) -> Case:
    """The case with what this environment decides spelled out in it: a format of the formats folder that it names, and
    `strict`, where the case does not say."""
    case = with_folder_format(case, settings)
    if not settings.strict or case.context.strict is not None:
        return case
    return case.model_copy(update={"context": case.context.model_copy(update={"strict": True})})


def tokenizer_of(case: Case, fmt: Format) -> TokenizerAdapter:
    """The tokenizer a case names, or the embedded one, with the markers of `fmt`."""
    with error_place("/tokenizer/name"):
        return get_tokenizer((case.tokenizer.name if case.tokenizer else None) or "embedded", format=fmt, case=case)


def _with_tokenizer(case: Case) -> Case:
    """The case with what its tokenizer tells of it: the tokens of recorded ids, and how the vocabulary spells bytes.

    Ids that the tokenizer does not know, or that spell another text, stay what they are: recorded, and not used.
    """
    ids = [one for delta in case.input.deltas or () for one in delta.ids or ()] if ignores_ids(case) else []
    named = case.tokenizer is not None and case.tokenizer.name is not None and case.input.tokens is None
    if case.tokenizer is None or not named or not (ids or case.decode):
        return case
    try:
        adapter = tokenizer_of(case, choose(case).cut_by)
    except (UsageError, FormatError):
        return case  # what is wrong is said where it is needed
    known = case.tokenizer.model_copy(update={"decoder": adapter.decoder})
    case = case.model_copy(update={"tokenizer": known})
    pieces = adapter.pieces_of(ids)
    return case.with_pieces(pieces) if ids and "".join([piece.text for piece in pieces]) == case.text() else case


def tokens_of(case: Case, fmt: Format, most: int | None = None) -> tuple[Piece, ...]:
    """The tokens of a case: stored, one for each recorded delta, or made by its tokenizer.

    Raises TooManyTokensError where a tokenizer would make more than `most`.
    """
    stored = case.pieces()
    if stored is not None:
        return stored
    if case.input.deltas is not None:
        return tuple([Piece(delta.text) for delta in case.input.deltas])
    return tokenizer_of(case, fmt).pieces(case.text(), most)


def stored_form(run: Prepared | CaseRun) -> Case:
    """The case of a run as it is saved: it replays without its tokenizer, and under the parser that ran."""
    case = run.case
    if case.parser.name == "auto":
        case = case.model_copy(update={"parser": case.parser.model_copy(update={"name": run.selection.name})})
    if case.input.tokens is not None or case.input.deltas is not None or not case.has_raw:
        return case
    adapter = tokenizer_of(case, run.format if case.parser.engine is None else choose(case).cut_by)
    revision = case.tokenizer.revision if case.tokenizer else None
    known = TokenizerRef(
        name=adapter.name,
        revision=revision,
        fingerprint=adapter.fingerprint,
        vocab=dict(adapter.marker_ids) or None,
        decoder=adapter.decoder,
    )
    return case.model_copy(update={"tokenizer": known}).with_pieces(run.stored)


@contextmanager
def error_place(pointer: str) -> Iterator[None]:
    """UsageErrors raised inside say where in the case their cause is; so do errors of the case's own format. What an
    engine does not do is no matter of the place where it was to do it."""
    try:
        yield
    except CaseError:
        raise
    except EngineError as error:
        raise CaseError(str(error), "/parser/engine") from error
    except UsageError as error:
        raise CaseError(str(error), pointer) from error
    except FormatError as error:
        raise CaseError(error.message, f"/parser/format{error.pointer}") from error


def parser_place(case: Case) -> str:
    """Return where in a case an error about its parser belongs."""
    return "/parser/name" if case.parser.engine is None else "/parser/engine"


def _refuse_what_cannot_be_asked(case: Case, pieces: tuple[Piece, ...]) -> None:
    """Cuts that do not fit the output, and checks that do not exist."""
    for index, chunking in enumerate(case.replay):
        if chunking.by == "cuts":
            with error_place(f"/replay/{index}/cuts"):
                apply(chunking, pieces, case.mode())
    for index, name in enumerate(case.checks or ()):
        if name not in CHECKS:
            raise CaseError(f"there is no check named {name!r}; the checks are {', '.join(CHECKS)}", f"/checks/{index}")
