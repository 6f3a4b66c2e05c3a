"""Prompts and whole conversations as chat templates write them, and the last turn of the assistant in one.

An output begins with the assistant's own words, or with the header of its turn; a text that begins with the turn of
anybody else is a prompt, or a conversation. Runaway outputs go on with a turn of the user, but do not begin with one.
(Templates of ChatML, Llama 2 to 4, Mistral, Gemma, Phi, GLM, DeepSeek, Kimi, Granite, Command R, Harmony, MiniMax,
Seed, EXAONE, Hunyuan, Nemotron and Apertus; roles before colons, as LangChain prints them.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from parsers.search.pasted_kinds import Given, Pasted, Shape, always, never

_OWN = frozenset(("assistant", "model", "ai", "chatbot", "bot"))
_OTHERS = frozenset(("system", "user", "developer", "tool", "observation", "ipython", "human", "documents"))
# What stands before the role in the header of a turn, and behind it.
_AROUND = (
    (r"<\|im_start\|>", r"(?:\n|$)"),
    (r"<\|(?:start_header_id|header_start)\|>", r"<\|(?:end_header_id|header_end)\|>\n{0,2}"),
    (r"<\|im_(?:system|user|assistant)\|>", r"<\|im_middle\|>"),
    (r"<\|start\|>", r"(?=<\|(?:message|channel|constrain)\|>| to=|\s*$)"),
    (r"<start_of_turn>", r"(?:\n|$)"),
    (r"<\|start_of_role\|>", r"<\|end_of_role\|>"),
    (r"<\|START_OF_TURN_TOKEN\|><\|", r"_TOKEN\|>"),
    (r"<\|", r"(?:_start)?\|>\n?"),
    (r"<｜(?:hy_)?", r"｜>"),
    (r"\[\|", r"\|\]"),
    (r"(?:\]~b\]|<seed:bos>|<SPECIAL_1[01]>|<extra_id_[01]>)", r"(?:\n|$)"),
)
_HEADER = re.compile("|".join([rf"{before}(\w{{2,20}}){after}" for before, after in _AROUND]), re.IGNORECASE)
# Mistral and Llama 2 have no role: what the brackets hold is not the assistant's.
_BRACKETS = re.compile(r"(\[/INST\])|\[INST\]|\[(?:AVAILABLE_TOOLS|SYSTEM_PROMPT|TOOL_RESULTS)\]")
# How a text begins; no output does.
_BEGIN = re.compile(
    r"\s*(?:<s>|<bos>|<BOS_TOKEN>|<\|begin_of_text\|>|<｜begin▁of▁sentence｜>|\[gMASK\]<sop>|<\|startoftext\|>"
    r"|\]~!b\[)\s*"
)
# How a template ends a turn.
_ENDS = (
    "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|eot|>", "<end_of_turn>", "</s>", "<eos>", "<|endoftext|>",
    "<|end_of_text|>", "<｜end▁of▁sentence｜>", "<|END_OF_TURN_TOKEN|>", "[e~[", "<seed:eos>", "[|endofturn|]", "<|end"
    "|>",
)  # fmt: skip
_OF_HARMONY = ("<|channel|>", " to=", "<|message|>")  # messages of one turn, each with an end of its own
_OPENED = re.compile(r"\s*+(?:<think>\s*+(?:</think>\s*+)?)?")  # what templates write for the assistant
_SPOKEN = re.compile(r"^(?:(System|Human|User|Question)|(?:AI|Assistant|Bot|Answer)): ?", re.MULTILINE)


class _Header(NamedTuple):
    """The header of a turn [start, end), and whether the turn is the assistant's."""

    start: int
    end: int
    own: bool


class Turn(NamedTuple):
    """The last turn of the assistant in a conversation, and the prompt that stands before it."""

    prompt: str
    words: str


def _headers(text: str) -> Iterator[_Header]:
    for found in _HEADER.finditer(text):
        role = (found[found.lastindex or 0]).casefold()
        if role in _OWN or role in _OTHERS:
            yield _Header(found.start(), found.end(), role in _OWN)


def _turns(text: str) -> list[_Header]:
    """The headers of the turns, where the text begins with one of another than the assistant; else none."""
    begin = _BEGIN.match(text)
    found = list(_headers(text)) or [_Header(*one.span(), one[1] is not None) for one in _BRACKETS.finditer(text)]
    first = found[0] if found else None
    if first is None or first.own or not (begin or not text[: first.start].strip()):
        return []
    return found


def _own_turns(text: str) -> list[tuple[int, int]]:
    """Where the words of the assistant's turns stand in a conversation. Headers of its own that follow one another
    begin one turn, as in Harmony."""
    headers, found = _turns(text), list[tuple[int, int]]()
    stops = [*[header.start for header in headers[1:]], len(text)]
    for before, header, stop in zip([None, *headers], headers, stops, strict=False):
        if header.own and before is not None and before.own:
            found[-1] = found[-1][0], stop
        elif header.own:
            found.append((header.end, stop))
    return [(start, _end_of(text, start, stop)) for start, stop in found]


def _end_of(text: str, start: int, stop: int) -> int:
    """Return where the words of a turn end, without what ends it; but in Harmony that belongs to its messages."""
    end = stop
    while not text.startswith(_OF_HARMONY, start):
        while end > start and text[end - 1].isspace():
            end -= 1
        token = next((one for one in _ENDS if text.endswith(one, start, end)), None)
        if token is None:
            break
        stop = end = end - len(token)
    return stop


def _is_worded(text: str, turn: tuple[int, int]) -> bool:
    return _OPENED.fullmatch(text, *turn) is None


def last_turn(text: str) -> Turn | None:
    """Return the last turn of the assistant that has words in a conversation, or in a prompt; None without any."""
    found = next((turn for turn in reversed(_own_turns(text)) if _is_worded(text, turn)), None)
    return found and Turn(text[: found[0]], text[found[0] : found[1]])


def _is_prompt(given: Given) -> bool:
    """Return whether it is a conversation in which the assistant is to speak next, or has not spoken yet."""
    turns = _own_turns(given.text)
    return bool(_turns(given.text)) and not (turns and _is_worded(given.text, turns[-1]))


def _is_conversation(given: Given) -> bool:
    return bool(_own_turns(given.text))


def _is_spoken(given: Given) -> bool:
    """Return whether roles stand before colons, the first of them not the assistant's; a dialogue may look so."""
    first = _SPOKEN.match(given.text.lstrip())
    return first is not None and first[1] is not None and any(not one[1] for one in _SPOKEN.finditer(given.text))


def _is_surely_spoken(given: Given) -> bool:
    """Return whether the assistant's turn comes last and has no words: no dialogue ends so."""
    *_, last = _SPOKEN.finditer(given.text)
    return not last[1] and not given.text[last.end() :].strip()


_RESULT = re.compile(r"\s*<(tool_response|tool_result|function_results?)>.*</\1>\s*\Z", re.DOTALL)


def _is_result(given: Given) -> bool:
    """Return whether it is what a tool gave, as chat templates write it; a model may make one up."""
    return _RESULT.match(given.text) is not None


PROMPTS = (
    Shape(Pasted.RESULT, _is_result, never),
    Shape(Pasted.PROMPT, _is_prompt, always),
    Shape(Pasted.CONVERSATION, _is_conversation, always),
    Shape(Pasted.CONVERSATION, _is_spoken, _is_surely_spoken),
)
