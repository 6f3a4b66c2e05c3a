"""Outputs that something else quotes: tracebacks, lines of logs that no reader of a server's log knows, bug reports,
and whole conversations, whose last turn is the output and whose beginning the prompt.

It counts only where the text surely is one of these, and markers of a call or of reasoning stand in what it quotes.
(Shapes: LangChain's parsers of model output, SGLang's detectors, LiteLLM and Groq's `failed_generation`, pydantic's
errors, as pasted in public reports.)
"""

from __future__ import annotations

from parsers.intake.api_logs import several_outputs_warning
from parsers.intake.evidence import Fact, Intake, Kind, Warn, intake_of, number, text_facts
from parsers.intake.plain_text import without_lone_surrogates
from parsers.search.pasted import look, pasted_as
from parsers.search.pasted_kinds import Pasted
from parsers.search.pasted_outputs import PRINTED, WRITTEN, outputs_in
from parsers.search.pasted_prompts import last_turn
from parsers.vocabulary.types import Recording

_UNSURE = Warn(
    "only_the_call", "What quotes it may give only a part of the output: what stood around it is missing then."
)
_SPECIALS = Warn("special_tokens", "Special tokens are in the text only where the server kept them.")
_KINDS: tuple[tuple[frozenset[Pasted], Kind, str, str], ...] = (
    (PRINTED, "server_log", "error that quotes", "It is an error or a log"),
    (WRITTEN, "code_block", "bug report that quotes", "It is the text of a bug report"),
)


def read_quote(body: str) -> Intake | None:
    """Read the outputs that a traceback, a line of a log or a bug report quotes, even one that may be no report."""
    seen = look(body)
    for kinds, kind, title, said in _KINDS:
        told = seen is not None and seen.kind in kinds and (seen.surely or seen.kind in WRITTEN)
        texts = [without_lone_surrogates(text) for text in (outputs_in(body, seen.kind) if seen and told else ())]
        if texts:
            several = f"{len(texts)} outputs" if len(texts) > 1 else "an output"
            return intake_of(
                kind,
                f"{title} {several}, {number(sum(map(len, texts)), 'character')}",
                [Recording(text=text) for text in texts],
                why=f"{said}, and markers of a model's output stand in what it quotes.",
                facts=text_facts([_UNSURE]),
                warnings=[_UNSURE, _SPECIALS, *several_outputs_warning(len(texts))],
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
