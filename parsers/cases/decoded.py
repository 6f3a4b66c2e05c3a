"""The tokens of a case as its server decodes them, how they arrived, and a case that holds the decoded ones."""

from __future__ import annotations

from collections.abc import Sequence

from parsers.cases.input import Input
from parsers.cases.model import Case
from parsers.chunking import Sent
from parsers.decoding import Decoded, decoded, settled
from parsers.formats.model import Format
from parsers.recorded import ServerStream
from parsers.types import Piece

IGNORED = "The token ids of the recorded deltas are ignored: no tokenizer made tokens of them that spell the text."


def decoded_of(case: Case, pieces: Sequence[Piece], fmt: Format) -> Decoded:
    """The stored tokens of a case under its decode policy."""
    end_tokens, tail = fmt.end_tokens, case.context.prompt_tail
    return decoded(tuple(pieces), case.decode, decoder=case.decoder, prompt_tail=tail, end_tokens=end_tokens)


def sent_of(case: Case, server: ServerStream | None = None) -> Sent | None:
    """The deltas that a server sent: those of the input, else the chunks of the stream that the tokens came with."""
    deltas = case.input.deltas
    if deltas is not None:
        known = all(delta.ids is not None or not delta.text for delta in deltas)
        counts = tuple([len(delta.ids or ()) for delta in deltas]) if known else None
        return Sent(tuple([len(delta.text) for delta in deltas]), counts)
    if server is None or server.fed is None:
        return None
    fed = server.fed
    return Sent(tuple([sum([len(piece.text) for piece in part]) for part in fed]), tuple([len(part) for part in fed]))


def ignores_ids(case: Case) -> bool:
    """Whether the deltas of a case have ids that no token of it stands for."""
    return case.input.tokens is None and any(delta.ids for delta in case.input.deltas or ())


def settled_case(case: Case, pieces: Sequence[Piece]) -> Case:
    """The case that holds decoded tokens as its own, so that nothing is left to decode.

    A text that a policy left out is left out of its token; the token keeps its id and kind.
    """
    bare = case.model_copy(update={"decode": None, "input": Input(text="".join([piece.text for piece in pieces]))})
    stored = bare.with_pieces(settled(pieces))
    return stored.model_copy(update={"input": Input(tokens=stored.input.tokens)})
