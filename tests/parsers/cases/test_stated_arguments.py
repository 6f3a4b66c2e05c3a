"""Whether a text may become arguments that a case states as a value."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.cases.stated_arguments import may_become

VALUE: dict[str, Any] = {
    "city": "Zü\n𝄞rich",
    "days": 12,
    "at": [1.5, {"x": None}, "a"],
    "no": [],
    "on": True,
    "e": {},
    r"\u12": r"\ud834",
}
TEXTS = [
    json.dumps(VALUE),
    json.dumps(VALUE, ensure_ascii=False, indent=2),
    json.dumps(dict(reversed(VALUE.items())), separators=(",", ":")),
    ' {"days" : 12.0 , "on":true,"e":{ },"\\\\u12":"\\u005cud834","no":[ ],'
    '"at":[1.50,{"x":null},"\\u0061"],"city":"Z\\u00fc\\n\\ud834\\udd1erich"} ',
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_every_beginning_of_a_text_of_the_value_may_become_it(text: str) -> None:
    assert all(may_become(text[:end], VALUE) for end in range(len(text) + 1))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("more", ["{", ",", "}", "x"])
def test_nothing_but_white_space_may_follow(text: str, more: str) -> None:
    assert not may_become(text + more, VALUE)


@pytest.mark.parametrize(
    "texts",
    [
        ("[", "x", "{1", '{"city" "', '{"days": 12}'),
        ('{"town', '{"e": {"a', '{"on": true, "on"'),
        ('{"city": "Be', '{"city": "Bern"', '{"city": 7', '{"city": "Z\\u00fd', '{"city": "Z\\q', '{"city": "Z\n'),
        ('{"days": "', '{"days": 13', '{"days": 2', '{"days": 12.5,', '{"days": 1,', '{"days": nope,', '{"days": ,'),
        ('{"on": t}', '{"on": f', '{"on": 1'),
        ('{"at": [1.5]', '{"at": [1.5, null', '{"at": [1.5, {"x": 0', '{"no": [1'),
    ],
    ids=["whole", "keys", "strings", "numbers", "words", "items"],
)
def test_what_has_another_value_may_not(texts: tuple[str, ...]) -> None:
    assert may_become("", VALUE)
    assert [text for text in texts if may_become(text, VALUE)] == []
