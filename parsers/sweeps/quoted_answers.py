"""The signatures of an answer that a thread quotes: what a sweep would find of a parser that gives it.

The answer is played as an engine's: however the output is cut, a chunk of it is sent as soon as the text that it goes
with has been fed. Where nobody knows which text that was, the chunks are spread evenly. So what is found is what the
first stage finds of a parser of that server, by the same code, and not what is found of a recording, which has no
places in the output.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from parsers.cases.case import Case, ParserRef
from parsers.cases.engines import PLAYED, Choice, Engine
from parsers.formats.model import Format
from parsers.replays.recorded import server_stream
from parsers.replays.tapes import Asked, Played, Tape
from parsers.selection.registry import Evidence, Selection, get_format
from parsers.sweeps.first_stage import OF_ENGINES, Bases, Means, Request, Tokens
from parsers.sweeps.signature import Signature
from parsers.vocabulary.types import MessageDelta

_ENGINE = "quoted"


def signatures_of_answer(case: Case, fmt: str, tokens: Tokens | None = None) -> tuple[Signature, ...]:
    """What is wrong with the answer in `input.stream` of a case, whose output a parser of this format should read."""
    asked = case.model_copy(update={"parser": ParserRef(name=fmt, engine=_ENGINE)})
    means = Means({_ENGINE: _quoted(case, get_format(fmt))}, tokens)
    return Request(asked, Bases(OF_ENGINES, means)).looked(case.text()).signatures


def _quoted(case: Case, fmt: Format) -> Engine:
    """An engine that gives the answer of a case, whatever it is asked."""
    sent = [chunk.delta for chunk in server_stream(case.input.stream or ()).chunks]
    ends = _ends(case, len(sent))
    label = f"{_ENGINE}:{fmt.name}"

    def play(asked: Sequence[Asked]) -> list[Tape]:
        return [Tape(tuple(_played(one, sent, ends))) for one in asked]

    def chosen(_case: Case, _evidence: Evidence) -> Choice:
        grammar = fmt if fmt.terminals else None
        return Choice(
            PLAYED,
            Selection(fmt.name, ()),
            lambda: Played(label, Tape()),
            black_box=True,
            grammar=grammar,
            replays=play,
        )

    return chosen


def _ends(case: Case, chunks: int) -> list[int]:
    """How much of the output must have been fed for each chunk of the answer."""
    length = len(case.text())
    known = [*accumulate([len(delta.text) for delta in case.input.deltas or ()])]
    if len(known) == chunks:
        return known
    return [-(-length * number // chunks) for number in range(1, chunks + 1)]


def _played(asked: Asked, sent: Sequence[MessageDelta | None], ends: Sequence[int]) -> list[MessageDelta | None]:
    """What is sent at each step."""
    steps, at, number = list[MessageDelta | None](), 0, 0
    for delta in asked.deltas:
        at, first = at + len(delta.text), number
        while number < len(sent) and ends[number] <= at:
            number += 1
        steps.append(_joined([one for one in sent[first:number] if one is not None]))
    return steps


def _joined(deltas: Sequence[MessageDelta]) -> MessageDelta | None:
    """Several deltas as one."""
    if not deltas:
        return None
    return MessageDelta(
        _text([one.reasoning for one in deltas]),
        _text([one.content for one in deltas]),
        [call for one in deltas for call in one.tool_calls],
    )


def _text(parts: Sequence[str | None]) -> str | None:
    texts = [part for part in parts if part is not None]
    return "".join(texts) if texts else None
