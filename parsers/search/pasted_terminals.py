"""What a terminal or a proxy shows of commands and requests that failed, and what people copy beside: bytes, mails.

Each is told by words that only that program prints, so that an answer about it is none of these.
"""

from __future__ import annotations

import re

from parsers.search.pasted_kinds import Given, Pasted, Shape, always, having, never

_CURL = re.compile(r"\A\s*\* {1,3}(?:Trying|Host|connect|Could not resolve|Rebuilt URL|Uses proxy)\b")
_CURL_ENDS = re.compile(r"^curl: \(\d{1,3}\) ", re.MULTILINE)
_CURL_TALKS = re.compile(r"[*<>{}](?:\s|\Z)")
_CURL_ANSWERED = re.compile(r"^< HTTP/\d", re.MULTILINE)
_PIP = re.compile(r"\A\s*ERROR: .{0,400}\b(?:requirement|distribution|wheel)", re.DOTALL)
_PIP_LINE = re.compile(r"(?:ERROR|WARNING|error|note|hint): |\s")
_CLIENT = re.compile(
    r"\A\s*(?:(?:psql|createdb|pg_dump|pg_restore): error: |ssh: connect to host "
    r"|(?:ERROR \d{4} \(\w{5}\)(?: at line \d+)?: )"
    r"|Could not connect to Redis at )"
)
_PARSED = re.compile(r"\A\s*(?:[\w.]{1,80}\.)?OutputParserException: ")
_TRACKED = re.compile(r"wandb: ")
_LOAD = re.compile(r"\A\s*Type\s{1,40}Name\s{1,80}# reqs\s.{0,200}\bfailures/s\b")
_COMMENT = re.compile(r":[\w -]{0,60}\Z")
_BYTES = re.compile(r"[0-9a-fA-F]{6,16}:?\s{1,3}(?:[0-9a-fA-F]{2,4}\s{1,2}){2,32}")
_LAST_PLACE = re.compile(r"[0-9a-fA-F]{6,16}\s*\Z")
_SPEAKER = re.compile(r"\s*\[\d{1,2}:\d\d(?::\d\d)?(?: [AaPp][Mm])?\] <?@?[\w.-]{1,40}(?: [\w.-]{1,40})?>?: ")
_JINJA = re.compile(r"\A\s*\{%-?\s{1,4}(?:if|for|set|macro)\b")
_JINJA_TOOLS = re.compile(r"\{%-?\s{1,4}(?:for \w{1,40} in tools|if tools)\b")
_MAIL = re.compile(r"\A\s*(?:From|To|Cc|Date|Subject): ")
_REPLY = re.compile(r"^(?:On|Am|Le) .{5,120}(?:wrote|schrieb.{0,60}|écrit) ?:\s*\n\s*>", re.MULTILINE)
_PROXY = re.compile(
    r"\A\s*(?:upstream connect error or disconnect/reset before headers|no healthy upstream"
    r"|upstream request timeout|stream timeout|404 page not found|default backend - 404"
    r"|(?:502 )?Bad Gateway\s*\Z|(?:503 )?Service Unavailable\s*\Z|Internal Server Error\s*\Z|Gateway Time-?out\s*\Z)"
)
_SYSLOG = re.compile(r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,60} [\w./@-]{1,60}(?:\[\d{1,8}\])?: ")
_TYPED = re.compile(r"^(?:\S{1,60}[@:]\S{0,80})?[$#] [a-z][\w./-]{0,40}(?: |$)", re.MULTILINE)
_PROMPTED = re.compile(r"\A\s*(?:\S{1,60}[@:]\S{0,80})?[$#] (?:sudo )?[a-z][\w./-]{0,40}(?: -|\b.*[|/=:])")
_NGINX = re.compile(r"\s*(?:[a-z_]{2,40}(?: [^\n{};]{1,200})?(?:;| \{)|\})\s*\Z")
_NGINX_BLOCK = re.compile(
    r"^[ \t]{0,40}(?:server|upstream|location|http|events|map)\b[^\n;]{0,120}\{[ \t]{0,8}$", re.MULTILINE
)
_RULE = re.compile(r"^[\w./%-]{1,60}(?: [\w./%-]{1,60})*:(?: |$).*\n\t\S", re.MULTILINE)
_MADE = re.compile(r"\$\(\w|\$[@<^]|^\.PHONY:", re.MULTILINE)
_RULES = re.compile(r"(?:[\w./%$() -]{1,80}::?(?: .*)?|\t.*|\.[A-Z]+:.*|[\w]{1,40} ?[:?+]?= ?.*|#.*)\Z")
_SPEAKERS = 2  # fewer lines are a note with its time


def _is_curl_talk(given: Given) -> bool:
    """Return whether it is what curl says of a request and its answer, of which no JSON is left to read."""
    begun = _CURL.match(given.text) is not None and _CURL_ANSWERED.search(given.text) is not None
    return begun and given.are(_CURL_TALKS)


def _is_chat(given: Given) -> bool:
    return len(given.lines) >= _SPEAKERS and given.are(_SPEAKER)


def _is_session(given: Given) -> bool:
    """Return whether it begins with a command behind a prompt, and there is another one."""
    return _PROMPTED.match(given.text) is not None and len(_TYPED.findall(given.text)) > 1


TERMINALS = (
    Shape(Pasted.SERVER_ERROR, having(_PROXY), always),
    Shape(Pasted.LOG, lambda given: given.are(_SYSLOG)),
    Shape(Pasted.LISTING, _is_session),
    Shape(Pasted.OPTIONS, lambda given: _NGINX_BLOCK.search(given.text) is not None and given.are(_NGINX), never),
    Shape(Pasted.SCRIPT, lambda given: having(_RULE, _MADE)(given) and given.are(_RULES)),
    Shape(Pasted.ERROR, having(_CURL, _CURL_ENDS), always),
    Shape(Pasted.LISTING, _is_curl_talk, always),
    Shape(Pasted.ERROR, lambda given: _PIP.match(given.text) is not None and given.are(_PIP_LINE), always),
    Shape(Pasted.ERROR, having(_CLIENT), always),
    Shape(Pasted.ERROR, having(_PARSED), always),
    Shape(Pasted.LOG, lambda given: given.are(_TRACKED), always),
    Shape(Pasted.LISTING, having(_LOAD), always),
    Shape(Pasted.EMPTY_MESSAGE, lambda given: given.are(_COMMENT), always),
    Shape(Pasted.LISTING, lambda given: given.serves and given.are(_BYTES, _LAST_PLACE)),
    Shape(Pasted.MESSAGES, _is_chat),
    Shape(Pasted.MESSAGES, having(_MAIL, _REPLY)),
    Shape(Pasted.TEMPLATE, having(_JINJA, _JINJA_TOOLS)),
)
