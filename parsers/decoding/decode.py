"""The decode policy of a case applied to its tokens.

Invariants: as many pieces come out as went in, with their ids, bytes and kinds; the text of the pieces is what is sent
in the end, and `due` never goes back; a marker's piece has the marker's text or none, unless a stop string cuts it.
O(n) in tokens and bytes, and in characters for each stop string.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from parsers.decoding import bytelevel, runs
from parsers.decoding.policy import FLUSHES, PLAIN, PRIMED, Decode, Decoded, Decoder, Spelled, TokenFacts
from parsers.decoding.tokens import StopPlace, Token, characters_kept_back, decoder_tokens, find_stop
from parsers.vocabulary.types import Piece

_Due = tuple[int, ...]
Schedule = Callable[[Sequence[Piece]], _Due | None]
_EXACT = Decode()


def decode_pieces(
    pieces: Sequence[Piece],
    decode: Decode | None,
    *,
    decoder: Decoder = "byte_level",
    prompt_tail: str | None = None,
    end_tokens: Iterable[str] = (),
) -> Decoded:
    """The output as a policy decodes it. Without one the pieces stay what they are.

    `prompt_tail` matters where SentencePiece takes a blank from the beginning of a text: vLLM and SGLang begin with the
    prompt, so it stays unless the prompt is ''; None: the stored text tells. `end_tokens` are those of the format that
    end an output.
    """
    if decode is None and decoder != "byte_fallback":
        return Decoded(tuple(pieces), None, _undecoded(pieces))
    policy = decode or _EXACT
    tokens = decoder_tokens(pieces, policy, decoder, end_tokens)
    found = _spelled(pieces, tokens, policy, decoder, prompt_tail)
    if decode is None:
        found.texts = [piece.text for piece in pieces]
    out = _sent(found, policy)
    include, stop = policy.include_stop, policy.stop
    end = find_stop("".join(found.texts), out, stop, include=include) if stop else None
    cut = set() if end is None else _cut(found.texts, end)
    ends = list(accumulate([len(text) for text in found.texts]))
    due = _due(out, characters_kept_back(stop, include=include), end, ends)
    both = zip(pieces, found.texts, strict=True)
    changed = [piece if piece.text == text else replace(piece, text=text) for piece, text in both]
    facts = [_facts(at, token, found, cut, ends, due) for at, token in enumerate(tokens)]
    return Decoded(tuple(changed), None if due == ends else tuple(due), tuple(facts))


def _undecoded(pieces: Sequence[Piece]) -> tuple[TokenFacts, ...]:
    """What becomes of tokens that no policy decodes: a character may begin in one that others complete."""
    if _all_spelled(pieces):
        return (PLAIN,) * len(pieces)
    pending = list(bytelevel.pending_bytes(decoder_tokens(pieces, _EXACT, "byte_level", ())))
    facts = {one: TokenFacts(one) for one in {*pending}}
    return tuple(map(facts.__getitem__, pending))


def _all_spelled(pieces: Sequence[Piece]) -> bool:
    """Return whether every piece has the text of its own bytes. Pieces that are one object are looked at once."""
    return all(map(_is_spelled, {id(piece): piece for piece in pieces}.values()))


def _is_spelled(piece: Piece) -> bool:
    try:
        return piece.raw is None or piece.raw.decode() == piece.text
    except UnicodeDecodeError:
        return False


def schedule(decode: Decode | None) -> Schedule | None:
    """Return what tells when text of an output that is decoded already is out; None where it comes with its tokens.

    A search changes such an output: what is left of it keeps its text, and comes as late as the policy sends it.
    """
    if decode is None:
        return None
    if decode.policy == "exact" and not characters_kept_back(decode.stop, include=decode.include_stop):
        return None
    return lambda pieces: _again(pieces, decode)


def settle_pieces(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces, without the bytes of those whose text a policy changed: decoded again they stay what they are.

    A piece without bytes may let a character go on behind it, so that others change: then only whole text keeps its
    bytes.
    """
    first = _spelling(pieces)
    return first if _spelling(first) == first else [_plain(piece) for piece in pieces]


def _spelling(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces, without the bytes of those that do not spell their text."""
    spelled = bytelevel.spell(decoder_tokens(pieces, _EXACT, "byte_level", ()), "exact").texts
    return [p if p.text == text else replace(p, raw=None) for p, text in zip(pieces, spelled, strict=True)]


def _plain(piece: Piece) -> Piece:
    return piece if piece.raw == piece.text.encode("utf-8", "surrogatepass") else replace(piece, raw=None)


def _again(pieces: Sequence[Piece], decode: Decode) -> _Due | None:
    tokens = decoder_tokens(settle_pieces(pieces), Decode(policy=decode.policy), "byte_level", ())
    found = bytelevel.spell(tokens, decode.policy)
    ends = list(accumulate([len(piece.text) for piece in pieces]))
    due = _due(_sent(found, decode), characters_kept_back(decode.stop, include=decode.include_stop), None, ends)
    return None if due == ends else tuple(due)


def _spelled(
    pieces: Sequence[Piece], tokens: Sequence[Token], decode: Decode, decoder: Decoder, prompt_tail: str | None
) -> Spelled:
    if decoder != "byte_fallback":
        return bytelevel.spell(tokens, decode.policy)
    primed, kept = decode.policy in PRIMED, _keeps_blank(pieces, tokens)
    fresh = prompt_tail == "" if primed and prompt_tail is not None else prompt_tail == "" or kept is False
    strips = prompt_tail == "" or kept is False or (primed and kept is None)
    return runs.spell(tokens, decode.policy, fresh=fresh, strips=strips)


def _keeps_blank(pieces: Sequence[Piece], tokens: Sequence[Token]) -> bool | None:
    """Return whether the stored text begins with the blank that its bytes begin with.

    None where they begin with none, and where text stands before it that the policy skips: no decoder takes a blank
    behind text. Where nothing tells, a decoder with windows is taken for one that strips: only broken bytes show it.
    """
    first = next((at for at, token in enumerate(tokens) if token.raw), None)
    if first is None or tokens[first].raw[:1] != b" " or any(piece.text for piece in pieces[:first]):
        return None
    return pieces[first].text[:1] == " "


def _sent(found: Spelled, decode: Decode) -> list[int]:
    """Return how much text is out after each token, and all that is ever sent after the last."""
    ends = list(accumulate([len(text) for text in found.texts]))
    if decode.policy == "exact":
        return ends
    return [*found.out[:-1], ends[-1]] if decode.policy in FLUSHES and ends else found.out


def _cut(texts: list[str], end: StopPlace) -> set[int]:
    """End the texts where the stop string ends them; the tokens that it cuts, and those after it."""
    start, cut = 0, set()
    for at, text in enumerate(texts):
        if start + len(text) > end.end or at > end.token:
            texts[at] = text[: max(0, end.end - start)]
            cut.add(at)
        start += len(text)
    return cut


def _due(out: Sequence[int], kept: int, end: StopPlace | None, ends: Sequence[int]) -> list[int]:
    """Return how much is out after each token when so much is kept back."""
    total = ends[-1] if ends else 0
    whole = len(out) - 1 if end is None else end.token
    return [min(total, max(0, one - kept)) if at < whole else total for at, one in enumerate(out)]


def _facts(at: int, token: Token, found: Spelled, cut: set[int], ends: Sequence[int], due: Sequence[int]) -> TokenFacts:
    pending, skipped, lost, late = found.pending[at], token.skipped, at in found.lost, due[at] < ends[at]
    if not (pending or skipped or lost or late or at in found.revised or at in cut):
        return PLAIN
    return TokenFacts(
        pending,
        token.raw if lost and at not in cut else b"",
        skipped,
        bisect_left(due, ends[at]) - at if late and found.texts[at] else 0,
        at in found.revised,
        at in cut,
    )
