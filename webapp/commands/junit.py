"""What `check` found as JUnit XML, in the form that GitHub's, GitLab's and Jenkins' readers agree on.

A suite is a file, a test is a case by one engine. What fails as before is skipped and says so: nobody's build is red
for it. XML cannot hold most control characters, nor halves of characters: they are spelled out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree as Xml

from webapp.cli import PROGRAM
from webapp.commands.baselines import in_words
from webapp.commands.case_outcomes import CaseResult

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ENDS = {"FAIL": "failure", "unusable": "error", "skip": "skipped", "as before": "skipped", "known bug": "skipped"}
_COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def junit(results: Sequence[CaseResult], tested: str = "") -> str:
    """The whole document. `tested`: who was tested, where that is not whom the cases name."""
    root = Xml.Element("testsuites", {"name": f"{PROGRAM} check", **_numbers(results)})
    for file, found in groupby(results, key=lambda result: result.file):
        ofit = list(found)
        suite = Xml.SubElement(root, "testsuite", {"name": plain(file), **_numbers(ofit)})
        if tested:
            properties = Xml.SubElement(suite, "properties")
            Xml.SubElement(properties, "property", {"name": "tested", "value": plain(tested)})
        for result in ofit:
            _test(suite, result)
    Xml.indent(root, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, "unicode")}\n'


def plain(text: str) -> str:
    """The text with what XML cannot hold spelled out as in JSON."""
    return _NOT_IN_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _numbers(results: Sequence[CaseResult]) -> dict[str, str]:
    ends = Counter(_ENDS.get(result.outcome) for result in results)
    numbers = {key: str(ends[end]) for end, key in _COUNTED.items()}
    return {"tests": str(len(results)), **numbers, "time": _time(sum([result.seconds for result in results]))}


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"


def _test(suite: Xml.Element, result: CaseResult) -> None:
    name = result.called.removeprefix(f"{result.file}::")
    said = {"classname": plain(result.file), "name": plain(name), "time": _time(result.seconds)}
    test = Xml.SubElement(suite, "testcase", {**said, "file": plain(result.file)})
    end = _ENDS.get(result.outcome)
    if end is not None:
        Xml.SubElement(test, end, {"message": plain(_message(result))}).text = plain(_text(result)) or None
    elif text := _text(result):
        Xml.SubElement(test, "system-out").text = plain(text)


def _message(result: CaseResult) -> str:
    wrong = in_words(result.worse or result.wrong)
    return {
        "FAIL": wrong,
        "as before": f"fails as before: {wrong}",
        "known bug": f"known bug: {wrong}",
    }.get(result.outcome, result.why)


def _text(result: CaseResult) -> str:
    passes = {"fixed": "known_bug is its verdict, and it passes", "ok": "it was wrong before" if result.better else ""}
    said = [passes.get(result.outcome, ""), f"uploaded to {result.link}" if result.link else ""]
    return "\n".join([*result.details, *[line for line in said if line]])
