"""What happens to a recording on its way into the page: each kind of damage as a function of the text or of its bytes.

`OFFERED` are those that a model may have written: they never come off by themselves, a recording under them is offered.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
import zlib
from collections.abc import Callable
from urllib.parse import quote

from parsers.intake.packing import zstd

Damage = Callable[[str], str]


def _before(prefix: Callable[[int], str]) -> Damage:
    """Put something before every line, by the number of the line."""
    return lambda text: "\n".join([prefix(at) + line for at, line in enumerate(text.split("\n"), 1)])


def _second(at: int) -> str:
    return f"{at % 60:02d}"


def _packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _wrapped(text: str) -> str:
    return "\n".join([line[at : at + 80] for line in text.split("\n") for at in range(0, max(len(line), 1), 80)])


PREFIXES: dict[str, Damage] = {
    "time, ISO": _before(lambda at: f"2025-11-28T10:00:{_second(at)}.123Z "),
    "time, Python": _before(lambda at: f"2025-11-28 10:00:{_second(at)},123 "),
    "time of day": _before(lambda at: f"[10:00:{_second(at)}] "),
    "time and level": _before(lambda at: f"2025-11-28 10:00:{_second(at)},123 - client - DEBUG - "),
    "level": _before(lambda _: "DEBUG:client:"),
    "level alone": _before(lambda _: "INFO     "),
    "vLLM": _before(lambda at: f"(APIServer pid=1) INFO 11-28 10:00:{_second(at)} [logger.py:39] "),
    "loguru": _before(
        lambda at: f"2025-11-28 10:00:{_second(at)}.5 | {'INFO' if at % 2 else 'DEBUG'}".ljust(34) + "| a.b:go:4 - "
    ),
    "tracing": _before(lambda at: f"2025-11-28T10:00:{_second(at)}.123Z DEBUG router::http: "),
    "actions": _before(lambda at: f"2025-11-28T10:00:{_second(at)}.1234567Z ##[debug]"),
    "another": _before(lambda at: f"<{at}> worker-7/3 [out] "),
    "compose": _before(lambda _: "vllm-1  | "),
    "kubectl": _before(lambda _: "[pod/vllm-7f9c/vllm] "),
    "CRI": _before(lambda at: f"2025-11-28T10:00:{_second(at)}.123456789Z stdout F "),
    "journal": _before(lambda at: f"Nov 28 10:00:{_second(at)} host vllm[123]: "),
    "cat -n": _before(lambda at: f"{at:6d}\t"),
    "numbers": _before(lambda at: f"{at:4d} | "),
    "grep -n": _before(lambda at: f"{at}:"),
    "grep -Hn": _before(lambda at: f"logs/out.log:{at}:"),
    "quote": _before(lambda _: "> "),
    "quote in a quote": _before(lambda _: "> > "),
    "diff": _before(lambda _: "+"),
    "comment": _before(lambda _: "# "),
    "comment, two strokes": _before(lambda _: "// "),
    "prompt": _before(lambda _: ">>> "),
    "quote of times": _before(lambda at: f"> 2025-11-28T10:00:{_second(at)}.123Z "),
}
WHOLE: dict[str, Damage] = {
    "colours, lines": lambda text: "\n".join([f"\x1b[32m{line}\x1b[0m" for line in text.split("\n")]),
    "colours, words": lambda text: re.sub(r"\b(\w+)\b(?=['\"]?:)", "\x1b[1;34m\\1\x1b[0m", text),
    "colours, names": _before(lambda _: "\x1b[36mvllm-1  |\x1b[0m "),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "indented": _before(lambda _: "    "),
    "blanks at the end": lambda text: text.replace("\n", "   \n"),
    "double lines": lambda text: text.replace("\n", "\n\n"),
    "fence": lambda text: f"```json\n{text}\n```",
    "HTML": html.escape,
    "HTML, pre": lambda text: f"<pre>{html.escape(text)}</pre>",
    "HTML of a quote": lambda text: "\n".join([f"&gt; {html.escape(line)}" for line in text.split("\n")]),
    "percent": quote,
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64, lines": lambda text: base64.encodebytes(text.encode()).decode(),
    "base64, URL": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "base64, data URL": lambda text: "data:text/plain;base64," + base64.b64encode(text.encode()).decode(),
    "base64 of gzip": _packed,
    "JSON string": json.dumps,
    "JSON string twice": lambda text: json.dumps(json.dumps(text)),
    "under a key": lambda text: json.dumps({"log": text}),
    "repr": repr,
    "repr of bytes": lambda text: repr(text.encode()),
    "repr, assigned": lambda text: f"out = {text!r}",
    "escapes": lambda text: json.dumps(text)[1:-1],
    "Markdown": lambda text: text.replace("_", "\\_"),
    "label": lambda text: f"Response: {text}",
}
OFFERED: dict[str, Damage] = {
    "typographic quotes": lambda text: re.sub(r"'([^'\n]*)'", "‘\\1’", re.sub(r'"([^"\n]*)"', "“\\1”", text)),
    "no-break blanks": lambda text: text.replace(" ", "\u00a0"),
    "no width": lambda text: text.replace(", ", ",\u200b "),
    "wrapped": _wrapped,
}
BYTES: dict[str, Callable[[str], bytes]] = {
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16, big": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "UTF-16, no mark": lambda text: text.encode("utf-16-le"),
    "UTF-32": lambda text: text.encode("utf-32"),
    "UTF-8 with a mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "gzip": lambda text: gzip.compress(text.encode(), mtime=0),
    "zlib": lambda text: zlib.compress(text.encode()),
    "zstd": lambda text: zstd.compress(text.encode()),
}
