"""Outputs that something else quotes: tracebacks, lines of logs that no reader of a server's log knows, bug reports,
and whole conversations, whose last turn is the output and whose beginning the prompt.

It counts only where the text surely is one of these, and markers of a call or of reasoning stand in what it quotes.
(Shapes: LangChain's parsers of model output, SGLang's detectors, LiteLLM and Groq's `failed_generation`, pydantic's
errors, as pasted in public reports.)
"""

from __future__ import annotations

from parsers.intake.evidence import Fact, Intake, Kind, Warn, intake_of, number, text_facts
from parsers.intake.plain_text import without_lone_surrogates
from parsers.search.pasted import pasted_as
from parsers.search.pasted_kinds import Pasted
from parsers.search.pasted_outputs import PRINTED, WRITTEN, quoted_in
from parsers.search.pasted_prompts import last_turn
from parsers.vocabulary.types import Recording

_UNSURE = Warn(
    "only_the_call", "What quotes it may give only a part of the output: what stood around it is missing then."
)
_SPECIALS = Warn("special_tokens", "Special tokens are in the text only where the server kept them.")
_KINDS: tuple[tuple[frozenset[Pasted], Kind, str, str], ...] = (
    (PRINTED, "server_log", "error that quotes an output", "It is an error or a log"),
    (WRITTEN, "code_block", "bug report that quotes an output", "It is the text of a bug report"),
)


def read_quote(body: str) -> Intake | None:
    """Read the output that a traceback, a line of a log or a bug report quotes."""
    pasted = pasted_as(body)
    for kinds, kind, title, said in _KINDS:
        text = quoted_in(body, pasted) if pasted in kinds else None
        if text is not None:
            return intake_of(
                kind,
                f"{title}, {number(len(text), 'character')}",
                [Recording(text=without_lone_surrogates(text))],
                why=f"{said}, and markers of a model's output stand in what it quotes.",
                facts=text_facts([_UNSURE]),
                warnings=[_UNSURE, _SPECIALS],
            )
    return None


def read_conversation(body: str) -> Intake | None:
    """Read the last turn of the assistant in a conversation as a chat template writes it."""
    turn = last_turn(body)
    if turn is None or pasted_as(body) is not Pasted.CONVERSATION:
        return None
    words = "The last turn of the assistant is taken for the output, and what stands before it for the prompt."
    return intake_of(
        "conversation",
        f"whole conversation, whose last turn has {number(len(turn.words), 'character')}",
        [Recording(text=turn.words, prompt_text=turn.prompt)],
        why="It begins with a turn of the system or the user, as chat templates write it.",
        facts=[Fact("text", "assumed", words)],
    )
