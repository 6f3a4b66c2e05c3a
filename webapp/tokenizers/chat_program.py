"""What runs a chat template, as the program of a child that is asked once.

A chat template is code that strangers wrote. Here it gets what transformers gives it (as of 5.23,
utils/chat_template_utils.py: sandbox, tojson without HTML escapes, raise_exception, strftime_now, loop controls,
`generation` blocks) and no more: little memory and processor time, no file. Whoever started it ends it at a deadline.

The assistant's part of a conversation is cut out by comparison. It begins where the same conversation with plain text
for an answer goes another way, and ends where the tool answers begin.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib import import_module
from typing import Any, NoReturn

from jinja2 import Template, TemplateError, TemplateSyntaxError, nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, LoopControlExtension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from webapp.children.worker import Task

MEMORY = 400_000_000
LIMITS = {"AS": MEMORY, "CPU": 2}
MOST_TEXT = 2_000_000
MOST_TEMPLATE = 500_000
MOST_WORDS = 200
QUESTION, ANSWER, RESULT = "\ue000question\ue001", "\ue000answer\ue001", "\ue000result\ue001"
SPELLINGS = ("object", "string")

Message = dict[str, Any]
Render = Callable[[Sequence[Message], bool], str]


def tasks() -> Mapping[str, Task]:
    """The one task, ready for a process that can open no file any more: what Python loads on first use is loaded."""
    for module in ("jinja2.constants", "jinja2.debug", "pprint"):
        import_module(module)
    datetime.now().astimezone()
    environment().from_string("{{ '\\n\\u00e9' | tojson }}{{ strftime_now('%d %B %Y') }}").render()
    return {"write": lambda asked, _tell: assistant_parts(asked)}


class _RaisedError(Exception):
    """The template called raise_exception."""


class _Generation(Extension):
    """`{% generation %}` marks what a model wrote, for training; here it is only its content."""

    tags = {"generation"}  # noqa: RUF012 - as in the class it belongs to

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def environment() -> ImmutableSandboxedEnvironment:
    """Return what templates are written for."""
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, LoopControlExtension], autoescape=False
    )
    env.filters["tojson"] = _tojson
    env.globals |= {"raise_exception": _refuse, "strftime_now": _now}
    return env


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _refuse(message: object) -> NoReturn:
    raise _RaisedError(str(message))


def _now(form: str) -> str:
    return datetime.now().strftime(form)


def assistant_parts(asked: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The assistant's part of the conversation, for both spellings of the arguments; or the problem, in words."""
    try:
        template = environment().from_string(asked["template"])
    except (TemplateError, RecursionError, MemoryError) as error:
        return {spelling: {"problem": _problem(error)} for spelling in SPELLINGS}
    return {spelling: _attempt(template, asked, spelling == "object") for spelling in SPELLINGS}


def _attempt(template: Template, asked: Mapping[str, Any], as_object: bool) -> dict[str, str]:
    """A message without content has null, as servers pass it on; where the template writes no call then, ''."""
    name, found = asked["calls"][0]["name"], dict[str, str]()
    for content in (None, ""):
        try:
            text = _assistant_part(_renders(template, asked), _calls(asked["calls"], as_object), content, asked["ends"])
        except Exception as error:  # a template can fail with anything
            found = found or {"problem": _problem(error)}
            continue
        if len(text) > MOST_TEXT:
            return {"problem": "the template writes too much text."}
        if name in text:
            return {"text": text}
        found = found or {"text": text}
    return found


def _renders(template: Template, asked: Mapping[str, Any]) -> Render:
    given = {**asked["tokens"], **asked["kwargs"], "tools": asked["tools"] or None, "documents": None}
    return lambda messages, prompt: template.render(**{**given, "messages": messages, "add_generation_prompt": prompt})


def _calls(calls: Sequence[Mapping[str, str]], as_object: bool) -> list[dict[str, Any]]:
    """Ids have nine letters and digits: Mistral's templates take no others."""
    return [
        {
            "id": f"call{index:05}",
            "type": "function",
            "function": {
                "name": call["name"],
                "arguments": json.loads(call["arguments"]) if as_object else call["arguments"],
            },
        }
        for index, call in enumerate(calls)
    ]


def _assistant_part(render: Render, calls: list[dict[str, Any]], content: str | None, ends: Sequence[str]) -> str:
    """Return what the template writes for the assistant's turn, without the header and without what ends the turn."""
    asked = {"role": "user", "content": QUESTION}
    turn = {"role": "assistant", "content": content, "tool_calls": calls}
    told = [
        {"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"], "content": RESULT}
        for call in calls
    ]
    alone, followed, reason = _both(render, [asked, turn], told)
    whole = followed or alone
    if whole is None:
        raise reason
    start = _start(render, asked, whole)
    at = len(whole) if followed is None else _end(alone, followed, start, ends)
    return _without_end(whole[start:at], ends)


def _both(render: Render, messages: list[Message], told: list[Message]) -> tuple[str | None, str | None, Exception]:
    """The conversation up to the calls, and with the tools' answers. A template may refuse one of them."""
    reason: Exception = _RaisedError("")
    texts: list[str | None] = []
    for more in ([], told):
        try:
            texts.append(render([*messages, *more], False))
        except Exception as error:
            texts.append(None)
            reason = error
    return texts[0], texts[1], reason


def _start(render: Render, asked: Message, whole: str) -> int:
    for headers in _headers(render, asked):
        if whole.startswith(headers):
            return len(headers)
    plain = _tried(lambda: render([asked, {"role": "assistant", "content": ANSWER}], False))
    start = _shared(whole, plain)
    for opener, closer in ("<>", "[]"):  # two markers that begin alike: the header ends before both
        if whole.rfind(opener, 0, start) > whole.rfind(closer, 0, start):
            start = whole.rfind(opener, 0, start)
    return max(start, whole.find(QUESTION) + len(QUESTION) if QUESTION in whole else 0)


def _headers(render: Render, asked: Message) -> Iterator[str]:
    prompt = _tried(lambda: render([asked], True))
    if prompt and prompt != _tried(lambda: render([asked], False)):
        yield prompt


def _shared(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _tried(render: Callable[[], str]) -> str:
    try:
        return render()
    except Exception:
        return ""


def _end(alone: str | None, followed: str, start: int, ends: Sequence[str]) -> int:
    """Return where the turn ends: at the last end of a turn before the tools' answers, where one is known. Else where
    the conversation without these answers ends, or where they begin."""
    said = followed.find(RESULT, start)
    said = len(followed) if said < 0 else said
    found = max([followed.rfind(end, start, said) for end in ends], default=-1)
    if found >= 0:
        return found
    whole = alone is not None and followed.startswith(alone.rstrip())
    return len(alone) if alone is not None and whole else said


def _without_end(text: str, ends: Sequence[str]) -> str:
    bare = text.rstrip()
    end = next((end for end in sorted(ends, key=len, reverse=True) if end and bare.endswith(end)), "")
    return bare.removesuffix(end) if end else text


def _problem(error: BaseException) -> str:
    """One sentence for whatever a template can fail with."""
    words = " ".join(str(error).split())[:MOST_WORDS].rstrip(".")
    if isinstance(error, _RaisedError):
        return f"the template refuses such a conversation ({words})."
    if isinstance(error, TemplateSyntaxError):
        return f"the template has a syntax error in line {error.lineno} ({words})."
    if isinstance(error, SecurityError):
        return f"the template does what the sandbox forbids ({words})."
    if isinstance(error, MemoryError):
        return f"the template needs more than {MEMORY // 1_000_000} megabytes of memory."
    if isinstance(error, OverflowError) and "range" in words.lower():
        return f"the template does what the sandbox forbids ({words})."
    return f"the template fails with {type(error).__name__}" + (f" ({words})." if words else ".")
