"""What a paste can be other than an output of a model, and how a form of text is told and weighed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from parsers.search.pasted_quotes import without_quotes

_RAW = "what the model wrote, with its special tokens"
_QUOTED = "if it quotes that, paste only the quoted part"
_SHARE = 0.8  # of the lines must be of the kind
PROSE = 20_000  # characters: nobody writes more before what went wrong is said


class Pasted(Enum):
    """A thing that is no output: what it looks like, and what to paste instead."""

    TRACEBACK = "a Python traceback", f"Paste {_RAW}; if the error quotes it, paste only the quoted part."
    RUBY = "a Ruby traceback", f"Paste {_RAW}; if the error quotes it, paste only the quoted part."
    STACK = "a stack trace", f"Paste {_RAW}; if the error quotes it, paste only the quoted part."
    ERROR = "the message of an error", f"Paste {_RAW}; if the error quotes it, paste only the quoted part."
    LOG = "lines of a log", f"Paste {_RAW}; if a line quotes it, paste only the quoted part."
    ENVIRONMENT = "a description of an environment", f"Paste {_RAW}: versions say nothing of it."
    LISTING = "what a command printed", f"Paste {_RAW}: the state of a machine says nothing of it."
    HISTORY = "a history of changes", f"Paste {_RAW}: changes to a program say nothing of it."
    OPTIONS = "options or settings", f"Paste {_RAW}, or the answer that the server sent."
    DATA = "data or what describes it", f"Paste {_RAW}: tables and schemas say nothing of it."
    MODEL = "the configuration of a model", f"Paste {_RAW}: the configuration says nothing of it."
    TEMPLATE = "a chat template", f"Paste {_RAW}; a template makes the prompt, not the output."
    CARD = "the card of a model", f"Paste {_RAW}; {_QUOTED}."
    README = "the description of a project", f"Paste {_RAW}; {_QUOTED}."
    TOOLS = "definitions of tools", f"Paste {_RAW}, and give the definitions as the tools of the request."
    DIFF = "a change to source code", f"Paste {_RAW}; {_QUOTED}."
    SOURCE = "the source of a parser", f"Add the parser as an engine, and paste {_RAW}."
    PROGRAM = "the source of a program", f"Paste {_RAW}; {_QUOTED}."
    SCRIPT = "a script or commands", f"Run them, and paste {_RAW}, or the answer that the server sent."
    REPORT = "the text of a bug report", f"Paste only the part of it that is {_RAW}."
    MESSAGES = "what people wrote to each other", f"Paste {_RAW}; {_QUOTED}."
    TICKET = "a ticket of a tracker", f"Paste only the part of it that is {_RAW}."
    PROMPT = "a prompt", f"Paste {_RAW}: it comes after the prompt."
    CONVERSATION = (
        "a whole conversation",
        "Paste only the last turn of the assistant: what stands before is its prompt.",
    )
    RESULT = "the result of a tool", f"Paste {_RAW}: results are given to it."
    PRINTED = "objects that a program printed", f"Paste {_RAW}, or the answer as the server sent it."
    REQUEST = "a request to a server", f"Paste {_RAW}, or the answer, below the request."
    ANSWER = "a part of a server's answer", "Give it as a recording, or paste the whole answer."
    FIELDS = (
        "fields that a filter took out of messages, such as their roles",
        f"Paste {_RAW}, or the whole answer that the server sent.",
    )
    BROKEN = "a server's answer that lost a part", "Paste all of it: its JSON lacks a bracket or a quote."
    NO_TEXT = "an answer without any text of a model", f"Paste {_RAW}, or the answer to the request itself."
    SERVER_ERROR = "the error of a server", f"Paste {_RAW}: the error came in its place."
    PAGE = "a web page", f"Paste {_RAW}: a proxy or a server's front page answered in its place."
    EMPTY_MESSAGE = "a message without text or calls", "Paste the whole answer, or record it while it streams."

    words: str
    advice: str

    def __new__(cls, words: str, advice: str) -> Pasted:
        """A kind is known by its words."""
        pasted = object.__new__(cls)
        pasted._value_ = pasted.words = words
        pasted.advice = advice
        return pasted


_SERVING = re.compile(
    r"vllm|sglang|\bsgl\b|llama[._-]?cpp|llama-server|llama-cli|ollama|lmdeploy|lmsysorg|tensorrt[-_]llm|trt-?llm"
    r"|ktransformers|text[-_]generation[-_](?:inference|router|launcher)|\bmlx[-_]lm|exllama|litellm|lm ?studio|lmcache"
    r"|uvicorn|/v1/(?:(?:chat/)?completions|messages|responses|models)\b|/api/(?:chat|generate)\b"
    r"|tool[-_]?call[-_]?parser|reasoning[-_]?parser|tool[-_ ]parser|nvidia|\bnvrm\b|\bcuda|\bgguf|\bggml|xgrammar"
    r"|flashinfer"
    r"|hugging_?[ -]?face|\bhf_(?:token|home|hub)|\btorch\b|safetensors|langchain|\bopenai|anthropic|qwen"
    r"|\bllama(?:-?\d|_)"
    r"|deepseek|\bglm-?\d|mistral|gpt-oss|chat_template|tool_calls?\b|finish_reason",
    re.IGNORECASE,
)


def serves_models(text: str) -> bool:
    """Return whether a text names what serves models: a server, its API or its options, a library, a family."""
    return _SERVING.search(text) is not None


@dataclass(frozen=True)
class Given:
    """A pasted text, and its lines that are not blank."""

    text: str

    @cached_property
    def lines(self) -> list[str]:
        """The lines that are not blank."""
        return [line for line in self.text.splitlines() if line.strip()]

    @cached_property
    def said(self) -> str:
        """What the text says itself, without what it quotes; nobody writes a longer report."""
        return without_quotes(self.text[:PROSE])

    @cached_property
    def serves(self) -> bool:
        """Return whether the text names what serves models: a server, its API or its options, a library, a family."""
        return serves_models(self.text)

    def are(self, *patterns: re.Pattern[str]) -> bool:
        """Return whether nearly all lines match one of the patterns."""
        misses = len(self.lines) - _SHARE * len(self.lines)
        for line in self.lines:
            if not any(pattern.match(line) for pattern in patterns):
                misses -= 1
                if misses < 0:
                    return False
        return True


def serving(given: Given) -> bool:
    """Return whether the text names what serves models."""
    return given.serves


def always(given: Given) -> bool:
    """Return that a form is no answer of a model, whatever is in it."""
    return True


def never(given: Given) -> bool:
    """Return that a model may well write a form as an answer, whatever is in it."""
    return False


def having(*patterns: re.Pattern[str]) -> Callable[[Given], bool]:
    """Whether a text has all of these somewhere."""
    return lambda given: all(pattern.search(given.text) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class Shape:
    """A form of text. `surely`: where it has the form, whether no model writes it as an answer."""

    kind: Pasted
    is_one: Callable[[Given], bool]
    surely: Callable[[Given], bool] = serving
