"""What is known of an output, as one value: by it checks and verdicts measure what they may say.

A paste may be the raw output, the stream of a server, or both; its tokens, the request and the grammar may be known or
not. `known_of` is the one place where that is worked out. A check or a rule of the verdict names the facts that it
rests on; without one of them it does not speak, or says less.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto

from parsers.formats.model import builtin_formats
from parsers.replays.chunking import by_characters
from parsers.replays.replayer import Replayer


class Fact(Enum):
    """Something that may be known of an output, each with the words for what is missing without it."""

    RAW = "the raw output"
    IDS = "the token ids"
    STREAM = "what the server sent"
    PARSER = "a parser that reads the output again"
    TOOLS = "the tools of the request"
    START = "where the output begins"
    FINISH = "why the output ended"
    GRAMMAR = "the grammar of the output"


class Tokens(Enum):
    """Where the tokens of an output come from."""

    RECORDED = auto()  # a server or a case gave their ids
    CUT = auto()  # a tokenizer cut the text
    CHARACTERS = auto()  # nobody did: each character is taken for one
    NONE = auto()


class Origin(Enum):
    """Where the grammar of an output comes from."""

    BUILTIN = auto()
    DECLARED = auto()  # the case, or the engine, gives it or at least its markers
    UNKNOWN = auto()


class Finish(Enum):
    """What is known of why an output ended."""

    SAID = auto()  # the finish reason
    CUT = auto()  # its place is there and it never came: the recording ends early, or the server's stream did
    LEFT_OUT = auto()  # the server ended its stream without one
    UNSAID = auto()  # so did a whole answer, of which all is there
    ABSENT = auto()  # what was recorded has no place for it


@dataclass(slots=True, frozen=True)
class Known:
    """Holds what is known of an output: all there is, where nobody says otherwise."""

    raw: bool = True
    tokens: Tokens = Tokens.RECORDED
    stream: bool = True
    parser: bool = True
    tools: bool = True
    start: bool = True
    finish: Finish = Finish.SAID
    grammar: Origin = Origin.BUILTIN
    whole: bool = True
    """No chunk of what the server sent is known to be missing."""

    def has(self, *facts: Fact) -> bool:
        """Return whether all these facts are known."""
        return not self.lacking(facts)

    def lacking(self, facts: Iterable[Fact]) -> list[Fact]:
        """Those of the facts that are not known."""
        return [fact for fact in facts if not self._is_known(fact)]

    def _is_known(self, fact: Fact) -> bool:
        held = {
            Fact.RAW: self.raw,
            Fact.IDS: self.tokens is Tokens.RECORDED,
            Fact.STREAM: self.stream,
            Fact.PARSER: self.parser,
            Fact.TOOLS: self.tools,
            Fact.START: self.start,
            Fact.FINISH: self.finish is Finish.SAID,
            Fact.GRAMMAR: self.grammar is not Origin.UNKNOWN,
        }
        return held[fact]


def known_of(replayer: Replayer) -> Known:
    """Return what is known of the output of a replayer."""
    return Known(
        raw=replayer.has_raw and not (replayer.own is not None and replayer.own.repeats),
        tokens=_tokens(replayer),
        stream=replayer.server is not None,
        parser=not replayer.plays,
        tools=bool(replayer.context.tools),
        start=replayer.start_given or replayer.context.prompt_tail is not None,
        finish=_finish(replayer),
        whole=replayer.server is None or not replayer.server.gaps,
        grammar=_origin(replayer),
    )


def declared_of(replayer: Replayer) -> tuple[str, ...]:
    """The markers that somebody declared, of a grammar of which no more is known."""
    is_known = replayer.format is not None or _origin(replayer) is not Origin.DECLARED
    return () if is_known else tuple(replayer.terminals.values())


def _tokens(replayer: Replayer) -> Tokens:
    if not replayer.pieces:
        return Tokens.NONE
    if any(piece.recorded for piece in replayer.pieces):
        return Tokens.RECORDED
    return Tokens.CHARACTERS if by_characters(replayer.pieces) else Tokens.CUT


def _finish(replayer: Replayer) -> Finish:
    stream = replayer.server
    if replayer.context.finish_reason is not None or (stream is not None and stream.finish_reason is not None):
        return Finish.SAID
    if stream is None or not stream.may_finish:
        return Finish.ABSENT
    if stream.gaps:  # it may be among what is missing
        return Finish.CUT
    return Finish.UNSAID if stream.whole else Finish.LEFT_OUT if stream.done else Finish.CUT


def _origin(replayer: Replayer) -> Origin:
    fmt = replayer.format
    if fmt is not None:
        return Origin.BUILTIN if builtin_formats().get(fmt.name) == fmt else Origin.DECLARED
    return Origin.DECLARED if replayer.terminals and not replayer.plays else Origin.UNKNOWN
