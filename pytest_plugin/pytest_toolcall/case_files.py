"""Case files on disk: the cases in a file, what they are called as tests, and where smaller ones are written.

The text of each case is passed on as it stands, so that the inspector, which reads strictly, judges it. Of a corpus
only the names are read here, as strictly: of two cases of one name a reader that knows no better keeps the second.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

CASE, CORPUS, SMALL = ".case.json", ".cases.json", ".min.case.json"
MOST_BYTES = 50_000_000
MOST_OF_NAME = 200  # bytes of the name of a case in that of a file, which has 255 with what stands around it
NO_NAME = "(no name)"
NO_CORPUS = "a corpus is a JSON object of cases by name"
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


class CorpusError(ValueError):
    """A corpus that is none. One sentence."""


def corpus_texts(text: str) -> dict[str, str]:
    """The JSON text of each case of a corpus, by name. Raises CorpusError, also for a name that is given twice."""
    found: dict[str, tuple[int, int]] = {}
    for name, at, end in _members(text):
        if name in found:
            first, second = _place(text, found[name][0]), _place(text, at)
            called = visible(json.dumps(name, ensure_ascii=False))
            raise CorpusError(f"two cases are called {called}: at {first} and at {second}")
        found[name] = at, end
    return {name: text[at:end] for name, (at, end) in found.items()}


def item_names(names: Iterable[str]) -> dict[str, str]:
    """What the tests of cases are called, by the names of these: each on one line, and no two alike. pytest parts what
    it is asked for at two colons. A name that is spelled otherwise, and then as another one is, has digits of its
    own."""
    spelled = {name: one_line(name) or NO_NAME for name in names}
    many = Counter(spelled.values())
    return {
        name: shown if name == shown or many[shown] == 1 else f"{shown}-{_digits(name)}"
        for name, shown in spelled.items()
    }


def one_line(name: str) -> str:
    """A name without line ends, and without two colons beside each other."""
    return re.sub("::+", ":", visible(name))


def visible(text: str) -> str:
    """A text with whatever cannot be seen, or be printed, spelled as Python does."""
    return "".join([one if one.isprintable() else repr(one)[1:-1] for one in text])


def small_name(file: str, in_corpus: str | None = None) -> str:
    """What the file of the smaller form of a case is called, by the name of its own and, of a corpus, by that of the
    case after a plus, which no name has otherwise. A name that a file is not given, or too long for one, has a few
    digits of its own, so that two of them do not share one."""
    ending = CASE if in_corpus is None else CORPUS
    is_usual = file.endswith(ending)
    names = [file[: -len(ending)] if is_usual else file, *([] if in_corpus is None else [in_corpus])]
    plain = [_plain(name, MOST_OF_NAME // len(names)) for name in names]
    if is_usual and plain == names and all(names):
        return f"{'+'.join(plain)}{SMALL}"
    return f"{'+'.join(plain)}-{_digits('::'.join([file, *names[1:]]))}{SMALL}"


def _plain(name: str, most: int) -> str:
    """As much of a name as fits into so many bytes, of signs that every system has in the names of files."""
    return re.sub(r"[^\w.-]+", "_", name).encode()[:most].decode("utf-8", "ignore")


def read_text(path: Path) -> str:
    """The text of a case file. Raises CollectError where it has none."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise pytest.Collector.CollectError(f"{path}: it has more than {MOST_BYTES:,} bytes")
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise pytest.Collector.CollectError(f"{path}: it cannot be read: {error}") from error


class Kept(NamedTuple):
    """Whether a smaller case was written, and what is said of that."""

    is_written: bool
    words: str


def kept(path: Path, text: str, headline: str, root: Path) -> Kept:
    """Write a smaller case, whole or not at all, whoever else writes it; says so, or why not and what is in it."""
    new, shown = path.with_name(f".{path.name}.{os.getpid()}"), os.path.relpath(path, root)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(text, "utf-8")
        new.replace(path)
    except OSError as error:
        with suppress(OSError):
            new.unlink()
        why = f"{shown} cannot be written ({error.strerror or error}), so here it is"
        return Kept(False, f"{why}: {headline}\n{text.rstrip()}")
    return Kept(True, f"wrote {shown}: {headline}")


def _members(text: str) -> Iterator[tuple[str, int, int]]:
    """The name of each case, and where its text starts and ends. Raises CorpusError."""
    at = _after(text, 0)
    if not text.startswith("{", at):
        raise CorpusError(NO_CORPUS)
    try:
        at = _after(text, at, "{")
        more = not text.startswith("}", at)
        while more:
            name, at = _DECODER.raw_decode(text, at) if text.startswith('"', at) else _expecting("a name", text, at)
            start = _after(text, _after(text, at), ":")
            case, end = _DECODER.raw_decode(text, start)
            if not isinstance(case, dict):
                raise CorpusError(NO_CORPUS)
            yield name, start, end
            at = _after(text, end)
            more = text.startswith(",", at)
            at = _after(text, at, ",") if more else at
        at = _after(text, at, "}")
        if at < len(text):
            _expecting("the end", text, at)
    except CorpusError:
        raise
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"it is no JSON: {error}") from error


def _after(text: str, at: int, sign: str = "") -> int:
    """The offset behind a sign, which must stand there, and white space."""
    if not text.startswith(sign, at):
        _expecting(repr(sign), text, at)
    found = _SPACE.match(text, at + len(sign))
    return found.end() if found else at


def _expecting(what: str, text: str, at: int) -> Any:
    raise json.JSONDecodeError(f"Expecting {what}", text, at)


def _place(text: str, at: int) -> str:
    return f"line {1 + text.count(chr(10), 0, at)}, column {at - text.rfind(chr(10), 0, at)}"


def _digits(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]
