"""The request beside a recording: a curl command, or the request's JSON, before or after the log or alone.

What decides how an output is parsed is taken from it (tools, tool_choice, chat_template_kwargs, model, stop strings,
the end of the prompt); everything else, and every header, is left behind. Field names: OpenAI API reference; vLLM's
chat_template_kwargs, include_stop_str_in_output and skip_special_tokens; SGLang's sampling_params; Ollama's options;
TGI's parameters.

A command is read and never run: quoting after POSIX sh 2.2, Bash's `$'...'`, `<<WORD` and `<<<`; options after curl's
manual page. Every step takes at least one character, and an unclosed quote ends the command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from parsers.intake.evidence import Payload, Warn
from parsers.intake.plain_text import whole_characters, without_shell_escapes
from parsers.intake.surroundings import blocks_by_kind, has_secret, is_fence
from parsers.intake.written_values import ids_of, object_of, objects_of, skip_space, value_at, word_of
from parsers.vocabulary.types import Request

TAIL = 400  # characters of the prompt that are kept: about 64 tokens
# Which server an address is that of: by its usual port, or by a path that only it has.
_PORTS = ((":11434", "Ollama"), (":30000", "SGLang"), (":1234/", "LM Studio"))
_PATHS = (
    ("/api/generate", "Ollama"), ("/api/chat", "Ollama"), ("/generate_stream", "TGI"), ("/generate", "SGLang"),
    ("/completion", "llama.cpp"),
)  # fmt: skip
# Somebody who shortens a command before it is pasted leaves the tools.
_BODY_KEYS = frozenset({"messages", "prompt", "input", "text", "inputs", "input_ids", "tools", "functions"})
_NAMES = {
    "tools": "tools", "tool_choice": "tool_choice", "template_kwargs": "chat_template_kwargs", "model": "model",
    "prompt_tail": "the end of the prompt", "stop": "stop", "include_stop": "include_stop_str_in_output",
    "skip_special_tokens": "skip_special_tokens",
}  # fmt: skip
# No request lacks all of them.
_ASKING = re.compile(r'"(?:messages|prompt|input|inputs|sampling_params)"')
_STEP = re.compile(
    r"(?P<space>[ \t]+|[\\^`]\r?\n)"
    r"|(?P<here><<-?[ \t]*(?P<quote>['\"]?)(?P<mark>\w+)(?P=quote))"
    r"|(?P<string><<<)"
    r"|(?P<end>\r?\n|[;|&])"
    r"|(?P<into>\d?>>?&?)"
    r"|\$'(?P<ansi>(?:[^'\\]|\\.)*)'"
    r"|'(?P<single>[^']*)'"
    r'|"(?P<double>(?:[^"\\]|\\.)*)"'
    r"|\\(?P<escaped>.)"
    r"|(?P<open>\$?['\"])"
    r"|(?P<plain>[^ \t\r\n;|&<>'\"\\$]+|.)",
    re.DOTALL,
)
_DOUBLE = re.compile(r'\\([\\"$`\n])')
# No quoted text of a command holds the beginning of an answer: the quote before it was never closed.
_ANSWER = re.compile(r"\n[ \t]*(?:data:|event:|HTTP/|[*<>] )")
# Where a command that lacks a quote ends at the latest: before an empty line, or what an answer begins with.
_GIVEN_UP = re.compile(r"\n(?=[ \t]*\r?\n|[ \t]*(?:data:|event:|HTTP/|[*<>] |\{|\[))")

# At the beginning of a line, or after a shell's prompt.
_START = re.compile(
    r"^(?:[^\n'\"{]{0,80}?[$%#>\u276f][ \t]+|[ \t]*)(?:time[ \t]+)?curl(?:\.exe)?(?=[ \t\\^])",
    re.MULTILINE,
)
_MOST = 20  # commands in one paste; more are text
_DATA = frozenset({"-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json"})
_SECRETS = frozenset({"-u", "--user", "--oauth2-bearer", "--proxy-user", "-U"})
_SHORT = "dHXuUomAbceExFwTKrYyzCDt"
_VALUED = frozenset({
    "--header", "--request", "--output", "--max-time", "--user-agent", "--cookie", "--cookie-jar", "--referer",
    "--proxy", "--form", "--write-out", "--cacert", "--cert", "--key", "--connect-timeout", "--retry", "--resolve",
    "--connect-to", "--unix-socket", "--config", "--range", "--limit-rate", "--interface", "--dump-header", "--url",
}) | _DATA | _SECRETS  # fmt: skip


@dataclass(slots=True)
class RequestBeside:
    """The body without the request, and what the request said. `leading`: nothing stood before it."""

    body: str
    found: bool = False
    leading: bool = False
    request: Request | None = None
    prompt_ids: tuple[int, ...] | None = None
    server: str | None = None
    secret: bool = False
    why: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[Warn, ...] = ()


def take_request(body: str) -> RequestBeside:
    """Take the request out of the body, if there is one; its lines are blanked."""
    asked = RequestBeside(body)
    for curl in curl_commands(body):
        _take_curl(asked, curl)
    for start, end, value in [] if asked.found else islice(_json_requests(body), 1):
        asked.leading = _is_first(body, start)
        _take(asked, value, "a JSON request")
        _blank(asked, start, end)
    return asked


def _json_requests(body: str) -> Iterator[tuple[int, int, Payload]]:
    """Yield requests with their offsets: first in the body, last in it, in a code block or in prose."""
    yield from _request_at(body, skip_space(body, 0))
    last = body.rfind("\n{") + 1
    yield from [one for one in (_request_at(body, last) if last else ()) if not body[one[1] :].strip()]
    for block in chain.from_iterable(blocks_by_kind(body)) if _ASKING.search(body) else ():
        yield from _request_at(body, skip_space(body, block.start))


def _request_at(body: str, start: int) -> list[tuple[int, int, Payload]]:
    found = value_at(body, start) if body.startswith("{", start) else None
    return [(start, found[1], found[0])] if found is not None and is_request(found[0]) else []


def _take_curl(asked: RequestBeside, curl: _Curl) -> None:
    bodies = [(value_at(data, skip_space(data, 0)) or (None, 0))[0] for data in curl.data]
    objects = [body for body in bodies if isinstance(body, dict)]
    value = next((body for body in objects if not _BODY_KEYS.isdisjoint(body)), None)
    if value is None and "/v1" not in curl.url and _server_at(curl.url) is None:
        return
    asked.leading = asked.leading or _is_first(asked.body, curl.start)
    asked.secret = asked.secret or curl.secret
    asked.server = asked.server or _server_at(curl.url)
    _blank(asked, curl.start, curl.end)
    if value is not None and asked.request is None:
        _take(asked, value, "a curl command")
    elif value is None and not objects and (curl.data or curl.files or curl.unclosed):
        words = "The request of the curl command is no JSON object, so nothing was taken from it."
        if curl.files:
            words = f"The request is in a file ({curl.files[0]}): paste its JSON beside the log."
        elif curl.unclosed:
            words = "The curl command lacks a closing quote, so its request could not be read."
        asked.warnings += (Warn("request_file" if curl.files else "request_unread", words),)
    asked.found = True


def _is_first(body: str, start: int) -> bool:
    """Return whether nothing stands before a request, the fence of its code block aside."""
    return all(not line.strip() or is_fence(line) for line in body[:start].splitlines())


def is_request(value: Payload) -> bool:
    """Return True for what is surely a request: it has a prompt, and something that only requests have."""
    # llama.cpp's answer repeats the request; its `stop` says whether it is the last.
    if "choices" in value or "parser" in value or isinstance(value.get("stop"), bool):
        return False
    messages = value.get("messages")
    if isinstance(messages, list) and all(isinstance(one, dict) and "role" in one for one in messages):
        return "model" in value or len(messages) > 0
    if isinstance(value.get("model"), str) and ("prompt" in value or "input" in value) and "output" not in value:
        return True
    if isinstance(value.get("sampling_params"), dict):
        return "text" in value or "input_ids" in value
    return isinstance(value.get("inputs"), str) and isinstance(value.get("parameters"), dict)


def _take(asked: RequestBeside, value: Payload, words: str) -> None:
    asked.found = True
    asked.request = request_of(whole_characters(value))
    asked.prompt_ids = ids_of(value.get("prompt")) or ids_of(value.get("input_ids"))
    asked.server = asked.server or ("vLLM" if "return_token_ids" in value and "model" in value else None)
    asked.why += (f"With it came {words}.",)
    if taken := ", ".join([words for name, words in _NAMES.items() if getattr(asked.request, name) is not None]):
        asked.notes += (f"Taken from the request: {taken}.",)


def request_of(value: Payload) -> Request:
    """Return all that a request says that matters to a parser."""
    places = ("parameters", "options", "sampling_params")
    said = {key: one for name in places for key, one in object_of(value.get(name)).items()}
    said |= {**value, **object_of(value.get("extra_body"))}
    tools = objects_of(said.get("tools"))
    if tools is None and (functions := objects_of(said.get("functions"))) is not None:
        tools = [{"type": "function", "function": one} for one in functions]
    stop = said.get("stop")
    stops = [stop] if isinstance(stop, str) else stop if isinstance(stop, list) else []
    return Request(
        tools=None if tools is None else tuple(tools),
        tool_choice=said.get("tool_choice"),
        template_kwargs=object_of(said.get("chat_template_kwargs")) or None,
        model=word_of(said.get("model")),
        prompt_tail=_prompt_tail(said),
        stop=tuple(stops) if stops and all(isinstance(one, str) for one in stops) else None,
        include_stop=_flag(said, "include_stop_str_in_output", "no_stop_trim"),
        skip_special_tokens=_flag(said, "skip_special_tokens"),
    )


def merged_request(own: Request | None, asked: Request | None) -> Request | None:
    """Complete what the recording itself says of the request by the request that was given beside it."""
    if own is None or asked is None:
        return own or asked
    return replace(asked, **{name: getattr(own, name) for name in own.__slots__ if getattr(own, name) is not None})


def _prompt_tail(said: Mapping[str, Any]) -> str | None:
    """Return the end of a prompt given as text, or the beginning of the answer where that is to be continued.

    Ollama renders the prompt again unless the request says raw.
    """
    for name in ("prompt", "text", "inputs"):
        prompt = said.get(name)
        if isinstance(prompt, str) and prompt and (said.get("raw") is True or "options" not in said):
            return prompt[-TAIL:]
    messages = said.get("messages")
    last = (
        messages[-1] if said.get("continue_final_message") is True and isinstance(messages, list) and messages else None
    )
    return (word_of(object_of(last).get("content")) or "")[-TAIL:] or None


def _flag(said: Mapping[str, Any], *names: str) -> bool | None:
    return next((said[name] for name in names if isinstance(said.get(name), bool)), None)


def _server_at(url: str) -> str | None:
    table = _PORTS if "/v1/" in url else _PORTS + _PATHS
    return next((server for part, server in table if part in url), None)


def _blank(asked: RequestBeside, start: int, end: int) -> None:
    """Replace the request by blanks of the same length, so that offsets and line numbers stay."""
    gap = re.sub(r"[^\n]", " ", asked.body[start:end])
    asked.body = asked.body[:start] + gap + asked.body[end:]


@dataclass(slots=True)
class _Curl:
    """One command in the text [start, end): its words, its here-document, and what its options say.

    `files` are the bodies that lie in files; `unclosed`: a quote is open at its end.
    """

    start: int
    end: int = 0
    words: list[str] = field(default_factory=list)
    here: str | None = None
    unclosed: bool = False
    url: str = ""
    data: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    secret: bool = False


def curl_commands(text: str) -> Iterator[_Curl]:
    """Yield the curl commands of a text, each at the beginning of a line."""
    at = 0
    for _ in range(_MOST):
        found = _START.search(text, at) if "curl" in text else None
        if found is None:
            return
        curl = _Curl(found.start())
        _read_words(curl, text, found.end())
        curl.secret = has_secret(text[curl.start : curl.end])
        _read_options(curl)
        yield curl
        at = max(curl.end, found.end())


def _read_words(curl: _Curl, text: str, at: int) -> None:
    """Read from `at` on. Redirections are skipped, a pipe or a list ends the command with its line."""
    parts: list[str] = []
    mark = ""
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None or found["open"] or ("\n" in found[0] and _ANSWER.search(found[0])):
            curl.unclosed = True
            given_up = _GIVEN_UP.search(text, at)
            at = given_up.end() if given_up else len(text)
            break
        at = found.end()
        if found["end"] or found["into"]:
            at = _line_end(text, found.start())
            break
        mark = found["mark"] or mark
        if found["space"] or found["string"]:
            curl.words += ["".join(parts)] if parts else []
            curl.words += ["<<<"] if found["string"] else []
            parts = []
        elif not found["here"]:
            parts.append(_word_part(found))
    curl.words += ["".join(parts)] if parts else []
    curl.end = _past_here(curl, text, at, mark) if mark else at


def _word_part(found: re.Match[str]) -> str:
    if found["ansi"] is not None:
        return without_shell_escapes(found["ansi"])
    if found["double"] is not None:
        return _DOUBLE.sub(lambda one: "" if one[1] == "\n" else one[1], found["double"])
    return next(part for part in (found["single"], found["escaped"], found["plain"]) if part is not None)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _past_here(curl: _Curl, text: str, at: int, mark: str) -> int:
    """Read the here-document that starts on the next line, and return the offset after it."""
    if text[at - 1 : at] != "\n":
        at = _line_end(text, at)
    end = re.compile(rf"^[ \t]*{re.escape(mark)}[ \t]*\r?$", re.MULTILINE).search(text, at)
    curl.here = text[at : end.start() if end else len(text)]
    curl.unclosed = curl.unclosed or end is None
    return _line_end(text, end.end()) if end else len(text)


def _read_options(curl: _Curl) -> None:
    words = iter(curl.words)
    for word in words:
        name, value = _option(word)
        if value is None and (name[1] in _SHORT if len(name) == 2 else name in _VALUED):
            value = next(words, None)
        if not name:
            curl.url = curl.url or word
        elif name == "--url":
            curl.url = value or ""
        elif value is not None and name in _DATA:
            if value.startswith("@") and (value != "@-" or curl.here is None):
                curl.files.append(value[1:])
            else:
                curl.data.append(curl.here or "" if value == "@-" else value)
        curl.secret = curl.secret or name in _SECRETS


def _option(word: str) -> tuple[str, str | None]:
    """Return an option's name and its value where they are one word; ("", None) for no option."""
    if not word.startswith("-") or word == "-":
        return "", None
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        return name, value if equals else None
    at = next((at for at, letter in enumerate(word) if at and letter in _SHORT), None)
    return (word[:2], None) if at is None else (f"-{word[at]}", word[at + 1 :] or None)
