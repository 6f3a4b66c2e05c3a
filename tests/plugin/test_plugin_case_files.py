"""The cases in a file as the plugin reads it: names that are given twice, and what tests are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.cases.case import CaseError
from parsers.cases.corpus import case_texts
from pytest_toolcall.case_files import CorpusError, corpus_texts, item_names, kept, small_name

SPELLED = ("a\\nb", "x:y", "(no name)", "p[1] q", "\u00fc")
NAMES = (*SPELLED, "a\nb", "x::y", "x:::y", "::", "", "\x1b[31m", "\u2028", "\ud800")


@pytest.mark.parametrize(
    "text",
    [
        '{\n"same": {"a": 1},\n  "same": {"b": 2}\n}\n',
        '{"a": {}, "b": {}, "\\u0061": {}}',
        '{"a\\n": {},\n\n"a\\n": {}, "a\\n": {}}',
        '{"one": {"x": {"same": {}}},\r\n"same": {}, "same": {}}',
    ],
)
def test_a_name_that_is_given_twice_is_told_with_both_places_as_check_tells_it(text: str) -> None:
    with pytest.raises(CaseError) as told:
        case_texts(text)
    with pytest.raises(CorpusError) as found:
        corpus_texts(text)
    assert str(found.value) == told.value.message


@pytest.mark.parametrize("text", ["{}", ' { "a" : {"b": [1, "}"]} , "c":{"b": {}, "b": {}} }\n', '{"a":{"x":NaN}}'])
def test_the_text_of_each_case_is_passed_on_as_it_stands(text: str) -> None:
    found = corpus_texts(text)
    assert [one in text for one in found.values()] == [True] * len(found)
    assert "".join(found.values()).count("{") == text.count("{") - 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "a corpus is a JSON object"),
        ("[1]", "a corpus is a JSON object"),
        ('{"a": 7}', "a corpus is a JSON object"),
        ("{", "it is no JSON: Expecting a name: line 1 column 2"),
        ('{"a" {}}', "it is no JSON: Expecting ':': line 1 column 6"),
        ('{"a": {"b" 1}}', "it is no JSON: Expecting ':' delimiter: line 1 column 12"),
        ('{"a": {}', "it is no JSON: Expecting '}': line 1 column 9"),
        ('{"a": {},}', "it is no JSON: Expecting a name"),
        ('{"a": {}} {}', "it is no JSON: Expecting the end: line 1 column 11"),
        (f'{{"a": {"[" * 100_000}', "it is no JSON"),
    ],
)
def test_what_is_no_corpus_is_told_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(CorpusError) as error:
        corpus_texts(text)
    assert words in str(error.value)


def test_each_test_has_a_name_of_one_line_that_no_other_one_has() -> None:
    found = item_names(NAMES)
    assert len({*found.values()}) == len(NAMES)
    assert all(name.isprintable() and name and "::" not in name for name in found.values())
    assert tuple([found[name] for name in SPELLED]) == SPELLED
    assert (found["\x1b[31m"], found["\u2028"]) == ("\\x1b[31m", "\\u2028")
    assert item_names(reversed(NAMES)) == found, "the order does not matter"


def test_no_two_cases_share_the_file_of_their_smaller_form() -> None:
    names = ["a b", "a/b", "a_b", "a:b", "a+b", "\u00fc", "", "n" * 240, "n" * 241, "\u00fc" * 110]
    files = [*[f"{name}.case.json" for name in names], "a_b.json", "a_b.case.json.json"]
    corpora = [
        (file, name) for file in ("a.cases.json", "a.b.cases.json", "a b.cases.json") for name in (*names, "b.c")
    ]
    corpora += [("a.b.cases.json", "c"), ("a.cases.json", "b.c"), ("n" * 240 + ".cases.json", "n" * 300)]
    found = {(file,): small_name(file) for file in files} | {pair: small_name(*pair) for pair in corpora}
    assert len({*found.values()}) == len(found)
    assert found["a_b.case.json",] == "a_b.min.case.json"
    assert found["\u00fc.case.json",] == "\u00fc.min.case.json"
    assert found["a.cases.json", "a_b"] == "a+a_b.min.case.json"
    assert not any(set(name) & set(" /:") for name in found.values())
    assert max(len(name.encode()) for name in found.values()) < 240


def test_a_smaller_case_that_cannot_be_written_is_in_the_words(tmp_path: Path) -> None:
    (tmp_path / "a.min.case.json").mkdir()
    words = kept(tmp_path / "a.min.case.json", "{}\n", "Lost.", tmp_path).words
    assert words.startswith("a.min.case.json cannot be written (")
    assert words.endswith("), so here it is: Lost.\n{}")
    (tmp_path / "file").write_text("", "utf-8")
    assert "so here it is" in kept(tmp_path / "file" / "b.min.case.json", "{}", "Lost.", tmp_path).words
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.min.case.json", "file"], "nothing is left over"
