"""Results as JUnit XML, in the form that GitHub's, GitLab's and Jenkins' readers agree on.

Tests that stand beside each other and are of one suite are written as one. XML cannot hold most control characters, nor
halves of characters: they are spelled out, and so is what would turn the words beside it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal
from xml.etree import ElementTree as Xml

from webapp.cli import PROGRAM

_SPELLED = re.compile(
    "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
    "|[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
End = Literal["failure", "error", "skipped"]
_COUNTED: Mapping[End, str] = {"failure": "failures", "error": "errors", "skipped": "skipped"}


@dataclass(slots=True, frozen=True)
class JunitTest:
    """One test: the suite it is of, what it is grouped by in that, and how it ended, None where it passed.

    `seconds` None: nobody says how long it took. `file`: where it is written, "" for nowhere.
    """

    suite: str
    group: str
    name: str
    end: End | None = None
    message: str = ""
    text: str = ""
    seconds: float | None = None
    file: str = ""


def junit_text(command: str, tests: Sequence[JunitTest], properties: Mapping[str, str] | None = None) -> str:
    """The whole document of a command. Every suite has the `properties`."""
    root = Xml.Element("testsuites", {"name": f"{PROGRAM} {command}", **_numbers(tests)})
    for name, found in groupby(tests, key=lambda test: test.suite):
        ofit = list(found)
        suite = Xml.SubElement(root, "testsuite", {"name": plain(name), **_numbers(ofit)})
        if properties:
            told = Xml.SubElement(suite, "properties")
            for key, value in properties.items():
                Xml.SubElement(told, "property", {"name": key, "value": plain(value)})
        for test in ofit:
            _test(suite, test)
    Xml.indent(root, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, "unicode")}\n'


def plain(text: str) -> str:
    """The text with what XML cannot hold, or a reader of it would not see or obey, spelled out as in JSON."""
    return _SPELLED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _numbers(tests: Sequence[JunitTest]) -> dict[str, str]:
    ends = Counter([test.end for test in tests])
    numbers = {key: str(ends[end]) for end, key in _COUNTED.items()}
    times = [test.seconds for test in tests if test.seconds is not None]
    timed = len(times) == len(tests)
    return {"tests": str(len(tests)), **numbers, **({"time": _time(sum(times))} if timed else {})}


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"


def _test(suite: Xml.Element, test: JunitTest) -> None:
    said = {"classname": plain(test.group), "name": plain(test.name)}
    said |= {} if test.seconds is None else {"time": _time(test.seconds)}
    said |= {"file": plain(test.file)} if test.file else {}
    element = Xml.SubElement(suite, "testcase", said)
    if test.end is not None:
        Xml.SubElement(element, test.end, {"message": plain(test.message)}).text = plain(test.text) or None
    elif test.text:
        Xml.SubElement(element, "system-out").text = plain(test.text)
